"""Steps have what the meters of their nodes saw while they ran, their job's part of it."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from tests.support.commands import ok
from tests.support.measured import rows_of

import wattline as wl
from wattline.account import schema
from wattline.account.measured.book import MeasuredLedger
from wattline.account.measured.listing import step_rows
from wattline.account.measured.questions import Conditions, totals
from wattline.account.measured.records import Found, Kind, Life, LifeKey, Series, Stay, StepSeen
from wattline.account.measured.tables import facts
from wattline.account.store import Store

T = 1_791_194_400  # 10:00 of a day of UTC
DAY_S = 86400
KEY = LifeKey("c", "7", T)


def job(key: LifeKey = KEY, seconds: float = 100, nodes: str = "n[1-2]", **more) -> Life:
    return Life(key, job_id=int(key.label), user="ann", state="COMPLETED",
                nodes=1 if nodes == "n1" else 2, cores=16, node_list=nodes,
                end_s=key.start_s + seconds, **more)


def step(name: str, first: float, last: float, nodes: str = "n[1-2]", slurm_j: float = 1.0,
         key: LifeKey = KEY) -> StepSeen:
    return StepSeen(key.cluster, key.label, name, int(key.start_s + first),
                    end_s=key.start_s + last, node_list=nodes, energy_j=slurm_j, state="COMPLETED")


def counter(node: str, *samples: tuple[float, float]) -> Series:
    """Readings at these seconds, each 10 s apart, of a counter of so many watts from each on."""
    time_s, joules, now_j = [], [], 0.0
    for (first, watts), (last, _) in zip(samples, (*samples[1:], (samples[-1][0] + 10, 0)),
                                         strict=True):
        for at in np.arange(first, last, 10.0):
            time_s.append(T + at)
            joules.append(now_j)
            now_j += 10.0 * watts
    return Series("c", node, Kind.JOULES, np.array(time_s), np.array(joules), "agent")


# 200 W on both; the second at 500 W from 20 to 60.
METERS = (counter("n1", (-20, 200), (130, 200)),
          counter("n2", (-20, 200), (20, 500), (60, 200), (130, 200)))
STEPS = (step("batch", 0, 100, "n1"), step("extern", 0, 100), step("0", 20, 60),
         step("1", 60, 90, "n2"))
MEANT_J = {"batch": 20_000.0, "extern": 40_000.0 + 300 * 40, "0": 40 * 700.0, "1": 30 * 200.0}


@pytest.fixture
def store():
    with Store("sqlite://") as made:
        yield made


def joules(store: Store, *jobs: str) -> dict[str, float]:
    found = step_rows(store, Conditions(jobs=jobs or ("7",)))
    return {row["step"]: row["energy_j"] for rows in found.values() for row in rows}


def test_a_step_has_what_its_nodes_drew_while_it_ran(store) -> None:
    MeasuredLedger(store).enter(Found("", (job(),), STEPS, METERS))
    assert joules(store) == pytest.approx(MEANT_J)
    [total] = totals(store, "user", Conditions())
    assert total.energy_j == pytest.approx(MEANT_J["extern"]), "steps are not added up"
    [of_step] = totals(store, "user", Conditions(jobs=("7.0",)))
    assert of_step.energy_j == pytest.approx(MEANT_J["0"])
    assert joules(store, "7.0") == pytest.approx({"0": MEANT_J["0"]})


def test_slurm_tells_of_steps_where_its_figures_are_the_jobs(store) -> None:
    MeasuredLedger(store).enter(Found("", (job(energy_j=5e4),), STEPS))
    assert joules(store) == dict.fromkeys(MEANT_J, 1.0)
    assert totals(store, "user", Conditions(jobs=("7.0",)))[0].energy_j == 1.0


def test_a_step_that_no_meter_saw_keeps_the_joules_of_slurm(store) -> None:
    short = (*STEPS, step("2", 95, 95, slurm_j=77.0))
    MeasuredLedger(store).enter(Found("", (job(),), short, METERS))
    assert joules(store) == pytest.approx({**MEANT_J, "2": 77.0})


@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.long)])
def test_steps_come_in_any_order_and_again(every) -> None:
    parts = [Found("", (job(),)), Found("", steps=STEPS[:2]), Found("", steps=STEPS[2:]),
             Found("", series=METERS)]
    seen = []
    for order in [*permutations(parts)][::every]:
        with Store("sqlite://") as each:
            for part in (*order, order[0]):
                MeasuredLedger(each).enter(part)
            seen.append(rows_of(each))
    assert all(found == seen[0] for found in seen)


def test_steps_of_two_lives_are_told_apart_and_marks_count(store) -> None:
    """The second life began at 40.5 by its prolog, in the second in which the first one ended."""
    again = LifeKey("c", "7", T + 40)
    own = step("0", 0, 30, "n1", key=again)
    MeasuredLedger(store).enter(Found(
        "", (job(seconds=40, nodes="n1"), job(again, 30, "n1")), (step("0", 10, 40, "n1"), own),
        METERS, stays=(Stay(again, "n1", begin_s=T + 40.5, end_s=T + 70),)))
    found = [row["energy_j"] for rows in step_rows(store, Conditions()).values() for row in rows]
    assert sorted(found) == pytest.approx([29.5 * 200, 30 * 200.0])


def test_on_a_shared_node_a_step_has_the_part_of_its_job(store) -> None:
    other = job(LifeKey("c", "8", T), nodes="n1")
    MeasuredLedger(store).enter(Found(
        "", (job(nodes="n1"), other), (step("0", 20, 60, "n1"),), METERS[:1]))
    assert joules(store) == pytest.approx({"0": 40 * 100.0})


def test_a_step_over_midnight_is_one_step(store) -> None:
    late = LifeKey("c", "7", T + 14 * 3600 - 50)
    series = Series("c", "n1", Kind.WATTS, np.arange(late.start_s - 10, late.start_s + 120, 10.0),
                    np.full(13, 300.0))
    MeasuredLedger(store).enter(Found(
        "", (job(late, 100, "n1"),), (step("0", 0, 100, "n1", key=late),), (series,)))
    [[row]] = step_rows(store, Conditions()).values()
    assert (row["energy_j"], row["start_s"], row["end_s"]) == (
        pytest.approx(3e4), late.start_s, late.start_s + 100)
    with store.session() as session:
        assert session.query(facts).where(facts.c.step == "0", facts.c.source == "series"
                                          ).count() == 2


def test_an_older_store_has_them_once_it_is_opened(store) -> None:
    MeasuredLedger(store).enter(Found("", (job(),), STEPS, METERS))
    with store.session() as session:
        session.execute(facts.delete().where(facts.c.step != "", facts.c.source == "series"))
        session.execute(schema.version.update().values(version=5))
    assert joules(store)["0"] == 1.0
    MeasuredLedger(store)
    assert joules(store) == pytest.approx(MEANT_J)


def test_steps_of_a_job_that_has_ended_have_ended(store) -> None:
    """The queue tells a job's end at once, accounting tells that of its steps minutes later."""
    begun = replace(job(), state="RUNNING", end_s=float("nan"), seen_s=T + 95.0)
    runs = tuple(replace(each, state="RUNNING", end_s=float("nan")) for each in STEPS)
    ledger = MeasuredLedger(store)
    ledger.enter(Found("", (begun,), (*runs[:3], STEPS[3]), METERS))
    assert states(store) == {"batch": "RUNNING", "extern": "RUNNING", "0": "RUNNING",
                             "1": "COMPLETED"}
    ledger.enter(Found("", (replace(job(), state="TIMEOUT"),)))
    assert states(store) == {"batch": "TIMEOUT", "extern": "TIMEOUT", "0": "TIMEOUT",
                             "1": "COMPLETED"}
    ledger.enter(Found("", (), (replace(STEPS[0], state="CANCELLED"),)))
    assert states(store)["batch"] == "CANCELLED"


