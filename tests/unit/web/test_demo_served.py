"""The demo over HTTP: what each address answers, and that it adds up."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from tests.support.asking import Asking
from tests.support.demos import KeptDemo

from wattline.web.app import create_app
from wattline.web.settings import Settings
from wattline.web.sources import run_jobs
from wattline.web.sources.run_index import RunIndex


@pytest.fixture(scope="module")
def demo() -> Asking:
    return Asking(create_app(KeptDemo(speed=0.0, jobs=200)))


def test_racks_classes_and_nodes_add_up_to_the_power_of_the_machine(demo: Asking) -> None:
    now = demo.get("/api/now")
    for kind in ("class", "rack"):
        assert sum(part["power_w"] for part in now["by"][kind]) == pytest.approx(now["power_w"])
    nodes = demo.get("/api/nodes", limit=300)
    assert nodes["total"] == len(nodes["names"]) == 256
    assert sum(nodes["power_w"]) == pytest.approx(now["power_w"])
    assert nodes["state"].count("busy") == now["busy_nodes"]
    racks = demo.get("/api/racks")
    assert sum(racks["power_w"]) == pytest.approx(now["power_w"])
    assert sum(each["busy"] for each in racks["state_counts"]) == now["busy_nodes"]
    assert now["idle_w"] < now["power_w"] <= now["cap_w"] < now["max_w"]


def test_the_scale_of_nodes_is_the_most_of_the_hungriest_class(demo: Asking) -> None:
    assert demo.get("/api/now")["node_max_w"] == 560 >= max(
        demo.get("/api/nodes", limit=256)["power_w"])


def test_what_is_asked_within_a_beat_is_of_one_moment() -> None:
    passed = [0.0]
    # A beat that a busy machine does not outlast between two questions.
    demo = Asking(create_app(KeptDemo(speed=60.0, jobs=200, monotonic=lambda: passed[0]),
                             Settings(beat_s=60.0)))
    first = demo.get("/api/now")["time_s"]
    passed[0] += 1.0  # a minute of the machine, within the beat
    paths = ("/api/nodes", "/api/racks", "/api/queue", "/api/jobs")
    assert {demo.get(path)["time_s"] for path in paths} == {first}
    passed[0] += 10.0  # nobody asked meanwhile
    assert demo.get("/api/jobs")["time_s"] == pytest.approx(first + 660, rel=0, abs=1e-3)


def test_the_history_shows_no_power_that_never_lasted(demo: Asking) -> None:
    whole = demo.get("/api/history", points=10000)
    assert max(whole["power_w"]) <= max(whole["cap_w"]) + 1e-6
    assert len(set(whole["time_s"])) >= len(whole["time_s"]) - 1  # the last one stands until now


def test_the_history_ends_now_and_keeps_peak_and_dip(demo: Asking) -> None:
    now, course = demo.get("/api/now"), demo.get("/api/history", points=40)
    whole = demo.get("/api/history", points=10000)
    assert course["time_s"][-1] == pytest.approx(now["time_s"], rel=0, abs=1e-3)
    assert course["power_w"][-1] == pytest.approx(now["power_w"])
    assert max(course["power_w"]) == max(whole["power_w"])
    assert min(course["power_w"]) == min(whole["power_w"])
    assert max(course["queued"]) == max(whole["queued"]) > 0
    assert len(course["time_s"]) <= 41 < len(whole["time_s"])
    assert course["time_s"] == sorted(course["time_s"])


def test_jobs_are_sorted_cut_and_found(demo: Asking) -> None:
    everything = demo.get("/api/jobs", limit=1000, sort="energy_j")
    joules = [job["energy_j"] or 0.0 for job in everything["jobs"]]
    assert joules == sorted(joules, reverse=True)
    assert len(joules) == everything["total"]
    page = demo.get("/api/jobs", limit=3, offset=2, sort="energy_j")
    assert page["jobs"] == everything["jobs"][2:5]
    mine = demo.get("/api/jobs", user="bob", limit=1000)
    assert mine["total"] == sum(job["user"] == "bob" for job in everything["jobs"]) > 0
    found = demo.get("/api/jobs", search="bo", limit=1000)
    assert {job["user"] for job in found["jobs"]} >= {"bob"}
    running = demo.get("/api/jobs", state="running", limit=1000)
    assert running["total"] == demo.get("/api/now")["running"]


def test_the_profile_of_a_job_has_its_energy(demo: Asking) -> None:
    job = demo.get("/api/jobs", sort="energy_j", state="COMPLETED", limit=1)["jobs"][0]
    one = demo.get(f"/api/jobs/{job['id']}")
    time_s, power_w = one["profile"]["time_s"], one["profile"]["power_w"]
    drawn_j = sum(watts * (last - first) for watts, first, last
                  in zip(power_w, time_s, time_s[1:], strict=False))
    assert drawn_j == pytest.approx(one["energy_j"])
    assert one["cost"]["amount"] == pytest.approx(one["energy_j"] / 3.6e6 * 0.18)
    assert one["carbon_g"] == pytest.approx(one["energy_j"] / 3.6e6 * 320)
    slow, fast = one["alternatives"][0], one["alternatives"][-1]
    assert slow["time_s"] > fast["time_s"]
    assert slow["energy_j"] < fast["energy_j"]


def test_users_accounts_and_idle_nodes_add_up_to_the_bill(demo: Asking) -> None:
    by_user, by_account = (demo.get("/api/accounts", by=by)["rows"] for by in ("user", "account"))
    assert sum(row["energy_j"] for row in by_user) == pytest.approx(
        sum(row["energy_j"] for row in by_account))
    assert sum(row["jobs"] for row in by_user) == demo.get("/api/jobs")["total"]
    bill = demo.get("/api/bill")
    assert sum(line["energy_j"] for line in bill["lines"]) == pytest.approx(bill["total_j"])
    assert all(line["energy_j"] > 0 for line in bill["lines"])
    period = demo.get("/api/budget")["periods"][0]
    assert period["used_j"] == pytest.approx(bill["total_j"])
    assert period["used_series_j"] == sorted(period["used_series_j"])


def test_a_job_could_run_with_the_watts_of_the_nodes_that_it_held() -> None:
    """Two classes draw differently: what a speed takes is what it took those that ran at it."""
    source = KeptDemo(speed=0.0, jobs=200)
    demo = Asking(create_app(source))
    index, compared = source.shown.index, 0
    for job in demo.get("/api/jobs", state="COMPLETED", limit=200)["jobs"]:
        ran, *others = demo.get(f"/api/jobs/{job['id']}")["alternatives"]
        same = [each for each in others if each["time_s"] == pytest.approx(ran["time_s"])]
        for each in same:
            assert each["energy_j"] == pytest.approx(ran["energy_j"], rel=1e-6)
        compared += len(same)
    assert compared > 20
    row = int(index.run.placement.job[index.run.placement.first >= 192][0])
    nodes = int(index.units_of[row])
    assert index.job_full_w[row] == pytest.approx(560 * nodes)


def test_how_fast_a_job_ran_is_said_where_one_figure_says_it(demo: Asking) -> None:
    said = set()
    for job in demo.get("/api/jobs", state="COMPLETED", limit=200)["jobs"]:
        ran, *others = demo.get(f"/api/jobs/{job['id']}")["alternatives"]
        assert others[-1]["speed"] == 1.0
        in_full = ran["time_s"] == pytest.approx(others[-1]["time_s"], rel=1e-3)
        assert ran["speed"] == (1.0 if in_full else None)
        said.add(in_full)
    assert said == {True, False}


def test_only_where_there_is_a_cap_a_job_is_said_to_be_slower_for_it() -> None:
    source = KeptDemo(speed=0.0, jobs=200)
    index = source.shown.index
    slower = int(np.argmax((index.end_s - index.start_s) / index.run.jobs.run_s))
    detail = partial(run_jobs.detail, moment=index.at(index.run.end_s),
                     job=str(index.run.jobs.job_id[slower]), rates=source.shown.rates)
    assert "; to keep the cap it ran" in detail(index).explanation
    without = RunIndex(replace(index.run, cap_w=None))
    assert "; it ran" in detail(without).explanation


@pytest.mark.parametrize(("path", "status", "part"), [
    ("/api/jobs?sort=colour", 422, "cannot be sorted"),
    ("/api/jobs?state=odd", 422, "no state"),
    ("/api/jobs/0815x", 404, "no job"),
    ("/api/jobs?limit=0", 422, "limit"),
    ("/api/accounts?by=dog", 422, "by"),
    ("/api/history?points=nan", 422, "points"),
    ("/api/history?from_s=9&to_s=1", 422, "before"),
    ("/api/nowhere", 404, ""),
])
def test_mistakes_are_one_sentence(demo: Asking, path: str, status: int, part: str) -> None:
    found, error = demo.refused(path)
    assert found == status
    assert part in error
    assert "\n" not in error


def test_the_document_of_the_api_has_every_address(demo: Asking) -> None:
    paths = demo.get("/api/openapi.json")["paths"]
    for path in ("/api/now", "/api/jobs/{job}", "/api/operator/apply", "/metrics", "/api/whatif"):
        assert path in paths


def test_feeds_have_their_racks_and_what_they_may_carry(demo: Asking) -> None:
    now = demo.get("/api/now")
    feeds = {part["name"]: part["power_w"] for part in now["by"]["feed"]}
    racks = [part["power_w"] for part in now["by"]["rack"]]
    assert feeds == {"feed A": pytest.approx(sum(racks[:4])),
                     "feed B": pytest.approx(sum(racks[4:]))}
    assert {part["cap_w"] for part in now["by"]["feed"]} == {60_000}
