"""Books over restarts: whatever ends a controller, the next one knows what it knew."""

from __future__ import annotations

import errno
import io
import os
from pathlib import Path

import pytest

import wattline as wl
from wattline.books import Books, Cancelled, Ended, NodesDown, Started, Submitted
from wattline.controller.configuration import SiteConfig
from wattline.controller.looking_in import look_in
from wattline.controller.recalling import recall
from wattline.controller.remembering import open_remembered, synced
from wattline.controller.watching import Watcher
from wattline.model.errors import InputError, WattlineError

SITE = SiteConfig(nodes="n[1-4]", node_idle_w=90, node_active_w=300, cap=1000)
JOB = {"units": 2, "requested_s": 600.0, "watts": 500.0}


def begun(folder: Path):
    """Books with a job that runs, one that was asked to start, one that waits; then a kill."""
    kept = open_remembered(SITE, folder, 100.0, act=True)
    kept.books.step(101.0, [Submitted("1", **JOB), NodesDown(nodes=(3,))])
    kept.books.step(102.0, [Started("1", (0, 1))])
    kept.save(kept.books)
    kept.books.step(103.0, [Submitted("2", 1, 600.0, 200.0), Submitted("3.1", **JOB)])
    kept.file.close()
    return kept


def test_a_killed_controller_goes_on_with_the_same_books_and_journal(tmp_path: Path) -> None:
    before = begun(tmp_path)
    again = open_remembered(SITE, tmp_path, 200.0, act=True)
    assert again.remarks == []
    assert (again.books.now_s, again.books.energy_j) == (103.0, before.books.energy_j)
    assert again.books.power_w == before.books.power_w
    again.books.step(110.0, [Ended("1")])
    again.file.close()
    assert len(list(tmp_path.glob("*.journal"))) == 1
    third = open_remembered(SITE, tmp_path, 300.0, act=True)
    assert third.books.now_s == 110.0
    third.file.close()


@pytest.mark.parametrize("saved_after", range(4))
@pytest.mark.parametrize("forgotten_after", [None, 0, 1, 2, 3])
def test_saved_with_jobs_that_are_over_they_are_the_same_books_again(
    tmp_path: Path, saved_after: int, forgotten_after: int | None
) -> None:
    """Forgetting and saving are done at different times, and a kill may come after either."""
    kept = open_remembered(SITE, tmp_path, 100.0, act=True)
    for number in range(4):
        at_s = 110.0 + 10 * number
        kept.books.step(at_s, [Submitted(str(number), **JOB), Submitted(f"{number}+", **JOB)])
        kept.books.step(at_s + 1, [Started(str(number), (0, 1))])
        kept.books.step(at_s + 5, [Ended(str(number)), Cancelled(f"{number}+")])
        if number == forgotten_after:
            kept.books.compact()
        if number == saved_after:
            kept.save_as_they_are(kept.books, at_s + 6)
    kept.close()
    again = open_remembered(SITE, tmp_path, 200.0, act=True)
    again.close()
    assert again.remarks == []
    assert _known(again.books) == _known(kept.books)
    assert all(str(number) in again.books.roll.over for number in range(4))


def _known(books: Books) -> str:
    """All that counts, without what lies in arrays behind it, and what they decide next; as text,
    in which what is not known is equal to itself."""
    books.compact()
    state, rows = books.state, len(books.roll)
    known = [books.now_s, books.energy_j, books.power_w, books.forgotten, books.roll.over,
             books.roll.jobs, state.jobs[:rows].tolist(), state.live[:rows].tolist(),
             state.clock.tolist(), books.record.meter.tolist(), state.node_down.tolist()]
    decided = books.copy().step(300.0, [Submitted("new", **JOB), Submitted("5", **JOB)])
    return repr([*known, decided])


def test_what_was_told_is_known_again_after_a_restart(tmp_path: Path) -> None:
    begun(tmp_path)
    again = open_remembered(SITE, tmp_path, 200.0, act=True)
    watcher = Watcher(SITE.node_names)
    recall(watcher, again.books, 200.0)
    again.file.close()
    assert watcher.down == {"n4"}
    assert [(told.label, told.running, told.nodes) for told in watcher.told.values()] == [
        ("1", True, (0, 1)), ("2", True, (2,)), ("3", False, ())]
    assert [told.asked_s == 200.0 for told in watcher.told.values()] == [False, True, False]


def test_a_line_that_was_cut_off_is_cut_from_the_journal(tmp_path: Path) -> None:
    kept = begun(tmp_path)
    whole = kept.path.read_text()
    kept.path.write_text(whole[:-20])
    again = open_remembered(SITE, tmp_path, 200.0, act=True)
    again.file.close()
    assert again.books.now_s == 102.0
    assert whole.startswith(kept.path.read_text())


