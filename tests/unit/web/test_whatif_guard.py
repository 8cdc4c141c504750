"""A scenario from the web names no path, no plug-in, no Python and no address."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from starlette.testclient import TestClient
from tests.unit.web.asking import CAPPED, TINY, asked, error_of

import wattline as wl
from wattline.policies.registry import BUILT_IN, files_of
from wattline.web.whatif.body import WhatIf
from wattline.web.whatif.guard import refuse_unsafe


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with asked() as found:
        yield found


def changed(**sections: Any) -> dict[str, Any]:
    fields = json.loads(json.dumps(CAPPED))
    for section, values in sections.items():
        if isinstance(values, dict):
            fields.setdefault(section, {}).update(values)
        else:
            fields[section] = values
    return fields


UNSAFE: list[tuple[dict[str, Any], str]] = [
    (changed(trace={"file": "/etc/passwd"}), "trace.file"),
    (changed(trace={"file": "../../etc/passwd"}), "trace.file"),
    (changed(trace={"file": "examples/tiny.swf"}), "trace.file"),
    (changed(trace={"file": "bundled:../tiny.swf"}), "trace.file"),
    (changed(trace={"file": "bundled:nosuch.swf"}), "trace.file"),
    (changed(trace={"file": "upload:../../../../etc/passwd"}), "trace.file"),
    (changed(trace={"file": "upload:" + "A" * 32}), "trace.file"),
    (changed(trace={"file": "https://example.org/log.swf"}), "trace.file"),
    (changed(trace={"map": "/etc/passwd"}), "trace.map"),
    (changed(trace={"file": None, "generate": "poisson", "parameters": {"types": "types.csv"}}),
     "trace.parameters.types"),
    (changed(trace={"file": None, "generate": "lublin", "jobs": 10**9}), "trace.jobs"),
    (changed(policy={"python": "os:system"}), "policy.python"),
    (changed(policy={"order": "os:system"}), "policy.order"),
    (changed(policy={"order": {"name": "evil.py:POLICY"}}), "policy.order"),
    (changed(policy={"order": {"name": "energy-share", "store": "sqlite:////tmp/x"}}),
     "policy.order.store"),
    (changed(policy={"order": {"name": "energy-share", "shares": "shares.toml"}}),
     "policy.order.shares"),
    (changed(policy={"power": {"name": "budget", "price": "prices.csv"}}), "policy.power.price"),
    (changed(policy={"configure": {"name": "adaptive", "table": "t.csv"}}),
     "policy.configure.table"),
    (changed(policy={"placement": {"name": "bounded", "views": "views.toml"}}),
     "policy.placement.views"),
    (changed(policy={"placement": {"name": "varied", "file": "nodes.csv"}}),
     "policy.placement.file"),
    (changed(power={"cap": "cap.csv"}), "power.cap"),
    (changed(power={"cap": None, "watch_cap": "/etc/passwd"}), "power.watch_cap"),
    (changed(signals={"price": "prices.csv"}), "signals"),
    (changed(contract={"signal": "signal.csv"}), "contract"),
    (changed(network={"machine": "/etc/passwd"}), "network.machine"),
    (changed(network={"topology": "slurm", "file": "topology.conf"}), "network.file"),
    (changed(network={"topology": "cray"}), "network.topology"),
    (changed(network={"profiles": "profiles.toml"}), "network.profiles"),
]


@pytest.mark.parametrize(("fields", "field"), UNSAFE, ids=lambda each: str(each)[-50:])
def test_it_is_refused_in_one_sentence(
    client: TestClient, fields: dict[str, Any], field: str
) -> None:
    for body in (fields, {**TINY, "baseline": fields}):
        for place in ("/api/whatif", "/api/whatif/scenario", "/api/whatif/notebook",
                      "/api/whatif/share"):
            found = client.post(place, json=body)
            assert found.status_code == 422, (place, found.text)
            assert field in error_of(found)


def test_every_file_that_a_policy_can_read_is_refused() -> None:
    seen = 0
    for whole in BUILT_IN:
        axis, _, name = whole.partition(".")
        for parameter in files_of(axis, name):
            seen += 1
            with pytest.raises(ValueError, match=f"policy.{axis}.{parameter}"):
                refuse_unsafe({"policy": {axis: {"name": name, parameter: "somewhere"}}})
    assert seen >= 10


def test_a_policy_that_is_installed_is_not_even_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    from wattline.policies import registry

    def load(*_: Any) -> Any:
        raise AssertionError("code of a plug-in was loaded")

    monkeypatch.setattr(registry, "load_installed", load)
    monkeypatch.setattr(registry, "load_object", load)
    for name in ("ours", "module:NAME"):
        with pytest.raises(ValidationError, match="none of the package's own"):
            WhatIf.model_validate({**TINY, "policy": {"order": name}})


def test_a_cap_in_text_is_never_looked_for_as_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that happens to be called `70%` would otherwise be read for the cap."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "70%").write_text("0,1\n")
    assert WhatIf.model_validate(CAPPED).power.cap == "70%"
    run = wl.simulate({**CAPPED, "machine": {"nodes": 8}})
    assert float(run.cap_w.value[0]) == round(0.7 * run.machine.power_w_max, 6)
    assert run.scenario["power"]["cap"] == "70%"
    for named in ("cap.csv", "70%/../cap.csv", "7kW/cap"):
        with pytest.raises(ValueError, match="a file cannot be named here"):
            refuse_unsafe({"power": {"cap": named}})


def test_texts_deep_in_parameters_are_looked_at() -> None:
    for value in ("/etc/passwd", "a/b", "..", "file://x", "c:\\x"):
        with pytest.raises(ValueError, match="path or an address"):
            refuse_unsafe({"network": {"x": [{"y": value}]}})


@pytest.mark.parametrize("text", [
    '{"trace": {"generate": "lublin"}, "machine": {"node_idle_w": NaN}}',
    '{"trace": {"generate": "lublin"}, "power": {"cap": Infinity}}',
    '{"trace": {"generate": "lublin"}, "machine": {"nodes": 1e400}}',
    '{"trace": {"generate": "lublin", "parameters": {"load": -Infinity}}}',
    '{"trace": {"generate": "lublin"}, "name": "\\ud800"}',
    '{"trace": {"generate": "lublin"}, "machine": {"nodes": "8"}}',
    '{"trace": {"generate": "lublin"}, "machine": {"nodes": true}}',
    '{"trace": {"generate": "lublin"}, "machine": []}',
    '{"trace": {"generate": "lublin"}, "\\ud800": 1}',
    '{"trace": ' + '{"a":' * 200 + "1" + "}" * 200 + "}",
    "[" * 100_000 + "]" * 100_000,
    '{"machine": {"nodes": ' + "9" * 5000 + "}}",
    "[]", "null", '"x"', "", "{", "\0",
])
def test_broken_numbers_texts_and_brackets_are_a_4xx(client: TestClient, text: str) -> None:
    found = client.post("/api/whatif", content=text.encode("utf-8", "surrogatepass"),
                        headers={"Content-Type": "application/json"})
    assert 400 <= found.status_code < 500, found.text
    error_of(found)


@pytest.mark.parametrize(("fields", "said"), [
    (changed(machine={"nodez": 4}), "machine.nodez: there is no such field"),
    (changed(machine={"nodes": "many"}), "machine.nodes: must be a number, without quotes"),
    ({"trace": {"generate": {"model": "lublin"}}}, "trace.generate: must be a text, in quotes"),
])
def test_mistakes_are_said_as_those_of_a_file(
    client: TestClient, fields: dict[str, Any], said: str
) -> None:
    found = client.post("/api/whatif", json=fields)
    assert found.status_code == 422
    assert found.json()["error"].startswith(said)
