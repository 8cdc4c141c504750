"""Licences of watts and joules of the ledger, judged beside the lines of a journal.

`bed.journal` has a cap of 900 W (see the tests of journals). Lines about licences are put behind
its last step, 53 s after its first. Job 3 ended after 10.3 s on a node of 300 W with 2,482.75 J.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.commands import call, ok
from tests.unit.results.verify.journal.test_verify_journals import BED, broken, written

from wattline.account.measured.book import MeasuredLedger
from wattline.account.measured.records import Found, Kind, Life, LifeKey, Series
from wattline.account.store import Store
from wattline.results.verify.journal.ledger import LedgerJob
from wattline.results.verify.journal.rules import verify_journal

LAST_S = 1795108292.8051546
"""Time of the last step."""
ENDED_S = 1795108255.5056424
"""Time of the end of job 3."""
RULE = "journal.licences"


def licences(late_s: float, held: dict[str, int], allowed: int | None = 900, **more: Any) -> Any:
    return [LAST_S + late_s, {"licences": {"allowed": allowed, "beside": 0, "idle_w": 0.0,
                                           "held": held, "all": False, **more}}]


def cap(late_s: float, watts: float) -> Any:
    return [LAST_S + late_s, [["capchanged", {"watts": watts}]], []]


FIRST = licences(1.0, {"7": 500}, all=True)


def found(folder: Path, *lines: Any) -> str:
    """The first finding about licences with these lines at the end; empty where there is none."""
    def change(values: list[Any]) -> None:
        values[-1:-1] = lines

    return broken(written(folder, change)).get(RULE, "")


TOO_MANY = "job 8 takes licences, with which 950 W are held, where the cap is 900 W"
CASES: dict[str, tuple[list[Any], str]] = {
    "more than the cap": ([licences(90.0, {"8": 450}, allowed=None)], TOO_MANY),
    "as many as the cap": ([licences(90.0, {"8": 400})], ""),
    "what was given back is there for others": (
        [licences(90.0, {"7": 0, "8": 450})], ""),
    "a start of which nobody knows what the cap was": ([licences(50.0, {"8": 450})], ""),
    "a job that holds more, and takes none": ([licences(90.0, {"7": 950})], ""),
    "a suspended job, whose watts are free": (
        [licences(90.0, {"8": 450}, allowed=1400, beside=500)], ""),
    "idle nodes that no licence stands for": (
        [licences(90.0, {"8": 200}, idle_w=360.0)],
        "700 W are held beside 360 W of idle nodes, where the cap is 900 W"),
    "a cap that was lowered 40 s ago": (
        [cap(60.0, 600.0), licences(100.0, {"8": 300})], ""),
    "a cap that was lowered 70 s ago": (
        [cap(60.0, 600.0), licences(130.0, {"8": 300}, allowed=600)],
        "800 W are held, where the cap is 600 W"),
    "more than Slurm was told to give": (
        [licences(2.0, {}, allowed=600), licences(90.0, {"8": 150}, allowed=600)],
        "job 8 takes licences, with which 650 are held, where jobs may hold 600"),
    "a number that was lowered 30 s ago": (
        [licences(60.0, {}, allowed=600), licences(90.0, {"8": 150}, allowed=600)], ""),
}


@pytest.mark.parametrize("name", CASES)
def test_a_job_that_takes_licences_finds_them_below_the_cap(tmp_path: Path, name: str) -> None:
    lines, sentence = CASES[name]
    said = found(tmp_path, FIRST, *lines)
    assert sentence in said if sentence else said == ""


def test_watts_that_are_reserved_for_nodes_without_jobs_take_no_licences(tmp_path: Path) -> None:
    """Nodes that drain draw with their jobs, which hold licences; an operator's watts are taken."""
    for name, sentence in (("nodes-without-jobs", ""), ("grid", "where the cap is 700 W")):
        kept = {"name": name, "start_s": LAST_S + 5.0, "duration_s": 9e8, "watts": 200.0}
        said = found(tmp_path, FIRST, [LAST_S + 5.0, [["reserved", kept]], []],
                     licences(90.0, {"8": 300}))
        assert sentence in said if sentence else said == ""


def test_a_journal_without_lines_about_licences_says_so() -> None:
    why = {each.rule: each.why for each in verify_journal(BED).skipped}
    assert why[RULE].startswith("it has no lines about them")


def test_joules_of_a_job_are_compared_with_those_of_its_run_in_the_ledger() -> None:
    """Allowed are a tenth of the larger, and 5 s of 300 W: 9,000 J are too many, 4,000 are not."""
    def judged(energy_j: float, late_s: float = 0.0, **more: Any) -> tuple[list[str], int | None]:
        run = LedgerJob("3", ENDED_S - 10.0, ENDED_S + late_s, energy_j,
                        **{"coverage": 1.0, **more})
        verdict = verify_journal(BED, [run])
        return verdict.sentences, next(
            each.decisions for each in verdict.judged if each.rule == "journal.ledger")

    assert judged(2500.0) == judged(4000.0) == ([], 1)
    (sentence,), compared = judged(9000.0)
    assert sentence.endswith("job 3 ends with 2482.752176 J, and the ledger has 9000 J")
    assert compared == 1
    for more in ({"coverage": 0.9}, {"from_meters": False}, {"late_s": 100.0}):
        assert judged(9000.0, **more) == ([], 0)


def test_of_a_job_that_was_queued_again_the_run_that_ended_then_counts() -> None:
    lives = [LedgerJob("3", ENDED_S - 900.0, ENDED_S - 300.0, 2e5, 1.0),
             LedgerJob("3", ENDED_S - 10.0, ENDED_S, 2500.0, 1.0)]
    assert verify_journal(BED, lives).sentences == []


@pytest.mark.parametrize(("node_w", "status"), [(241.0, 0), (500.0, 1)])
def test_the_command_compares_with_the_ledger_of_the_meters(
    tmp_path: Path, capsys: Any, node_w: float, status: int
) -> None:
    """Node n0003 draws so much all the time: in 10.3 s 2,482.3 J, or 5,150 J less rounding."""
    time_s = np.arange(1795108240.0, 1795108261.0)
    key = LifeKey("c", "3", 1795108245)
    with Store(tmp_path / "site.db") as store:
        MeasuredLedger(store).enter(Found("f", (Life(
            key, state="COMPLETED", nodes=1, node_list="n0003", end_s=1795108255.3),), series=(
            Series("c", "n0003", Kind.JOULES, time_s, node_w * (time_s - time_s[0]), "agent"),)))
    given = ("verify", BED, "--store", tmp_path / "site.db")
    if status == 0:
        assert "journal.ledger (1 of 6 decisions)" in ok(capsys, *given)
    found_status, said, _ = call(capsys, *given)
    assert found_status == status
    assert ("the ledger has 5149.99" in said) == (status == 1)
    assert "journal.ledger (0 of 6 decisions)" in call(capsys, *given, "-M", "other")[1]
