"""The API against its own OpenAPI document: schemathesis asks what it allows and what it does not.

Whatever is asked, the answer is a status that the document names, in its form, and soon; never a
5xx but "busy". Before each commit the questions are always the same, so that a failure is the same
tomorrow; `WATTLINE_FUZZ=200` asks so many of each kind, other ones every time, and
`--hypothesis-seed=7` those of a seed.
"""

from __future__ import annotations

import copy
import json
import os
import time
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from starlette.testclient import TestClient
from tests.support.demos import KeptDemo
from tests.unit.web.asking import CAPPED, HOST

from wattline.scenario.model import MachineSection, PolicySection, PowerSection, TraceSection
from wattline.web.app import create_app
from wattline.web.settings import Settings
from wattline.web.worker.pool import WorkLimits

OF_AN_OPERATION, OF_A_SCENARIO = 3, 20
"""Questions before a commit; `make test-long` asks hundreds."""
SOON_S = 60.0
ENDLESS = {"/api/events"}
"""A stream without an end, which has tests of its own."""
APP = create_app(KeptDemo(speed=0.0, jobs=60), Settings(rated=False))
SCHEMA = schemathesis.openapi.from_dict(APP.openapi())
OPERATIONS = {f"{found.ok().method.upper()} {found.ok().path}": found.ok()
              for found in SCHEMA.get_all_operations() if found.ok().path not in ENDLESS}
USUAL = {401, 403, 405, 408, 413, 414, 421, 429}
"""Answers of the guard to any request, whichever route it is for."""


def asked(config: pytest.Config, usual: int) -> settings:
    """Number of questions, and whether they are the usual ones."""
    count, seed = os.environ.get("WATTLINE_FUZZ"), config.getoption("--hypothesis-seed", None)
    return settings(max_examples=int(count or usual), derandomize=count is None and seed is None,
                    deadline=None, database=None, phases=[Phase.generate],
                    suppress_health_check=list(HealthCheck), print_blob=True)


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    APP.state.pool.limits = WorkLimits(time_s=3.0, memory_bytes=2**30)
    with TestClient(APP, base_url=HOST, client=("127.0.0.1", 1),
                    raise_server_exceptions=False) as found:
        yield found


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_an_operation_answers_as_the_document_says(
    client: TestClient, name: str, pytestconfig: pytest.Config
) -> None:
    operation = OPERATIONS[name]
    said = {int(status) for status in operation.definition.raw["responses"]} | USUAL
    cases = st.one_of(*(operation.as_strategy(generation_mode=mode) for mode in GenerationMode))

    @asked(pytestconfig, OF_AN_OPERATION)
    @given(case=cases)
    def ask(case: Any) -> None:
        begun_s = time.monotonic()
        answer = _sent(client, case)
        assert time.monotonic() - begun_s < SOON_S
        assert answer.status_code < 500 or answer.status_code == 503, answer.text
        assert answer.status_code in said, (answer.status_code, answer.text)
        if answer.status_code >= 400:
            found = answer.json()
            assert set(found) == {"error", "right"}
            assert found["error"]
            assert "Traceback" not in answer.text

    ask()


LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 40), st.floats(allow_nan=False), st.text(max_size=8),
    st.sampled_from(["0%", "70%", "100%", "1kW", "1e9MW", "none", "-1", "sjf", "wfp", "dvfs",
                     "conservative", "adaptive", "budget", "first-fit", "kill", "core", "1h"]),
    st.lists(st.fixed_dictionaries({"time_s": st.integers(0, 900), "watts": st.integers(0, 3000)}),
             max_size=3),
    st.fixed_dictionaries({"name": st.sampled_from(["multifactor", "energy-share", "wait", "watts",
                                                    "lending", "naive", "varied", "budget"])}))
PLACES = [("power", name) for name in PowerSection.model_fields] + [
    ("policy", name) for name in PolicySection.model_fields] + [
    ("machine", name) for name in MachineSection.model_fields] + [
    ("trace", name) for name in TraceSection.model_fields] + [
    (name, None) for name in ("name", "shares", "reservations", "network", "baseline")]


CHANGES = st.lists(st.tuples(st.sampled_from(PLACES), LEAVES), min_size=1, max_size=3)


def test_a_good_scenario_with_odd_fields_runs_or_is_refused(pytestconfig: pytest.Config) -> None:
    """Past the schema, where a document does not reach: whole runs of a tiny log."""
    @asked(pytestconfig, OF_A_SCENARIO)
    @given(changes=CHANGES)
    def ask(changes: Any) -> None:
        fields: dict[str, Any] = copy.deepcopy(CAPPED)
        for (section, name), value in changes:
            if name is None:
                fields[section] = value
            else:
                fields.setdefault(section, {})
                if isinstance(fields[section], dict):
                    fields[section][name] = value
        answer = odd_client().post("/api/whatif", content=json.dumps(fields), headers={
            "Content-Type": "application/json"})
        assert answer.status_code in (200, 404, 422), (answer.status_code, answer.text, fields)

    ask()


@cache
def odd_client() -> TestClient:
    APP.state.pool.limits = WorkLimits(time_s=20.0, memory_bytes=2**30)
    return TestClient(APP, base_url=HOST, client=("127.0.0.1", 1), raise_server_exceptions=False)


def _sent(client: TestClient, case: Any) -> Any:
    """The case as a client would send it; our own headers say who it is."""
    sent = case.as_transport_kwargs(base_url=HOST)
    headers = {name: value for name, value in dict(sent.get("headers") or {}).items()
               if name.lower() not in ("host", "user-agent")}
    kept = {key: sent[key] for key in ("params", "json", "data", "cookies") if sent.get(key)}
    content = kept.pop("data", None)
    if content is not None and not isinstance(content, (bytes, str)):
        content = str(content)
    return client.request(sent["method"], sent["url"], headers=headers, content=content,
                          follow_redirects=False, **kept)


def test_the_document_names_every_question() -> None:
    assert {"POST /api/whatif", "POST /api/plan/bid", "POST /api/uploads", "GET /api/now",
            "POST /api/operator/apply", "POST /api/login"} <= set(OPERATIONS)


class Options:
    """The options of a run of tests, as far as the seed goes."""

    def __init__(self, seed: str | None) -> None:
        self.seed = seed

    def getoption(self, name: str, default: Any) -> Any:
        return self.seed if name == "--hypothesis-seed" else default


def test_a_seed_or_a_count_asks_other_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn(config: Any) -> list[int]:
        found: list[int] = []

        @asked(config, 8)
        @given(number=st.integers(0, 10**9))
        def draw(number: int) -> None:
            found.append(number)

        draw()
        return found

    monkeypatch.delenv("WATTLINE_FUZZ", raising=False)
    usual = drawn(Options(None))
    assert drawn(Options(None)) == usual
    assert drawn(Options("7")) != usual
    monkeypatch.setenv("WATTLINE_FUZZ", "20")
    assert len(drawn(Options(None))) == 20
