"""The tables of wrong changes: read, and held to what a change needs before it can be tried."""

from __future__ import annotations

import ast
import hashlib
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.support.plain import ROOT

TABLES = ROOT / "tests" / "mutants"
PACKAGE = Path("src") / "wattline"


class Mistake(Exception):
    """A row of a table that cannot be tried, in one line."""


@dataclass(frozen=True)
class Mutant:
    """One wrong change."""

    room: str
    """The first folder of the package, and the name of its table."""
    file: str
    """The changed file below `src/wattline`."""
    old: str
    """Text that stands in the file exactly once."""
    new: str
    wrong: str
    """A sentence: which rule the changed code breaks."""
    killed_by: str = ""
    """The test that has to fail, `tests/.../test_x.py::test_y`."""
    equivalent: str = ""
    """Why no test can tell, for one that needs no test."""

    @property
    def path(self) -> Path:
        return PACKAGE / self.file

    @property
    def module(self) -> str:
        return "wattline." + self.file.removesuffix(".py").replace("/", ".")

    @property
    def test_file(self) -> str:
        return self.killed_by.partition("::")[0]

    def changed(self, text: str) -> str:
        """The text of the file with the change."""
        if (found := text.count(self.old)) != 1:
            raise Mistake(f"{self.file}: {self.wrong}: the old text stands there {found} times")
        return text.replace(self.old, self.new)

    def key(self, root: Path = ROOT) -> str:
        """Of what its outcome depends on first: the row, the changed file and the named test's."""
        said = hashlib.sha256(repr(self).encode())
        for name in (str(self.path), self.test_file):
            if name and (root / name).is_file():
                said.update((root / name).read_bytes())
        return said.hexdigest()[:20]


def read_tables(folder: Path = TABLES) -> list[Mutant]:
    """All rows of all tables, by room."""
    return [mutant for path in sorted(folder.glob("*.toml")) for mutant in read_table(path)]


def read_table(path: Path) -> list[Mutant]:
    """The rows of one room."""
    rows = tomllib.loads(path.read_text(encoding="utf-8")).get("mutant", [])
    try:
        return [Mutant(room=path.stem, **row) for row in rows]
    except TypeError as error:
        raise Mistake(f"{path.name}: {error}") from None


def mistakes(mutant: Mutant, root: Path = ROOT) -> Iterator[str]:
    """Why a row cannot be tried, or would show nothing."""
    if mutant.file.partition("/")[0] != mutant.room:
        yield f"{mutant.file} is no file of the room {mutant.room}"
    if not (root / mutant.path).is_file():
        yield f"{mutant.path} is no file"
        return
    text = (root / mutant.path).read_text(encoding="utf-8")
    try:
        if not differs(text, mutant.changed(text)):
            yield "the code is the same with the change"
    except (Mistake, SyntaxError) as error:
        yield str(error)
    if bool(mutant.killed_by) == bool(mutant.equivalent):
        yield "name the test that fails under it, or why none can, and not both"
    if mutant.killed_by and not is_test(mutant.killed_by, root):
        yield f"{mutant.killed_by} is no test"


def differs(text: str, changed: str) -> bool:
    """Return whether Python reads something else: comments and line breaks are no change."""
    return ast.dump(ast.parse(text)) != ast.dump(ast.parse(changed))


def is_test(name: str, root: Path = ROOT) -> bool:
    """Return whether a file has this test, in the classes that are named before it."""
    file, *names = name.partition("[")[0].split("::")
    return bool(names) and "::".join(names) in tests_of(root / file)


@cache
def tests_of(path: Path) -> frozenset[str]:
    """The tests of a file, those of classes with the class before them."""
    if not path.is_file():
        return frozenset()

    def below(body: list[ast.stmt], before: str) -> Iterator[str]:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield before + node.name
            elif isinstance(node, ast.ClassDef):
                yield from below(node.body, f"{before}{node.name}::")

    return frozenset(below(ast.parse(path.read_text(encoding="utf-8")).body, ""))
