"""Books that write a journal: all that they take, decide and become, and the replay of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.support.choices import planned
from tests.support.told_books import opened, read, told, writing
from tests.support.workloads import compose

from wattline.books import Books, CapChanged, Ended, JournalWriter, Measured, Submitted, carry_on
from wattline.books.encoding import saved_scenario
from wattline.books.journal import JournalLines, read_journal
from wattline.books.replay import replay
from wattline.model.errors import InputError
from wattline.policies.admission.block import Block
from wattline.policies.admission.wait import Wait


def test_another_policy_is_written_into_the_journal_and_repeated_by_the_replay() -> None:
    """`wide` lacks watts under the next policy: it is refused, and the replay refuses it too."""
    books, lines = writing(cap_w_max=1500.0)
    books.step(0, [CapChanged(1500.0), Submitted("a", 8, 100.0), Submitted("wide", 8, 10.0)])
    books.step(1, [Submitted("b", 2, 10.0)])
    books = books.with_policy(compose(admission=Block()), {"name": "capped"})
    decided = told(books.step(50, [Ended("a")]))
    entries = read(lines)
    made = []

    def make(given: Any) -> Any:
        made.append(given)
        return compose(admission=Block())

    same = replay(opened(cap_w_max=1500.0), entries, make)
    plain = replay(opened(cap_w_max=1500.0), [each for each in entries if not each.policy])
    wrong = []
    for maker in (None, lambda given: compose()):
        try:
            replay(opened(cap_w_max=1500.0), entries, maker)
        except InputError as error:
            wrong.append(str(error))
    found = [decided, same.equal, same.decisions, made, plain.equal, wrong]
    decided, equal, decisions, made, without, wrong = found
    assert decided == [["refuse", "wide"], ["start", "b"]]
    assert equal
    assert decisions == 3
    assert made[0]["scenario"] == {"name": "capped"}
    assert "admission=Block" in made[0]["axes"]
    assert not without
    assert "make_policy" in wrong[0]
    assert "admission=NoLimit" in wrong[1]


def test_the_journal_goes_on_with_the_books_that_go_on() -> None:
    """A copy is tried out and writes nothing; after a change the books of before write nothing."""
    books, lines = writing()
    books.step(0, [Submitted("a", 8, 100.0)])
    before = len(lines)
    ahead = books.copy().with_policy(compose(admission=Wait(20.0, 3)))
    ahead.step(5, [Ended("a")])
    tried = len(lines)
    other = books.with_policy(compose(admission=Wait(20.0, 3)))
    books.step(6, [])
    changed = len(lines)
    other.step(7, [Ended("a")])
    found = [before, tried, changed, len(lines)]
    assert found == [2, 2, 3, 4]


def test_a_journal_says_what_was_refused_and_replays_all_the_same() -> None:
    """Twice the same event, an unknown job, a time in the past: none of them is told again."""
    books, lines = writing()
    over = Ended("a")
    books.step(0, [Submitted("a", 2, 10.0)])
    books.step(5, [over, over, Ended("nobody"), "no event"])
    books.step(3, [Submitted("b", 1, 1.0)])
    books.apply(6, [Measured(900.0), Measured(-1.0)])
    books.step(7, [Submitted("c", 3, 1.0)])
    entries = read(lines)
    found = [[each.refused for each in entries], [len(each.events) for each in entries],
             replay(opened(), entries).equal]
    refused, events, equal = found
    assert [len(each) for each in refused] == [0, 3, 1, 1, 0]
    assert "Ended: no job 'nobody' is known" in refused[1]
    assert events == [1, 1, 0, 1, 1]
    assert equal


def test_a_journal_begins_with_empty_books() -> None:
    books = opened()
    books.step(0, [Submitted("a", 8, 100.0)])
    try:
        books.keep_journal(JournalWriter(print))
        result = ""
    except InputError as error:
        result = str(error)
    assert "nothing was told of" in result


def test_a_simulation_that_changes_its_policy_replays_to_the_same_decisions(tmp_path: Path) -> None:
    """From 300 s on watts decide; the journal knows, and the run is another than without."""
    from wattline.scenario.journals import ask_again, run_with_journal

    path = tmp_path / "run.journal"
    first, later = planned("power.none", **{"power.watch_cap": "3kW"}), planned("power.block")
    run = run_with_journal(first, path, changes=[(300.0, later)])
    assert '{"policy":{"axes":' in path.read_text()
    assert ask_again(path).equal
    assert ask_again(path).complete
    alone = run_with_journal(first, tmp_path / "alone.journal")
    assert (run.schedule.start_s != alone.schedule.start_s).any()
    before = alone.schedule.start_s < 300.0
    assert (run.schedule.start_s[before] == alone.schedule.start_s[before]).all()


def test_a_journal_with_a_value_beyond_all_bounds_is_refused_in_one_line() -> None:
    """One that no array holds is named with its line, wherever it stands."""
    result = []
    huge = "1" + "0" * 400
    for line in (f'[{huge},[]]',
                 f'[0.0,[["submitted",{{"job":1,"units":1,"requested_s":{huge}}}]]]',
                 f'[0.0,[["submitted",{{"job":1,"units":1,"requested_s":1,"procs":{2**70}}}]]]',
                 f'[0.0,[["capchanged",{{"watts":{huge}}}]]]',
                 f'[0.0,[],[["start",1,{huge},0,{{}}]]]'):
        head = JournalLines().head({"start_s": 0.0, "cap_w_max": 1.0})
        try:
            list(read_journal(f"{head}00000000 {line}\n", "day.journal").entries())
        except InputError as error:
            result.append(str(error))
    assert len(result) == 5
    assert all(each.startswith("day.journal, line 2: ") for each in result)
    assert all("\n" not in each and len(each) < 250 for each in result)


class Saved:
    """Books that were saved at 1 s, and go on with their journal."""

    def __init__(self) -> None:
        self.books, self.lines = writing(cap_w_max=1500.0)
        self.books.step(0, [CapChanged(1500.0), Submitted("a", 8, 100.0, application="lu")])
        self.books.step(1, [Submitted("b", 2, 10.0, application="bt"), Ended("nobody")])
        self.bytes = self.books.save()

    def loaded(self) -> Books:
        return Books.load(self.bytes, self.books.machine, compose(), self.books.terms)

    def journal(self) -> Any:
        return read_journal("".join(self.lines), "journal")


def refusal(*given: Any) -> str:
    with pytest.raises(InputError) as refused:
        carry_on(*given)
    return str(refused.value)


def test_loaded_books_catch_up_with_their_journal_and_write_on_in_it() -> None:
    """As after a crash: the books were saved at 1 s, the journal goes on to 50 s."""
    kept = Saved()
    books, lines = kept.books, kept.lines
    books.step(20, [Submitted("c", 2, 10.0, application="lu")])
    decided = books.step(50, [Ended("a")])
    behind = kept.journal()
    other = carry_on(kept.loaded(), behind, lines.append)
    told_then = [told(other.step(61, [Ended("b")])), other.now_s, other.energy_j]
    other.journal.end()
    whole = kept.journal()
    same = replay(opened(cap_w_max=1500.0), list(whole.entries()))
    books.journal = None
    books.step(61, [Ended("b")])
    found = [told(decided), told_then, same.equal, whole.damaged, whole.complete, books.energy_j]
    decided, (then, now_s, energy_j), equal, damaged, complete, unbroken_j = found
    assert decided == [["start", "b"], ["start", "c"]]
    assert then == []
    assert now_s == 61
    assert energy_j == unbroken_j
    assert equal
    assert complete
    assert damaged == []


def test_a_journal_that_is_not_theirs_is_refused_by_loaded_books() -> None:
    kept = Saved()
    books, lines, loaded = kept.books, kept.lines, kept.loaded
    own = kept.journal()
    of_others = read_journal("".join(lines[:2]), "journal")
    changed = read_journal("".join(lines).replace('"b"', '"x"', 1), "journal")
    without = opened()
    result = [refusal(loaded(), of_others, print), refusal(loaded(), changed, print),
              refusal(without, own, print)]
    books.step(50, [Ended("a")])
    books.journal.end()
    result.append(refusal(loaded(), kept.journal(), print))
    assert "does not hold" in result[0]
    assert "line 3 was changed" in result[1]
    assert "no journal" in result[2]
    assert "came to its end" in result[3]


def test_a_line_that_was_cut_off_is_named_and_can_be_cut_from_the_file() -> None:
    kept = Saved()
    books, lines = kept.books, kept.lines
    books.step(20, [Submitted("c", 2, 10.0)])
    text = "".join(lines)
    torn = read_journal(text[:-9], "journal")
    whole = text[:-9].removesuffix(torn.torn)
    lines[:] = [whole]
    other = carry_on(kept.loaded(), torn, lines.append)
    other.step(20, [Submitted("c", 2, 10.0)])
    found = ["".join(lines) == text, torn.damaged]
    assert found == [True, [4]]


def test_a_journal_is_read_from_where_books_were_saved_and_the_bytes_name_the_scenario() -> None:
    books, lines = writing()
    for second in range(4):
        books.step(second, [Submitted(second, 1, 100.0)])
    bytes_before = books.save()
    books = books.with_policy(compose(admission=Block()), {"name": "capped"})
    bytes_then = books.save()
    at, place = len(lines), books.journal.position
    books.step(9, [Ended(0)])
    journal = read_journal("".join(lines) + "deadbeef [10", "journal")
    rest = journal.after(place)
    entries = list(rest.entries())
    nowhere = journal.after((place[0], place[1] ^ 1))
    found = [saved_scenario(bytes_before), saved_scenario(bytes_then), len(entries),
             entries[0].time_s, rest.damaged, list(rest.position) == list(books.journal.position),
             nowhere is journal, len(lines) - at]
    before, then, entries, time_s, damaged, at_its_end, whole, written = found
    assert (before, then) == (None, {"name": "capped"})
    assert (entries, written) == (1, 1)
    assert time_s == 9.0
    assert damaged == [8]  # only the line that is being written
    assert at_its_end
    assert whole
