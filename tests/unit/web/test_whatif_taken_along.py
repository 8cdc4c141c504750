"""A question as a link, as a scenario file and as a notebook."""

from __future__ import annotations

import base64
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.unit.web.asking import CAPPED, TINY, asked, error_of

import wattline as wl
from wattline.web.settings import Settings
from wattline.web.whatif.body import WhatIf
from wattline.web.whatif.share import question_of, share_text, shared_question

BOTH = {**CAPPED, "baseline": {**TINY, "policy": {"order": "sjf"}}}


def post(client: TestClient, place: str, given: Any) -> Any:
    found = client.post(f"/api/whatif/{place}", json=given)
    assert found.status_code == 200, found.text
    return found


def test_equal_questions_have_equal_links_and_a_link_is_its_question() -> None:
    said = {**CAPPED, "power": {"cap": "70%", "alpha": 2.0}, "policy": {"power": "dvfs",
                                                                     "order": "fcfs"}}
    link = share_text(WhatIf.model_validate(CAPPED))
    assert link == share_text(WhatIf.model_validate(dict(reversed(said.items()))))
    assert link != share_text(WhatIf.model_validate({**CAPPED, "power": {"cap": "80%"}}))
    both = WhatIf.model_validate(BOTH)
    assert WhatIf.model_validate(shared_question(share_text(both))) == both
    assert set(link) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.")


def test_a_page_can_make_and_read_a_link_by_itself() -> None:
    """As a browser does: JSON, base64 with other signs, no padding."""
    fields = question_of(WhatIf.model_validate(CAPPED))
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    made = base64.b64encode(text.encode()).decode().replace("+", "-").replace("/", "_").rstrip("=")
    assert share_text(WhatIf.model_validate(CAPPED)) == f"1.{made}"


def test_a_link_is_checked_like_any_request() -> None:
    with asked(here=True) as client:
        link = post(client, "share", BOTH).json()["share"]
        found = post(client, "shared", {"share": link}).json()["scenario"]
        assert WhatIf.model_validate(found) == WhatIf.model_validate(BOTH)
        evil = json.dumps({**TINY, "trace": {"file": "/etc/passwd"}}).encode()
        for text in ("1." + base64.urlsafe_b64encode(evil).decode(), "1.!!!", "2.e30", "", "1.",
                     "1.W10", "1." + base64.urlsafe_b64encode(b"[" * 90_000).decode()):
            refused = client.post("/api/whatif/shared", json={"share": text})
            assert refused.status_code == 422
            error_of(refused)


def test_the_scenario_file_runs_unchanged_and_gives_the_same(tmp_path: Path) -> None:
    with asked(here=True) as client:
        found = post(client, "scenario", CAPPED)
        answer = client.post("/api/whatif", json=CAPPED).json()
    assert found.headers["Content-Disposition"] == 'attachment; filename="capped.toml"'
    file = tmp_path / "capped.toml"
    file.write_text(found.text)
    run = wl.simulate(file)
    assert run.energy_j == answer["variant"]["metrics"]["energy_j"]
    assert tomllib.loads(found.text)["trace"]["file"] == "bundled:tiny.swf"


def test_the_notebook_runs_unchanged_and_compares_both(tmp_path: Path) -> None:
    with asked(here=True) as client:
        found = json.loads(post(client, "notebook", BOTH).text)
        said = post(client, "notebook", {**CAPPED, "name": 'a"b\\{c}'}).json()
    assert (found["nbformat"], found["cells"][0]["cell_type"]) == (4, "markdown")
    for notebook in (found, said):
        held: dict[str, Any] = {}
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), held)
        assert held["variant"].metrics()["wait_s"]["mean"] >= 0
        assert len(held["both"].to_pandas()) == 2


def test_parameters_of_policies_come_along_in_link_file_and_notebook(tmp_path: Path) -> None:
    asked_for = {**CAPPED, "policy": {"order": {"name": "wfp", "exponent": 1.5},
                                      "power": {"name": "wait", "wait_s": "2h", "slots": 2}}}
    with asked(here=True) as client:
        answer = client.post("/api/whatif", json=asked_for).json()
        usual = client.post("/api/whatif", json={**asked_for, "policy": {
            "order": "wfp", "power": "wait"}}).json()
        shared = post(client, "shared", {"share": answer["share"]}).json()["scenario"]
        file = post(client, "scenario", asked_for).text
        notebook = json.loads(post(client, "notebook", asked_for).text)
    assert answer["share"] != usual["share"]
    assert shared["policy"]["order"] == {"name": "wfp", "exponent": 1.5}
    assert shared["policy"]["power"]["slots"] == 2
    (tmp_path / "scenario.toml").write_text(file)
    held: dict[str, Any] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), held)
    energy_j = answer["variant"]["metrics"]["energy_j"]
    assert wl.simulate(tmp_path / "scenario.toml").energy_j == energy_j
    assert held["variant"].energy_j == energy_j


def test_what_can_be_asked_says_name_unit_default_and_choices_of_each_parameter() -> None:
    with asked(here=True) as client:
        found = client.get("/api/whatif/choices").json()
    wait = next(each for each in found["axes"]["power"] if each["name"] == "wait")
    assert [(row["name"], row["unit"], row["default"]) for row in wait["parameters"]] == [
        ("wait_s", "s", 30000.0), ("slots", None, 10)]
    adaptive = next(each for each in found["axes"]["power"] if each["name"] == "adaptive")
    assert adaptive["parameters"][0]["choices"] == ["idle", "shut", "dvfs", "mix", "cap"]
    assert [row["name"] for row in found["power"]] == [
        "alpha", "beta", "core_share", "idle_fraction", "levels"]


def test_an_upload_is_taken_along_under_its_own_name(tmp_path: Path) -> None:
    log = (Path(wl.__file__).parents[2] / "examples" / "tiny.swf")
    content = log.read_bytes() if log.is_file() else b""
    if not content:
        pytest.skip("the examples lie elsewhere")
    with asked(Settings(uploads=tmp_path / "up", rated=False)) as client:
        pool = client.app_made.state.pool  # type: ignore[attr-defined]
        pool.ask = lambda *_, **__: {"jobs": 12, "remarks": []}
        taken = client.post("/api/uploads?name=../our+log.swf", content=content).json()
        text = post(client, "scenario", {**CAPPED, "trace": {"file": taken["file"]}}).text
    (tmp_path / "our-log.swf").write_bytes(content)
    (tmp_path / "scenario.toml").write_text(text)
    assert "under the name our-log.swf" in text
    assert len(wl.simulate(tmp_path / "scenario.toml").jobs()) == 12


@pytest.mark.parametrize("name", ['x"; filename="evil.sh', "a\r\nSet-Cookie: x=1", "../../x",
                                  "\u00e9\u4e2d"])
def test_a_name_cannot_get_out_of_its_header(name: str) -> None:
    with asked(here=True) as client:
        found = post(client, "scenario", {**TINY, "name": name})
        said = found.headers["Content-Disposition"]
        assert said.count('"') == 2
        assert "/" not in said
        assert "Set-Cookie" not in found.headers
        assert tomllib.loads(found.text)["name"] == name
