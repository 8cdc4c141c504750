"""Conservative backfilling after an early end: only what can move is looked at."""

from __future__ import annotations

import pytest
from tests.support.plain import in_plain

BOOKS = """
    import wattline.policies.backfill.conservative as conservative
    from tests.support.workloads import compose
    from wattline.books import Books, Ended, Submitted
    from wattline.model.machine import Machine

    def opened(pending):
        books = Books.open(Machine.uniform(8), compose(backfill=conservative.Conservative()))
        books.step(0.0, [Submitted(name, 2, 100.0) for name in "abcd"])
        books.step(1.0, [Submitted(f"w{number}", 7, 50.0) for number in range(pending)])
        return books

    def counted(name):
        calls = []
        real = getattr(conservative, name)
        def counting(*arguments):
            calls.append(arguments)
            return real(*arguments)
        setattr(conservative, name, counting)
        return calls
"""


@pytest.mark.parametrize("pending", [5, 40])
def test_reservations_that_nothing_came_back_for_are_left_as_they_are(pending: int) -> None:
    """Two units of eight come back for 90 s; whoever waits needs seven."""
    found = in_plain(BOOKS + f"""
    books = opened({pending})
    changed, looked = counted("add_to_profile"), counted("take_earlier")
    decisions = books.step(10.0, [Ended("a")])
    result = [len(decisions), len(changed), len(looked)]
    """)
    assert found == [0, 1, 0]


def test_a_job_that_moves_lets_those_behind_it_move_as_well() -> None:
    """All units come back at 10: w0 starts, each of the others moves up by 90 s."""
    found = in_plain(BOOKS + """
    books = opened(4)
    clock = books.state.clock[0]
    def starts():
        return books.state.queue.key[clock.queue_first : clock.queue_last].tolist()
    before = starts()
    decisions = books.step(10.0, [Ended(name) for name in "abcd"])
    result = [before, decisions[0].job, starts()]
    """)
    assert found == [[100.0, 150.0, 200.0, 250.0], "w0", [60.0, 110.0, 160.0]]


def test_room_that_a_moved_job_leaves_is_found_by_one_behind_it() -> None:
    """b moves from 100 into the gap of what ended, and c, which is short, into the place of b."""
    found = in_plain("""
    from tests.support.workloads import compose
    from wattline.books import Books, Ended, Submitted
    from wattline.model.machine import Machine
    from wattline.policies.backfill.conservative import Conservative

    books = Books.open(Machine.uniform(4), compose(backfill=Conservative()))
    books.step(0.0, [Submitted("gone", 2, 50.0), Submitted("long", 2, 100.0)])
    books.step(1.0, [Submitted("b", 4, 10.0), Submitted("c", 4, 10.0), Submitted("d", 3, 5.0)])
    clock = books.state.clock[0]
    def plan():
        entries = books.state.queue[clock.queue_first : clock.queue_last]
        return [[books.roll.key(int(entry.job)), float(entry.key)] for entry in entries]
    first = plan()
    books.step(20.0, [Ended("long")])
    result = [first, plan()]
    """)
    assert found == [[["b", 100.0], ["c", 110.0], ["d", 120.0]],
                     [["b", 50.0], ["c", 60.0], ["d", 70.0]]]
