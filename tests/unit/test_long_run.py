"""The long run can be shared, stopped and gone on with, and says what it did."""

from __future__ import annotations

import pytest
from tests.support.long_run import (
    BEGIN,
    END,
    PAGE,
    Result,
    carry_out,
    paragraph,
    read,
    recorded,
    share,
)

NAMES = ["a with b", "a with c", "b with c", "c with d", "d with e"]


def test_shards_have_every_pair_once() -> None:
    parts = [share(NAMES, f"{part}/3") for part in (1, 2, 3)]
    assert sorted(name for part in parts for name in part) == NAMES
    assert max(map(len, parts)) == 2


@pytest.mark.parametrize("shard", ["0/3", "4/3", "3", "a/b", "1/0"])
def test_a_shard_that_is_none_is_refused(shard: str) -> None:
    with pytest.raises(SystemExit, match="like 2/5"):
        share(NAMES, shard)


def test_it_goes_on_where_it_stopped(tmp_path) -> None:
    file, said, asked = tmp_path / "x" / "done.jsonl", [], []

    def stops_at_the_third(name: str) -> str:
        asked.append(name)
        if name == NAMES[2] and asked.count(name) == 1:
            raise KeyboardInterrupt
        return "starts differ" if name == NAMES[3] else "same"

    with pytest.raises(KeyboardInterrupt):
        carry_out(NAMES, file, stops_at_the_third, said.append)
    assert list(read(file)) == NAMES[:2]
    with file.open("a") as lines:
        lines.write('{"pair": "cut o')  # it died while it wrote
    with file.open("a") as lines:
        lines.write("\n")
    assert carry_out(NAMES, file, stops_at_the_third, said.append) == 1
    assert asked == [*NAMES[:3], *NAMES[2:]]
    assert list(read(file)) == NAMES
    assert said[-1].startswith("[3/3] d with e: same")
    assert carry_out(NAMES, file, stops_at_the_third, said.append) == 1  # what was wrong stays so
    assert len(asked) == 6


def test_what_is_recorded_says_what_was_tried_and_what_was_not() -> None:
    results = [Result("a", "same", 1800.0, "2026-01-01T10:00:00"),
               Result("b", "refused", 0.0, "2026-01-02T10:00:00"),
               Result("c", "IndexError", 1800.0, "2026-01-02T11:00:00")]
    assert paragraph(results, 9) == (
        "Last run: 2026-01-01 to 2026-01-02. Of 9 pairs 3 were tried: 1 decided the same, "
        "1 are refused, 1 were wrong; 1.0 hours.")
    assert paragraph([], 9).startswith("Last run: never. Of 9 pairs 0 were tried")


def test_the_page_has_a_place_for_it() -> None:
    page = recorded(PAGE.read_text(encoding="utf-8"), "Done.")
    assert page.count(f"{BEGIN}\nDone.\n{END}") == 1
    with pytest.raises(SystemExit, match="lacks the marks"):
        recorded("no marks", "Done.")