def test_a_clean_stop_is_the_end_of_the_journal_and_the_next_start_goes_on_there(
    tmp_path: Path,
) -> None:
    kept = begun(tmp_path)
    assert not wl.replay(kept.path).complete
    again = open_remembered(SITE, tmp_path, 200.0, act=True)
    again.end(again.books)
    again.close()
    found = wl.replay(kept.path)
    assert (found.jobs, found.complete, found.equal) == (3, True, True)
    assert look_in(tmp_path).books.now_s == 103.0
    stopped = kept.path.read_text()
    third = open_remembered(SITE, tmp_path, 300.0, act=True)
    assert third.remarks == []
    third.books.step(301.0, [Ended("1")])
    third.close()
    assert kept.path.read_text().startswith(stopped[: stopped.rindex("\n", 0, -1) + 1])
    found = wl.replay(kept.path)
    assert (found.jobs, found.complete, found.equal) == (3, False, True)


def test_a_journal_that_is_not_gone_on_with_keeps_its_end(tmp_path: Path) -> None:
    kept = open_remembered(SITE, tmp_path, 100.0, act=True)
    kept.books.step(101.0, [Submitted("1", **JOB)])
    kept.end(kept.books)
    kept.close()
    other = open_remembered(SITE.model_copy(update={"cap": 900.0}), tmp_path, 200.0, act=True)
    other.close()
    assert other.path != kept.path
    assert wl.replay(kept.path).complete


def test_another_site_begins_anew_and_says_so(tmp_path: Path) -> None:
    begun(tmp_path)
    other = SITE.model_copy(update={"cap": 900.0})
    again = open_remembered(other, tmp_path, 200.0, act=True)
    again.file.close()
    assert "another site" in again.remarks[0]
    assert again.books.now_s == 200.0


def test_the_books_go_on_in_another_mode(tmp_path: Path) -> None:
    begun(tmp_path)
    before = open_remembered(SITE, tmp_path, 200.0, act=True)
    before.books.step(201.0, [Cancelled("3.1")])
    before.file.close()
    again = open_remembered(SITE.model_copy(update={"mode": "guard"}), tmp_path, 200.0, act=True)
    again.file.close()
    assert again.remarks == []
    watcher = Watcher(SITE.node_names)
    recall(watcher, again.books, 200.0)
    assert watcher.used == {"3.1"}
    assert "3.1" not in watcher.told


def test_books_with_nodes_off_begin_anew_where_slurm_starts_jobs(tmp_path: Path) -> None:
    begun(tmp_path)
    before = open_remembered(SITE, tmp_path, 200.0, act=True)
    before.books.state.clock[0].off = 1
    before.save(before.books)
    before.file.close()
    assert open_remembered(SITE, tmp_path, 201.0, act=True).remarks == []
    guard = SITE.model_copy(update={"mode": "guard"})
    again = open_remembered(guard, tmp_path, 300.0, act=True)
    again.file.close()
    assert "nodes are switched off" in again.remarks[0]
    assert again.books.now_s == 300.0


def test_a_dry_run_leaves_the_books_of_a_controller_alone(tmp_path: Path) -> None:
    before = begun(tmp_path)
    text = before.path.read_text()
    dry = open_remembered(SITE, tmp_path, 200.0, act=False)
    dry.save_as_they_are(dry.books, 1000.0)
    dry.file.close()
    assert sorted(file.suffix for file in tmp_path.iterdir()) == [
        ".books", ".dry", ".journal", ".site"]
    assert before.path.read_text() == text
    assert dry.books.now_s == 200.0


class FullDisk(io.StringIO):
    def flush(self) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_is_one_line_and_nothing_more_is_done() -> None:
    with pytest.raises(WattlineError, match="cannot be written") as found:
        synced(FullDisk(), "x\n")
    assert "\n" not in str(found.value)


def test_a_long_journal_is_gone_on_with_in_another_and_each_replays(tmp_path: Path) -> None:
    kept = open_remembered(SITE, tmp_path, 100.0, act=True)
    kept.largest_bytes, kept.most = 600, 3
    sizes = []
    for number in range(60):
        at_s = 101.0 + 10 * number
        kept.books.step(at_s, [Submitted(str(number), **JOB)])
        kept.books.step(at_s + 1, [Started(str(number), (0, 1))])
        if number == 41:  # a kill, and another controller
            kept.close()
            kept = open_remembered(SITE, tmp_path, at_s + 2, act=True)
            assert kept.remarks == []
            kept.largest_bytes, kept.most = 600, 3
        kept.books.step(at_s + 5, [Ended(str(number))])
        if number % 2:
            kept.books.compact()
            kept.save_as_they_are(kept.books, at_s + 6)
        sizes.append(sum(each.stat().st_size for each in tmp_path.iterdir()))
    kept.close()
    journals = sorted(tmp_path.glob("*.journal"))
    assert len(journals) == 3
    assert len(list(tmp_path.iterdir())) == 3 * 4
    assert max(sizes[30:]) < 1.2 * max(sizes[15:30])
    found = [wl.replay(each) for each in journals]
    assert all(each.equal for each in found)
    assert [each.complete for each in found] == [True, True, False]
    assert found[0].jobs > 0
    assert found[0].result.decisions > 0
    with pytest.raises(InputError, match="goes on from an earlier journal"):
        wl.replay(journals[-1], "bundled:main-capped")
    journals[-1].with_suffix(".begin").unlink()
    with pytest.raises(InputError, match="cannot be read"):
        wl.replay(journals[-1])
