"""Tests that reach a file, on a package of a few lines."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.reaching import ROOT, Reaching

SOURCES = {
    "src/wattline/__init__.py": "from wattline.books import Books\nfrom wattline.far import far\n"
                                "__all__ = ['Books', 'far']\n",
    "src/wattline/books/__init__.py": "from wattline.books.keeping import Books\n",
    "src/wattline/books/keeping.py": "from wattline.near import near\nclass Books: pass\n",
    "src/wattline/near.py": "def near():\n    from wattline.far import far\n    return far()\n",
    "src/wattline/far.py": "def far(): pass\n",
    "src/wattline/loaded.py": "TABLE = 'prices.csv'\n",
    "src/wattline/alone.py": "",
    "src/wattline/policies/__init__.py": "",
    "src/wattline/policies/registry.py": "BUILT_IN = {'order.odd': 'order.odd_setup:ODD'}\n",
    "src/wattline/policies/order/odd_setup.py": "ODD = 1\n",
    "src/wattline/cli/main.py": "def main(): pass\n",
    "src/wattline/cli/study_esp.py": "from wattline.far import far\n",
    "tests/conftest.py": "import wattline.alone\n",
    "tests/unit/conftest.py": "import wattline.loaded\n",
    "tests/unit/test_books.py": "from wattline.books import Books\n",
    "tests/unit/test_helped.py": "from tests.support.helping import help\n",
    "tests/unit/test_short.py": "import wattline as wl\nwl.far()\n",
    "tests/unit/test_words.py": '"""wattline.alone"""\nFIGURE = "a.b"\nSAID = "near"\n',
    "tests/other/test_code.py": "RUN('from wattline.near import near\\nprint(near())')\n",
    "tests/other/test_command.py": "from tests.support.commands import ok\nok('study', 'esp')\n",
    "tests/other/test_registry.py": "from wattline.policies.registry import BUILT_IN\n",
    "tests/other/test_patched.py": "patch('wattline.near.near')\n",
    "tests/support/helping.py": "from tests.support.below import helper\n",
    "tests/support/below.py": "def helper():\n    import wattline.near\n",
    "tests/support/commands.py": "from wattline.cli.main import main\n",
}


@pytest.fixture
def reaching(tmp_path: Path) -> Reaching:
    for name, text in SOURCES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Reaching(tmp_path)


@pytest.mark.parametrize(("path", "tests"), [
    # What a package hands on is reached where it is defined, not by all that use the package.
    ("src/wattline/books/keeping.py", {"unit/test_books.py": 0}),
    # Through helpers of the tests, code in strings and names of modules in them; and through
    # one module of the package.
    ("src/wattline/near.py", {"other/test_code.py": 0, "other/test_patched.py": 0,
                              "unit/test_helped.py": 0, "unit/test_books.py": 1}),
    # `wl.far` reaches it itself, the command through its module.
    ("src/wattline/far.py", {"unit/test_short.py": 0, "other/test_command.py": 1,
                             "other/test_code.py": 1, "other/test_patched.py": 1,
                             "unit/test_helped.py": 1, "unit/test_books.py": 2}),
    ("src/wattline/cli/study_esp.py", {"other/test_command.py": 0}),
    ("src/wattline/policies/order/odd_setup.py", {"other/test_registry.py": 1}),
    # A conftest counts for the tests beside and below it, that of all tests for none.
    ("src/wattline/loaded.py", dict.fromkeys(
        ("unit/test_books.py", "unit/test_helped.py", "unit/test_short.py",
         "unit/test_words.py"), 0)),
    ("src/wattline/alone.py", {}),
    ("src/wattline/policies/__init__.py", {}),
    # A table is reached as the module that names it is.
    ("src/wattline/prices.csv", dict.fromkeys(
        ("unit/test_books.py", "unit/test_helped.py", "unit/test_short.py",
         "unit/test_words.py"), 0)),
    ("tests/support/below.py", {"unit/test_helped.py": 0}),
    ("tests/unit/test_words.py", {"unit/test_words.py": 0}),
    ("README.md", {}),
])
def test_a_file_is_reached_by_the_tests_that_use_it_at_any_distance(
        reaching: Reaching, path: str, tests: dict[str, int]) -> None:
    assert reaching.tests_of(path) == {f"tests/{name}": between for name, between in tests.items()}


def test_the_nearest_are_those_with_the_fewest_files_between(reaching: Reaching) -> None:
    found = list(reaching.tests_of("src/wattline/far.py").values())
    assert found == sorted(found)
    assert reaching.nearest("src/wattline/far.py") == ["tests/unit/test_short.py"]
    assert reaching.nearest("src/wattline/policies/order/odd_setup.py") == [
        "tests/other/test_registry.py"]
    assert reaching.nearest("src/wattline/alone.py") == []


def test_a_file_that_was_changed_is_read_again(reaching: Reaching) -> None:
    assert reaching.nearest("src/wattline/alone.py") == []
    (reaching.root / "tests/unit/test_new.py").write_text("import wattline.alone\n")
    (reaching.root / "tests/unit/test_books.py").write_text("import wattline.alone as one\n")
    (reaching.root / "tests/unit/test_short.py").unlink()
    again = Reaching(reaching.root)
    assert again.nearest("src/wattline/alone.py") == ["tests/unit/test_books.py",
                                                      "tests/unit/test_new.py"]
    assert again.tests_of("src/wattline/books/keeping.py") == {}
    assert "tests/unit/test_short.py" not in again.tests_of("src/wattline/far.py")


def test_it_answers_for_the_files_it_is_started_with() -> None:
    done = subprocess.run([sys.executable, "-m", "tests.support.reaching",
                           "src/wattline/policies/backfill/easy.py"],
                          cwd=ROOT, check=True, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert "0 tests/property/test_puppet_equivalence.py" in lines
    assert "1 tests/property/test_engine_twins.py" in lines
