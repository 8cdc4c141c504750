"""EASY under a cap in watts: what is kept for the first waiting job is given away once."""

from __future__ import annotations

import pytest

from tests.golden.lab import NODE, play, spans, table
from tests.support.workloads import compose
from wattline.books import Books, Ended, NodesDown, Started, Submitted, Terms
from wattline.model.machine import Machine
from wattline.model.signal import Signal
from wattline.policies.admission.none import NoLimit
from wattline.policies.admission.watts import Watts
from wattline.policies.placement.first_fit import FirstFit

TEN = Machine.uniform(10, NODE)
"""1,000 W idle; each busy node draws 200 W more."""


def starts_under(cap_w: float, *rows: tuple) -> list[float]:
    run = play(table(*rows), compose(admission=Watts()), TEN, cap_w=Signal.constant(cap_w, "W"))
    return [start_s for start_s, _ in spans(run)]


def test_easy_gives_the_watts_beside_the_first_job_away_once() -> None:
    """1,000 W above idle. A holds 600 W until 10. B needs 800 W, which leaves 200 W then: C takes
    them for long; D, as long, finds none left although three nodes and 200 W are free now."""
    starts = starts_under(2000.0, (0, 3, 10), (1, 4, 10), (2, 1, 100), (3, 1, 100))
    assert starts == [0, 10, 2, 20]


def test_a_job_that_ends_by_the_reservation_takes_none_of_the_watts_beside_it() -> None:
    """C is over at 10: the 200 W beside B are left for D, which starts at once as well."""
    starts = starts_under(2000.0, (0, 3, 10), (1, 4, 10), (2, 1, 8), (3, 1, 100))
    assert starts == [0, 10, 2, 3]


@pytest.mark.parametrize(("cap_w", "last_s"), [(2199.0, 20), (2200.0, 3)])
def test_the_watts_beside_the_first_job_may_be_used_up_wholly(cap_w: float, last_s: float) -> None:
    """Beside B 400 W are left under 2,200 W, as much as C and D draw together."""
    starts = starts_under(cap_w, (0, 3, 10), (1, 4, 10), (2, 1, 100), (3, 1, 100))
    assert starts == [0, 10, 2, last_s]


@pytest.mark.parametrize("admission", [NoLimit(), Watts()])
def test_a_node_that_fails_under_a_job_is_not_given_away_beside_the_first(
    admission: NoLimit | Watts,
) -> None:
    """A has nodes 0 to 3 until 100, and node 0 is out of order: seven of eight nodes are there at
    100, all of which B needs. C asks for one node for longer and has to wait; D is over by then."""
    books = Books.open(Machine.uniform(8, NODE),
                       compose(admission=admission, placement=FirstFit()),
                       Terms(choose_nodes=True), cap_w=2400.0)
    books.step(0, [Submitted("a", 4, 100.0)])
    books.step(1, [Started("a"), NodesDown(nodes=(0,))])
    early = books.step(2, [Submitted("b", 7, 100.0), Submitted("c", 1, 1000.0),
                           Submitted("d", 1, 98.0)])
    late = books.step(100, [Ended("a"), Ended("d")])
    assert [each.job for each in early] == ["d"]
    assert [each.job for each in late] == ["b"]


def test_a_job_that_draws_less_than_idle_nodes_leaves_no_more_beside_the_first() -> None:
    """Beside B 200 W are left. C draws 50 W on a node that draws 100 W idle and takes none of them;
    nor does it bring any: D, which needs 250 W, waits for B's end."""
    jobs = table((0, 3, 10), (1, 4, 10), (2, 1, 100), (3, 1, 100),
                 power_w=[900.0, 1200.0, 50.0, 350.0])
    run = play(jobs, compose(admission=Watts()), TEN, cap_w=Signal.constant(2000.0, "W"))
    assert [start_s for start_s, _ in spans(run)] == [0, 10, 2, 20]
