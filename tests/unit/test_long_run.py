"""The long run can be shared, stopped and gone on with, and says what it did."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from tests.support.long_run import (
    BEGIN,
    END,
    PAGE,
    Notes,
    Proved,
    Result,
    carry_out,
    paragraph,
    read,
    recorded,
    share,
)
from tests.support.packing import Bundle, Cases

WORK = [
    [Bundle(("a", "b", "c"), (("a", "b"), ("a", "c"), ("b", "c")))],
    [Bundle(("c", "d"), (("c", "d"),)), Bundle(("c", "d, twice"), (("c", "d, twice"),))],
    [Bundle(("d", "e"), (("d", "e"),))],
]
NAMES = ["a with b", "a with c", "b with c", "c with d", "c with d, twice", "d with e"]


def _notes(file: Path) -> Notes:
    return Notes(file, lambda text: None)


def test_shards_have_every_family_once() -> None:
    parts = [share(WORK, f"{part}/2") for part in (1, 2)]
    assert [*parts[0], *parts[1]] == [WORK[0], WORK[2], WORK[1]]


@pytest.mark.parametrize("shard", ["0/3", "4/3", "3", "a/b", "1/0"])
def test_a_shard_that_is_none_is_refused(shard: str) -> None:
    with pytest.raises(SystemExit, match="like 2/5"):
        share(WORK, shard)


def test_it_goes_on_where_it_stopped(tmp_path) -> None:
    file = tmp_path / "x" / "done.jsonl"
    asked: list[Cases] = []

    def stops_at_the_third(cases: Cases) -> Proved:
        asked.append(cases)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return Proved("starts differ" if cases == ("d", "e") else "same", 2.0)

    with pytest.raises(KeyboardInterrupt):
        carry_out(WORK, _notes(file), [stops_at_the_third])
    assert list(read(file)) == NAMES[:4]
    with file.open("a") as lines:
        lines.write('{"pair": "cut o\n')  # it died while it wrote
    notes = _notes(file)
    carry_out(WORK, notes, [stops_at_the_third])
    assert asked == [("a", "b", "c"), ("c", "d"), ("c", "d, twice"), ("c", "d, twice"), ("d", "e")]
    assert list(read(file)) == NAMES
    assert notes.wrong() == 1
    again = _notes(file)
    carry_out(WORK, again, [stops_at_the_third])
    assert len(asked) == 5
    assert again.wrong() == 1  # what was wrong stays so


def test_two_provers_work_at_the_same_time_and_each_has_its_own_families(tmp_path) -> None:
    both = threading.Barrier(2, timeout=20.0)
    asked: dict[int, list[Cases]] = {0: [], 1: []}

    def prover(number: int):
        def prove(cases: Cases) -> Proved:
            if not asked[number]:
                both.wait()
            asked[number].append(cases)
            return Proved("same", 1.0)

        return prove

    file = tmp_path / "done.jsonl"
    carry_out(WORK, _notes(file), [prover(0), prover(1)])
    assert sorted(read(file)) == sorted(NAMES)
    assert sum(map(len, asked.values())) == 4


def test_the_time_of_a_composition_is_counted_once(tmp_path) -> None:
    file = tmp_path / "done.jsonl"
    carry_out(WORK, _notes(file), [lambda cases: Proved("same", 2.0)])
    assert sum(result.cpu_s for result in read(file).values()) == 8.0
    assert read(file)["b with c"].composition == "a with b with c"


def test_what_is_recorded_says_what_was_tried_and_what_was_not() -> None:
    results = [Result("a with b", "same", "a with b", 1800.0, "2026-01-01T10:00:00"),
               Result("b with c", "refused: no room", "b with c", 0.0, "2026-01-02T10:00:00"),
               Result("c with d", "IndexError", "c with d", 1800.0, "2026-01-02T11:00:00")]
    assert paragraph(results, 9).replace("\n", " ") == (
        "Last run: 2026-01-01 to 2026-01-02, not finished. Of 9 pairs 3 were tried: 1 decided the "
        "same, 1 are refused, 1 were wrong; 1 compositions, 60 minutes of processor time.")
    assert "not finished" not in paragraph(results, 3)
    three = "a with b with c"
    worse = Result(three, "starts differ", three, 0.0, "2026-01-02T11:00:00")
    said = paragraph([*results, worse], 9)
    assert said.endswith("1 compositions were wrong whose pairs are not.")
    assert paragraph([], 9).startswith("Last run: never, not finished. Of 9 pairs 0 were tried")


def test_the_page_has_a_place_for_it() -> None:
    page = recorded(PAGE.read_text(encoding="utf-8"), "Done.")
    assert page.count(f"{BEGIN}\nDone.\n{END}") == 1
    with pytest.raises(SystemExit, match="lacks the marks"):
        recorded("no marks", "Done.")
