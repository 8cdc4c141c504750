"""Readings on disk, round and round."""

from __future__ import annotations

import pytest

from wattline.live.agent.spool import Spool
from wattline.live.fleet import NodeReport
from wattline.live.transport.messages import pack_reading, pack_report, unpack_report
from wattline.model.errors import WattlineError


def keep(spool: Spool, count: int) -> None:
    for _ in range(count):
        spool.keep(pack_reading(spool.next, NodeReport("n", float(spool.next), 1.0, 2.0, 3.0)))


def times(spool: Spool, first: int, last: int) -> list[float]:
    packed = pack_report(1, 1, spool.between(first, last))
    return [report.time_s for _, report in unpack_report("n", packed).readings]


def test_the_newest_are_kept_and_older_ones_give_way(tmp_path):
    spool = Spool(tmp_path / "readings", 60)
    size = (tmp_path / "readings").stat().st_size
    keep(spool, 150)
    assert (spool.oldest, spool.next) == (91, 151)
    assert times(spool, 1, 1000) == [float(number) for number in range(91, 151)]
    assert times(spool, 100, 102) == [100.0, 101.0, 102.0]
    assert (tmp_path / "readings").stat().st_size == size


@pytest.mark.parametrize("count", [0, 10, 60, 61, 150])
def test_another_process_goes_on_with_the_same_life_and_numbers(tmp_path, count):
    first = Spool(tmp_path / "readings", 60)
    keep(first, count)
    first.note({"energy_j": 12.5})
    # Without a word of goodbye, as after a kill.
    second = Spool(tmp_path / "readings", 60)
    assert (second.life, second.next) == (first.life, count + 1)
    assert second.noted == {"energy_j": 12.5}
    assert times(second, 1, 1000) == times(first, 1, 1000)
    assert len(times(second, 1, 1000)) == min(count, 60)


def test_another_number_of_slots_is_another_life(tmp_path):
    first = Spool(tmp_path / "readings", 60)
    keep(first, 10)
    second = Spool(tmp_path / "readings", 70)
    assert second.life != first.life
    assert second.next == 1
    assert second.between(1, 100) == []


def test_a_folder_that_is_not_there_is_said_in_one_line(tmp_path):
    with pytest.raises(WattlineError, match="cannot be made: No such file"):
        Spool(tmp_path / "none" / "readings", 60)
