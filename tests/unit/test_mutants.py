"""The tables of wrong changes hold, and what tries them tells a change that is found from others.

`make test-mutants` tries the changes themselves.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import pytest
from tests.support.mutants.__main__ import PAGE, Trial, changed_since, chosen, record
from tests.support.mutants.results import BEGIN, END, Kept, Result, as_json, as_text, read, scores
from tests.support.mutants.table import (
    PACKAGE,
    Mistake,
    Mutant,
    differs,
    is_test,
    mistakes,
    read_table,
    read_tables,
)
from tests.support.mutants.trying import (
    ELSEWHERE,
    ENDLESS,
    EQUIVALENT,
    FAILS_ANYWAY,
    KILLED,
    SURVIVED,
    TOLD_APART,
    Copy,
    Ran,
    Tried,
    attempt,
)
from tests.support.plain import ROOT

MUTANTS = read_tables()
ROOMS = sorted(path.name for path in (ROOT / PACKAGE).iterdir() if (path / "__init__.py").is_file())
FEWEST, IN_A_ROOM = 200, 4


@pytest.mark.parametrize("room", ROOMS)
def test_every_row_can_be_tried(room: str) -> None:
    """Its old text stands there once, the new one is other code, and its test is there: whoever
    changes a rule moves the changes that break it."""
    rows = [mutant for mutant in MUTANTS if mutant.room == room]
    assert [f"{row.wrong}: {said}" for row in rows for said in mistakes(row)] == []
    assert len(rows) >= IN_A_ROOM


def test_there_are_enough_rows_and_each_says_something_of_its_own() -> None:
    assert {mutant.room for mutant in MUTANTS} == set(ROOMS)
    assert len(MUTANTS) >= FEWEST
    assert [said for said, times in Counter(each.wrong for each in MUTANTS).items()
            if times > 1] == []


CODE = "def double(x):\n    while x < 0:\n        x += 1\n    return 2 * x\n"
TESTS = """
from wattline.a.b import double

def test_two() -> None:
    assert double(1) == 2

def test_none() -> None:
    assert double(0) == 0

def test_below() -> None:
    assert double(-1) == 0

def test_wrong() -> None:
    assert False
