"""Any cut, any order and any repetition of what sacct prints gives the same ledger."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import costing
from tests.support.measured import rows_of

from wattline.account.measured.book import MeasuredLedger
from wattline.account.measured.from_sacct import read_sacct
from wattline.account.measured.tables import facts, lives
from wattline.account.store import Store

HEAD = "JobID|Cluster|User|State|Start|End|ElapsedRaw|NNodes|NodeList|AllocTRES|ConsumedEnergyRaw"
T0 = 1_790_000_000
NODES = {"n1": 1, "n2": 1, "n[1-2]": 2, "n[1-4]": 4}
joules = st.one_of(st.just(0), st.integers(1, 10**6), st.just(4294967294))


@st.composite
def life(draw: st.DrawFn, job: str, start_s: int) -> list[str]:
    """A stay of a job, perhaps with steps, told while it ran and when it had ended."""
    nodes = draw(st.sampled_from(sorted(NODES)))
    length_s = draw(st.integers(0, 5000))
    energy_j = draw(joules)
    in_tres = draw(st.booleans())
    steps = draw(st.lists(st.tuples(
        st.sampled_from(["batch", "extern", "0", "1"]), st.integers(0, 5000),
        st.integers(0, 5000), st.sampled_from(sorted(NODES)), joules), max_size=4))

    def record(name: str, state: str, times: tuple[int, int | None, int], where: str,
               energy: int, tres: str = "") -> str:
        start, end, elapsed = times
        return "|".join(map(str, (name, "c", "ann", state, start, end or "Unknown", elapsed,
                                  NODES[where], where, tres, energy)))

    tres = f"cpu=4,energy={energy_j}" if in_tres else ""
    ended = draw(st.sampled_from(["COMPLETED", "FAILED", "CANCELLED by 7", "REQUEUED"]))
    found = [record(job, ended, (start_s, start_s + length_s, length_s), nodes,
                    0 if in_tres else energy_j, tres)]
    seen_s = draw(st.integers(0, length_s))
    if draw(st.booleans()):  # an earlier dump, while it ran
        found.append(record(job, "RUNNING", (start_s, None, seen_s), nodes, 0))
    if draw(st.booleans()):  # a record that says something else
        found.append(record(job, "FAILED", (start_s, start_s + seen_s, seen_s), nodes, 17))
    for name, begun_s, ran_s, where, energy in steps:
        at = start_s + begun_s
        found.append(record(f"{job}.{name}", "COMPLETED", (at, at + ran_s, ran_s), where, energy))
    return found


@st.composite
def dumps(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    """Lines of a dump, and the same lines in pieces that overlap, in another order."""
    lines: list[str] = []
    for job in draw(st.lists(st.sampled_from(["7", "300_1", "12+0", "12+1"]), min_size=1,
                             max_size=4, unique=True)):
        for number in range(draw(st.integers(1, 3))):
            lines += draw(life(job, T0 + 10_000 * number + draw(st.integers(0, 3))))
    pieces = draw(st.lists(st.lists(st.sampled_from(lines), max_size=len(lines)), max_size=4))
    mixed = draw(st.permutations(lines))
    cuts = sorted(draw(st.lists(st.integers(0, len(lines)), max_size=3)))
    parts = [mixed[low:high] for low, high in zip([0, *cuts], [*cuts, len(lines)], strict=True)]
    return lines, draw(st.permutations([*pieces, *parts]))


def ledger_of(files: list[list[str]]) -> list[list[tuple[Any, ...]]]:
    with Store("sqlite://") as store:
        book = MeasuredLedger(store)
        for lines in files:
            book.enter(read_sacct("\n".join([HEAD, *lines, ""]).encode(), "dump"))
        return rows_of(store)


@costing(50)
@given(dumps())
def test_any_cut_order_and_repetition_gives_the_same_ledger(
    drawn: tuple[list[str], list[list[str]]]
) -> None:
    lines, files = drawn
    assert ledger_of(files) == ledger_of([lines])


@costing(25)
@given(dumps())
def test_no_life_has_more_joules_than_its_own_figure_or_its_steps(
    drawn: tuple[list[str], list[list[str]]]
) -> None:
    lines, _ = drawn
    told, _, known, _ = ledger_of([lines])
    names = [column.name for column in lives.c if column.name != "id"]
    rows = [dict(zip(names, row, strict=True)) for row in told]
    names = ["cluster", "label", "life", *(column.name for column in facts.c
                                           if column.name not in ("id", "life_id"))]
    parts = [dict(zip(names, row, strict=True)) for row in known]
    counted_j = sum(part["energy_j"] for part in parts if part["counts"])
    assert counted_j == pytest.approx(sum(row["energy_j"] or 0.0 for row in rows))
    most_j = sum(row["told_j"] or 0.0 for row in rows) + sum(
        part["energy_j"] for part in parts if part["step"])
    assert counted_j <= most_j * (1 + 1e-12)
    assert all(0.0 <= row["coverage"] <= 1.0 for row in rows)
