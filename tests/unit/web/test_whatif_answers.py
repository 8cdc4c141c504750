"""POST /api/whatif: both runs, and what is said of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient
from tests.unit.web.asking import CAPPED, TINY, asked, error_of

import wattline as wl
from wattline.analysis import series
from wattline.web.whatif.baseline import baseline_of
from wattline.web.whatif.curves import MOST_POINTS, curves, kept_rows
from wattline.web.whatif.hurt import who_is_hurt
from wattline.web.whatif.said import WhatIfAnswer


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with asked(here=True) as found:
        yield found


@pytest.fixture(scope="module")
def answer(client: TestClient) -> Any:
    found = client.post("/api/whatif", json=CAPPED)
    assert found.status_code == 200, found.text
    return found.json()


def in_python(**changes: Any) -> Any:
    return wl.simulate(wl.Scenario(**{**TINY, **changes}))


def test_both_runs_are_those_that_python_simulates(answer: Any) -> None:
    free, capped = in_python(), in_python(policy={"power": "dvfs"}, power={"cap": "70%"})
    for side, run in (("baseline", free), ("variant", capped)):
        metrics = answer[side]["metrics"]
        assert metrics["wait_s"]["mean"] == run.metrics()["wait_s"]["mean"]
        assert metrics["energy_j"] == run.energy_j
    assert capped.cap_w is not None
    above_s, above_j = series.above(series.power_steps(free), capped.cap_w)
    assert answer["baseline"]["metrics"]["time_above_cap_s"] == above_s > 0
    assert answer["baseline"]["metrics"]["energy_above_cap_j"] == above_j > 0
    assert answer["baseline"]["said"] == "the same jobs, machine and policies without a cap"


def test_the_answer_has_the_form_that_the_document_says(client: TestClient, answer: Any) -> None:
    WhatIfAnswer.model_validate(answer)
    document = client.get("/api/openapi.json").json()
    said = document["paths"]["/api/whatif"]["post"]["responses"]["200"]["content"]
    assert said["application/json"]["schema"]["$ref"].endswith("/WhatIfAnswer")


def test_the_hurt_are_those_whose_wait_grew_most(answer: Any) -> None:
    free, capped = in_python(), in_python(policy={"power": "dvfs"}, power={"cap": "70%"})
    change_s = capped.schedule.start_s - free.schedule.start_s
    rows = answer["hurt"]
    assert [row["wait_change_s"] for row in rows] == sorted(
        (float(each) for each in change_s if each > 1), reverse=True)
    assert rows[0]["job"] == free.jobs.job_id[int(np.argmax(change_s))]
    assert answer["hurt_users"][0]["wait_change_s"] > 0
    assert answer["counts"]["compared"] == 12


def test_jobs_that_only_one_run_has_are_said_and_not_compared() -> None:
    small = wl.simulate(wl.Scenario(**{**TINY, "trace": {"file": "bundled:tiny.swf", "jobs": 9}}))
    found = who_is_hurt(in_python(), small)
    assert found["compared"] == 9
    assert "9 jobs are in both runs, of 12 and 9" in found["remarks"][0]


def test_a_baseline_may_be_given_and_is_run_as_it_is(client: TestClient) -> None:
    given = {**CAPPED, "baseline": {**TINY, "policy": {"order": "sjf", "backfill": "none"}}}
    found = client.post("/api/whatif", json=given).json()
    run = in_python(policy={"order": "sjf", "backfill": "none"})
    assert found["baseline"]["said"] == "as given"
    assert found["baseline"]["metrics"]["wait_s"]["mean"] == run.metrics()["wait_s"]["mean"]


def test_a_baseline_is_run_once_for_all_its_variants(client: TestClient, answer: Any) -> None:
    other = client.post("/api/whatif", json={**CAPPED, "power": {"cap": "90%"}}).json()
    assert other["baseline"]["cached"]
    of_the_cap = ("time_above_cap_s", "energy_above_cap_j")  # each is held against its variant's
    assert [{name: value for name, value in each["baseline"]["metrics"].items()
             if name not in of_the_cap} for each in (other,)] == [
        {name: value for name, value in answer["baseline"]["metrics"].items()
         if name not in of_the_cap}]
    assert other["variant"]["metrics"] != answer["variant"]["metrics"]


def test_without_a_cap_the_baseline_has_the_usual_policies() -> None:
    base, said = baseline_of({**TINY, "policy": {"order": "sjf", "overrun": "kill"}})
    assert base["policy"] == {"overrun": "kill"}
    assert "FCFS" in said
    kept, _ = baseline_of({**CAPPED, "policy": {"order": "sjf", "power": "dvfs"}})
    assert kept["policy"] == {"order": "sjf"}
    assert "power" not in kept


def test_what_is_assumed_is_in_the_answer(client: TestClient) -> None:
    given = {"trace": {"file": "bundled:tiny.swf"}, "machine": {"nodes": 8},
             "policy": {"power": "wait"}, "power": {"cap": "none"}}
    found = client.post("/api/whatif", json=given).json()
    assert any("powers are assumed" in line for line in found["assumptions"])
    assert any("has nothing to keep" in line for line in found["remarks"])


def test_curves_keep_every_peak_in_few_points() -> None:
    run = wl.simulate(wl.generate("lublin", seed=3, jobs=500, nodes=64),
                      machine=wl.Machine(nodes=64, node_idle_w=90, node_active_w=300))
    found = curves(run, 200)
    assert len(found["time_s"]) <= 200 < len(run.events)
    assert (np.diff(found["time_s"]) >= 0).all()
    assert found["power_w"].max() == run.power_w_peak
    assert found["queued"].max() == run.events.queued.max()
    assert found["time_s"][-1] == run.end_s
    whole = curves(run)
    assert len(whole["time_s"]) <= MOST_POINTS


def test_rows_have_the_extremes_of_each_span() -> None:
    time_s = np.arange(1000.0)
    value = np.sin(time_s) + (time_s == 517) * 9 - (time_s == 518) * 9
    rows = kept_rows(time_s, (value, value), 100)
    assert len(rows) <= 100
    assert {0, 517, 518} <= set(rows.tolist())


def test_a_mistake_is_one_sentence_that_names_the_field(client: TestClient) -> None:
    for change, said in (
        ({"machine": {"nodes": 0}}, "machine.nodes"),
        ({"nonsense": 1}, "nonsense"),
        ({"power": {"cap": "5W"}}, "below the idle power"),
        ({"policy": {"power": "dvfs", "order": "nosuch"}}, "policy.order"),
        ({"trace": {}}, "trace"),
    ):
        found = client.post("/api/whatif", json={**CAPPED, **change})
        assert found.status_code == 422, (change, found.text)
        assert said in error_of(found)


def test_choices_offer_what_a_scenario_may_name(client: TestClient) -> None:
    found = client.get("/api/whatif/choices").json()
    assert {"bundled:tiny.swf", "bundled:week.swf"} <= {each["file"] for each in found["logs"]}
    assert {each["name"] for each in found["axes"]["power"]} >= {"dvfs", "block", "wait"}
    assert all(not row["file"] for axis in found["axes"].values() for each in axis
               for row in each["parameters"])
    for scenario in found["scenarios"]:
        assert client.post("/api/whatif/share", json=scenario).status_code == 200


def test_an_answer_is_kept_and_the_name_is_that_of_the_question(
    client: TestClient, answer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise AssertionError("it was computed again")

    pool = client.app_made.state.pool  # type: ignore[attr-defined]
    monkeypatch.setattr(pool, "ask", fail)
    again = client.post("/api/whatif", json={**CAPPED, "name": "another name"}).json()
    assert again["variant"]["said"] == "another name"
    assert again["variant"]["metrics"] == answer["variant"]["metrics"]


def test_the_answer_is_strict_json(client: TestClient) -> None:
    text = client.post("/api/whatif", json=CAPPED).text

    def refuse(sign: str) -> Any:
        raise AssertionError(sign)

    json.loads(text, parse_constant=refuse)