"""
TWO, NONE, BELOW, ODD = (f"tests/test_b.py::test_{name}"
                         for name in ("two", "none", "below", "wrong"))


def _mutant(old: str, new: str, killed_by: str = TWO, equivalent: str = "") -> Mutant:
    return Mutant("a", "a/b.py", old, new, f"{new} for {old}", killed_by, equivalent)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package of one function, with its tests, in a repository."""
    root = tmp_path_factory.mktemp("checkout")
    for name, text in {"src/wattline/__init__.py": "", "src/wattline/a/__init__.py": "",
                       "src/wattline/a/b.py": CODE, "tests/test_b.py": TESTS,
                       ".gitignore": "ignored\n__pycache__\n"}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "pytest.ini").write_text("[pytest]\nmarkers =\n    compiled\n    waits\n    servers\n"
                                     "    browser\n    long\n")
    for words in (["init", "-q"], ["add", "."],
                  ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"]):
        subprocess.run(["git", *words], cwd=root, check=True)
    return root


@pytest.mark.parametrize(("mutant", "said"), [
    (_mutant("2 * x", "3 * x"), ""),
    (_mutant("return", "return"), "the code is the same with the change"),
    (_mutant("2 * x\n", "2 * x  # twice\n"), "the code is the same with the change"),
    (_mutant("x", "y"), "a/b.py: y for x: the old text stands there 4 times"),
    (_mutant("3 * x", "x"), "a/b.py: x for 3 * x: the old text stands there 0 times"),
    (_mutant("2 * x", "2 *"), "invalid syntax (<unknown>, line 4)"),
    (_mutant("2 * x", "x", "tests/test_b.py::test_three"),
     "tests/test_b.py::test_three is no test"),
    (_mutant("2 * x", "x", "tests/test_b.py"), "tests/test_b.py is no test"),
    (_mutant("2 * x", "x", ""),
     "name the test that fails under it, or why none can, and not both"),
    (_mutant("2 * x", "x", TWO, "as good"),
     "name the test that fails under it, or why none can, and not both"),
    (Mutant("c", "a/b.py", "2 * x", "x", "it is wrong", TWO), "a/b.py is no file of the room c"),
    (Mutant("a", "a/c.py", "2 * x", "x", "it is wrong", TWO), "src/wattline/a/c.py is no file"),
])
def test_a_row_that_would_show_nothing_is_told(checkout: Path, mutant: Mutant, said: str) -> None:
    assert list(mistakes(mutant, checkout)) == ([said] if said else [])


def test_a_row_is_read_as_it_is_written_and_an_unknown_field_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "a.toml"
    row = '[[mutant]]\nfile = "a/b.py"\nold = "2 * x"\nnew = "x"\nwrong = "w"\nkilled_by = "t"\n'
    table.write_text(row)
    assert read_table(table) == [Mutant("a", "a/b.py", "2 * x", "x", "w", "t")]
    table.write_text(row + "kiled_by = 'u'\n")
    with pytest.raises(Mistake, match=r"a\.toml: .*kiled_by"):
        read_table(table)


def test_tests_in_classes_and_cases_of_tests_are_found(tmp_path: Path) -> None:
    (tmp_path / "test_c.py").write_text("class TestC:\n    def test_d(self):\n        pass\n")
    assert is_test("test_c.py::TestC::test_d[1-2]", tmp_path)
    assert not is_test("test_c.py::test_d", tmp_path)
    assert not differs("x = (1)", "x = 1")


class StandIn:
    """In place of a copy: it is told which tests fail, with the change and without it."""

    def __init__(self, with_it: Mapping[str, int | None], anyway: Sequence[str] = ()) -> None:
        self._with_it, self._anyway, self._changed = with_it, anyway, False
        self.asked: list[str] = []

    @contextmanager
    def having(self, mutant: Mutant) -> Iterator[None]:
        self._changed = True
        yield
        self._changed = False

    def run(self, tests: Sequence[str], limit_s: float) -> Ran:
        self.asked += [word for word in tests if word.startswith("tests/")]
        left_out = {tests[place + 1] for place, word in enumerate(tests) if word == "--deselect"}
        failing = {**dict.fromkeys(self._anyway, 1), **(self._with_it if self._changed else {})}
        for name, status in failing.items():
            if name not in left_out and any(name.startswith(word) for word in tests):
                return Ran(status, () if status is None else (name,))
        return Ran(0, ())


@pytest.mark.parametrize(("mutant", "with_it", "anyway", "outcome", "test"), [
    (_mutant("a", "b"), {TWO: 1}, [], KILLED, TWO),
    (_mutant("a", "b"), {TWO: None}, [], ENDLESS, TWO),
    (_mutant("a", "b"), {NONE: 1}, [], ELSEWHERE, NONE),
    (_mutant("a", "b"), {NONE: 1}, [ODD], ELSEWHERE, NONE),
    (_mutant("a", "b"), {}, [], SURVIVED, ""),
    (_mutant("a", "b"), {}, [ODD], SURVIVED, ""),
    (_mutant("a", "b"), {"tests/test_c.py": None}, [], SURVIVED, ""),
    (_mutant("a", "b", "", "the same"), {}, [], EQUIVALENT, ""),
    (_mutant("a", "b", "", "the same"), {NONE: 1}, [], TOLD_APART, NONE),
])
def test_what_became_of_a_change_is_told(
    mutant: Mutant, with_it: Mapping[str, int | None], anyway: Sequence[str], outcome: str,
    test: str,
) -> None:
    """A test that fails without the change too is passed over; other tests than the named one that
    do not end in time show nothing."""
    copy = StandIn(with_it, anyway)
    files = ["tests/test_b.py", "tests/test_c.py"]
    found = attempt(cast(Copy, copy), mutant, lambda mutant: files, 60.0)
    assert found == Tried(outcome, test)


def test_files_are_read_few_at_a_time_up_to_the_first_that_finds_the_change() -> None:
    files = [f"tests/test_{number}.py" for number in range(40)]
    copy = StandIn({"tests/test_7.py::test_x": 1})
    found = attempt(cast(Copy, copy), _mutant("a", "b"), lambda mutant: files, 60.0)
    assert found == Tried(ELSEWHERE, "tests/test_7.py::test_x")
    assert copy.asked == [TWO, *files[:6], *files[6:18], "tests/test_7.py::test_x"]


def test_a_change_is_tried_in_a_copy_and_one_that_never_ends_is_ended(
    checkout: Path, tmp_path: Path
) -> None:
    mutants = [_mutant("2 * x", "3 * x"), _mutant("x += 1", "x += 0", BELOW),
               _mutant("2 * x", "x", ODD), _mutant("x < 0", "x < 0.0", "", "the same")]
    before = sorted((path, path.read_text()) for path in checkout.rglob("*.py"))
    found: list[Result] = []
    Trial(tmp_path, 1, 4.0, checkout).run(mutants, found.append, lambda mutant: [])
    assert sorted((each.test, each.outcome, each.is_wrong) for each in found) == sorted([
        (TWO, KILLED, False), (BELOW, ENDLESS, False), (ODD, FAILS_ANYWAY, True),
        ("", EQUIVALENT, False)])
    assert sorted((path, path.read_text()) for path in checkout.rglob("*.py")) == before


def _result(room: str, outcome: str, key: str = "k") -> Result:
    return Result(key, room, f"{room}/b.py", "it is wrong", outcome, TWO, 1.0, "2026-01-02T03:04")


RESULTS = [_result("a", KILLED), _result("a", ELSEWHERE), _result("a", SURVIVED),
           _result("a", EQUIVALENT), _result("b", ENDLESS), _result("b", FAILS_ANYWAY)]


def test_the_score_is_of_the_changes_that_a_test_can_find() -> None:
    """2 of 3 in a, 1 of 2 in b, 3 of 5 together; the equivalent one counts for neither."""
    found = scores(RESULTS)
    assert [(each.room, each.tried, each.killed, each.survived, each.equivalent)
            for each in found] == [("a", 4, 2, 1, 1), ("b", 2, 1, 1, 0), ("all", 6, 3, 2, 1)]
    assert [each.percent for each in found] == [pytest.approx(200 / 3), 50.0, 60.0]
    assert [each.endless for each in found] == [0, 1, 1]
    assert as_text(found).splitlines()[-1].split() == ["all", "6", "3", "2", "1", "60%"]
    said = json.loads(as_json(RESULTS))
    assert said["scores"][1]["score_percent"] == 50.0
    assert said["results"][5]["outcome"] == FAILS_ANYWAY


def test_what_was_tried_is_known_to_a_later_call(tmp_path: Path) -> None:
    file = tmp_path / "x" / "results.jsonl"
    kept = Kept(file)
    kept.add(_result("a", KILLED, "one"))
    kept.add(_result("a", SURVIVED, "two"))
    with file.open("a") as lines:
        lines.write('{"key": "cut o')
    assert {key: each.outcome for key, each in read(file).items()} == {
        "one": KILLED, "two": SURVIVED}
    assert Kept(file).known == kept.known


def test_a_row_is_tried_again_where_it_its_file_or_its_test_has_changed(tmp_path: Path) -> None:
    for name in ("src/wattline/a/b.py", "tests/test_b.py"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("1")
    mutant = _mutant("2", "3")
    keys = [mutant.key(tmp_path), _mutant("2", "4").key(tmp_path)]
    for name in ("src/wattline/a/b.py", "tests/test_b.py"):
        (tmp_path / name).write_text("2")
        keys.append(mutant.key(tmp_path))
    assert len(set(keys)) == 4


def test_rows_are_chosen_by_room_by_what_changed_and_by_part() -> None:
    one = _mutant("2", "3")
    other = Mutant("c", "c/d.py", "2", "3", "w", "tests/test_d.py::test_d")
    assert chosen([one, other], ["c"], None, "1/1") == [other]
    assert chosen([one, other], [], {"src/wattline/a/b.py"}, "1/1") == [one]
    assert chosen([one, other], [], {"tests/test_d.py"}, "1/1") == [other]
    assert chosen([one, other], [], {"tests/mutants/a.toml", "README.md"}, "1/1") == [one]
    assert chosen([one, other], [], None, "2/2") == [other]
    with pytest.raises(SystemExit, match="--only e: no such room; there are a, c"):
        chosen([one, other], ["e"], None, "1/1")


def test_what_git_says_changed_has_new_files_and_none_that_it_ignores(checkout: Path) -> None:
    (checkout / "new.txt").write_text("")
    (checkout / "ignored").write_text("")
    assert changed_since("HEAD", checkout) == {"new.txt"}
    with pytest.raises(SystemExit, match="--changed nothing: fatal: "):
        changed_since("nothing", checkout)


def test_the_scores_are_recorded_between_the_marks_of_a_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    record(page, [_result("account", KILLED), _result("petri", SURVIVED)], 3)
    assert page.read_text() == f"""before
{BEGIN}
Last run: 2026-01-02, 2 of 3 changes.

| room | changes | killed | survived | equivalent | score | first sample |
|---|---|---|---|---|---|---|
| account | 1 | 1 | 0 | 0 | 100 % | 7 of 11 |
| petri | 1 | 0 | 1 | 0 | 0 % |  |
| all | 2 | 1 | 1 | 0 | 50 % | 75 of 115 |
{END}
after
"""
    assert PAGE.read_text(encoding="utf-8").count(f"{BEGIN}\n") == 1
    page.write_text("")
    with pytest.raises(SystemExit, match=r"page\.md lacks the marks"):
        record(page, RESULTS, 6)