def states(store: Store) -> dict[str, str]:
    found = step_rows(store, Conditions())
    return {row["step"]: row["state"] for rows in found.values() for row in rows}


def test_a_job_is_shown_with_whose_joules_its_steps_have(tmp_path) -> None:
    place = tmp_path / "site.db"
    with Store(str(place)) as made:
        MeasuredLedger(made).enter(Found("", (job(),), STEPS, METERS))
    [life] = wl.account_job(7, place).lives
    assert {row["step"]: row["source"] for row in life["steps"]} == dict.fromkeys(
        MEANT_J, "series")
    assert life["series_coverage"] == 1.0
    [row] = wl.account_show(place, jobs=["7.0"]).rows
    assert [each["step"] for each in row["steps"]] == ["0"]


def test_a_listed_step_has_its_own_nodes_and_no_cores_of_its_job(tmp_path, capsys) -> None:
    place = tmp_path / "site.db"
    late = step("9", 101, 102, slurm_j=5.0)  # after the end of its job, as it is told
    with Store(str(place)) as made:
        MeasuredLedger(made).enter(Found("", (job(application="lu"),), (*STEPS, late), METERS))
    said = ok(capsys, "account", "show", "--store", place, "-P", "-o",
              "JobID,JobName,AllocCPUS,NNodes,NodeList,CPUTimeRAW,AllocTRES")
    assert said.splitlines()[1:] == [
        "7|lu|16|2|n[1-2]|1600|cpu=16,energy=52000,node=2",
        "7.batch|batch||1|n1||energy=20000,node=1",
        "7.extern|extern||2|n[1-2]||energy=52000,node=2",
        "7.0|||2|n[1-2]||energy=28000,node=2", "7.1|||1|n2||energy=6000,node=1",
        "7.9|||2|n[1-2]||energy=5,node=2"]
