"""`make check` finds what was changed, and chooses the tests that reach it."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
from scripts.check_changes import ALWAYS, CHEAP_S, GUARDED, Choice, changed, choose, said, steps
from tests.support.plain import ROOT
from tests.support.reaching import Reaching

SOURCES = {
    "src/wattline/near.py": "",
    "src/wattline/far.py": "import wattline.near\n",
    "tests/unit/cli/test_near.py": "import wattline.near\n",
    "tests/unit/cli/test_near_slow.py": "import wattline.near\n",
    "tests/unit/cli/test_far.py": "import wattline.far\n",
    "tests/unit/cli/test_other.py": "",
    "tests/unit/policies/test_order.py": "",
    "tests/property/test_cheap.py": "",
    "tests/property/test_dear.py": "",
    "tests/docs/test_prose.py": "",
    "tests/slurm/test_real.py": "import wattline.near\n",
}
CORE = ("tests/property/test_cheap.py", "tests/unit/policies/test_order.py")


@pytest.fixture
def reaching(tmp_path: Path) -> Reaching:
    for name, text in SOURCES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Reaching(tmp_path)


TOOK_S = {"tests/unit/cli/test_near_slow.py": 30.0, "tests/property/test_dear.py": CHEAP_S + 0.1}


@pytest.mark.parametrize(("files", "seconds", "found", "beyond"), [
    ([], 60.0, [], []),
    (["LICENSE"], 60.0, [], []),
    (["src/wattline/far.py"], 60.0, ["far"], []),
    # Those that import it first, the slow ones among them last.
    (["src/wattline/near.py"], 60.0, ["near", "near_slow", "far"], []),
    # With 10 s there is time for two files of a second each, not for one of thirty.
    (["src/wattline/near.py"], 10.0, ["near", "far"], ["near_slow"]),
    (["src/wattline/near.py"], 1.5, ["near"], ["near_slow", "far"]),
    # What was changed itself is always run.
    (["tests/unit/cli/test_near_slow.py"], 10.0, ["near_slow"], []),
    (["tests/unit/cli/test_other.py", "src/wattline/far.py"], 0.0, ["other"], ["far"]),
])
def test_what_reaches_a_change_is_chosen_nearest_first_while_there_is_time(
        reaching: Reaching, files: list[str], seconds: float, found: list[str],
        beyond: list[str]) -> None:
    choice = choose(files, reaching, defaultdict(lambda: 1.0, TOOK_S), seconds)
    assert choice == Choice(CORE, tuple(f"tests/unit/cli/test_{name}.py" for name in found),
                            tuple(f"tests/unit/cli/test_{name}.py" for name in beyond))


def test_a_page_is_looked_at_by_the_tests_of_pages(reaching: Reaching) -> None:
    took_s = defaultdict(lambda: 1.0, TOOK_S)
    assert choose(["docs/books.md"], reaching, took_s).reaching == ("tests/docs/test_prose.py",)


def test_every_place_that_is_named_is_there() -> None:
    named = {place for tests in GUARDED.values() for place in tests} | {*GUARDED, *ALWAYS}
    assert [place for place in sorted(named) if not (ROOT / place).exists()] == []


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=folder,
                   check=True, capture_output=True)


def test_changes_are_those_since_the_branch_left_and_new_files(tmp_path: Path) -> None:
    git(tmp_path, "init", "-b", "main")
    for name in ("kept", "edited", "committed", "gone"):
        (tmp_path / name).write_text("1")
    (tmp_path / ".gitignore").write_text("ignored\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "first")
    git(tmp_path, "checkout", "-b", "work")
    (tmp_path / "committed").write_text("2")
    git(tmp_path, "commit", "-am", "second")
    (tmp_path / "edited").write_text("2")
    (tmp_path / "gone").unlink()
    for name in ("new", "ignored"):
        (tmp_path / name).write_text("1")
    assert changed(root=tmp_path) == ["committed", "edited", "gone", "new"]
    assert changed("HEAD", tmp_path) == ["edited", "gone", "new"]
    git(tmp_path, "checkout", "main", "-f")
    assert changed(root=tmp_path) == ["new"]  # on main itself: since the last commit
    with pytest.raises(SystemExit, match="no-such-commit"):
        changed("no-such-commit", tmp_path)


def test_it_says_what_is_left_to_the_whole_run() -> None:
    some = Choice(("a",), ("tests/unit/account/test_stores.py",
                           "tests/unit/live/agent/test_with_a_broker.py"), ("b", "c"))
    text = said(some, 3)
    assert "3 changed files: 1 test files of the core, and 2 that reach a change" in text
    assert "2 more reach one" in text
    assert "waits in these files is left to make test" in text
    assert "left to" not in said(Choice(("a",)), 0)


def test_style_layers_and_types_run_as_before_a_commit() -> None:
    planned = steps(["tests/unit/cli/test_near.py"])
    assert [step.name for step in planned] == ["style", "layers", "types", "plain"]
    assert planned[-1].command[-1] == "tests/unit/cli/test_near.py"
    assert planned[-1].environment["WATTLINE_PLAIN"] == "1"


def test_what_seldom_changes_is_run_where_it_is_reached() -> None:
    names = [step.name for step in steps(["tests/unit/model/test_worker_pool.py"])]
    assert names == ["style", "layers", "types", "plain", "seldom"]
