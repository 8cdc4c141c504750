"""Over seeds: met, declined and violated are counted apart, with intervals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from wattline.model.errors import InputError
from wattline.model.progress import silent
from wattline.studies.regulation import parts, rows_kept
from wattline.studies.regulation.parts import PolicyOutcome, over_seeds, run_orders
from wattline.studies.regulation.rows_kept import KeptRows
from wattline.studies.regulation.workloads import Order, each_hour, fourteen

NONE = (float("nan"),) * 3
ROW = PolicyOutcome("W1", "aqa", True, 9e3, 2e3, 0.6, 0.2, 0.05, 0.05, "", 0.0, 0, 0, (0.0, 1.0),
                    NONE, NONE, ())


def test_staying_out_is_no_violation() -> None:
    assert ROW.verdict == "met"
    assert replace(ROW, met=False, declined=True).verdict == "declined"
    assert replace(ROW, met=False).verdict == "violated"


def test_policies_are_counted_over_all_cases_and_seeds() -> None:
    rows = [ROW, replace(ROW, saving=0.4, seed=2), replace(ROW, met=False, declined=True, seed=3),
            replace(ROW, policy="tracking", met=False)]
    aqa, tracking = over_seeds(rows)
    assert (aqa.cases, aqa.met, aqa.declined, aqa.violated) == (3, 2, 1, 0)
    assert aqa.met_share[0] < 2 / 3 < aqa.met_share[1]
    assert abs(aqa.saving[0] - 0.3) < 1e-12
    assert (tracking.met, tracking.violated) == (0, 1)
    assert tracking.saving[0] != tracking.saving[0]  # nothing was saved where nothing was met


def test_where_the_bound_finds_a_bid_offered_and_declined_are_counted() -> None:
    feasible = replace(ROW, bound_feasible=True, other_hours=10, other_met=4)
    rows = [feasible, replace(feasible, met=False, declined=True),
            replace(ROW, bound_feasible=False), ROW]
    (aqa,) = over_seeds(rows)
    assert (aqa.feasible, aqa.feasible_offered, aqa.feasible_declined) == (2, 1, 1)
    assert (aqa.other_hours, aqa.other_held) == (10, 4)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the orders that are evaluated, which cost nothing here."""
    seen: list[str] = []

    def evaluate(order: Order) -> list[PolicyOutcome]:
        seen.append(order.name)
        return [replace(ROW, name=order.name, weights=(0.5, 0.5))]

    monkeypatch.setattr(parts, "evaluate", evaluate)
    return seen


def orders(seed: int = 1) -> list[Order]:
    made = fourteen(seed=seed, hours_each=1, rounds=1, signal_file="", names=["W1", "W2"])
    return [order for order in made if order.policy == "aqa"]


def test_a_run_that_was_ended_goes_on_and_finds_the_same_rows(
    tmp_path: Path, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "kept"
    run_orders(orders()[:1], 1, silent, KeptRows(file))
    with file.open("a") as cut:
        cut.write('{"order": "x", "ro')  # ended while it wrote
    with file.open("a") as cut:
        cut.write("\n")
    found = run_orders(orders(), 1, silent, KeptRows(file))
    assert asked == ["W1", "W2"]
    assert [row.name for row in found] == ["W1", "W2"]
    assert found[0].weights == (0.5, 0.5)
    assert KeptRows(file).rows(orders(seed=2)[0]) is None, "another seed is another order"
    monkeypatch.setattr(rows_kept, "sources_digest", lambda places: "others")
    assert KeptRows(file).rows(orders()[0]) is None, "rows of other sources are not ours"


def test_a_file_that_cannot_be_written_is_said_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        KeptRows(tmp_path / "no folder" / "kept")


def test_every_hour_of_a_signal_is_planned_with_the_same_arrivals(tmp_path: Path) -> None:
    signal = tmp_path / "signal.csv"
    signal.write_text("t_s,y\n" + "".join(f"{600 * k},0.1\n" for k in range(12)))
    made = each_hour(seed=1, rounds=1, signal_file=str(signal), names=["W1", "W3"])
    assert [(order.name, order.signal_hour) for order in made] == [
        ("W1", 0), ("W1", 1), ("W3", 0), ("W3", 1)]
    first, other = (parts.case_for(order, 0) for order in made[:2])
    assert list(first.jobs.submit_s) == list(other.jobs.submit_s)
