"""Work that takes minutes says in a pipe from time to time how far it is."""

from __future__ import annotations

import pytest

from wattline.cli import output
from wattline.grid.bidding import Problem
from wattline.grid.bidding.descent import DescentSettings, descend
from wattline.grid.bidding.problem import BidOutcome
from wattline.grid.market import Bid, TrackingError
from wattline.grid.workloads import workload


def test_a_line_is_said_where_it_is_time_to(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    times_s = iter([0.0, 5.0, 21.0, 30.0, 45.0])
    monkeypatch.setattr(output.time, "monotonic", lambda: next(times_s))
    with output.progress("choosing", spoken=True) as advance:
        for fraction in (0.1, 0.2, 0.3, 0.5):
            advance(fraction)
    assert capsys.readouterr().err.splitlines() == [
        "wattline: choosing, 20%, 21 s so far", "wattline: choosing, 50%, 45 s so far"]


def test_every_simulation_of_a_search_moves_the_bar() -> None:
    told: list[float] = []
    calls = 0

    def nothing(bid: Bid) -> BidOutcome:
        nonlocal calls
        calls += 1
        return BidOutcome(0.5, 0.1, TrackingError(0.1, 0.2, 0.2), ())

    descend(Problem(workload("W4"), start_shares=True), nothing,
            settings=DescentSettings(rounds=40), progress=told.append)
    assert len(told) == calls == 50
    assert told == sorted(told)
    assert told[-1] == 1.0
