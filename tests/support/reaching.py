"""Files of tests that reach a module: what `make check` and the runner of mutants ask.

`Reaching().tests_of("src/wattline/books/books.py")` has the files of tests that reach a file of the
repository, nearest first, each with the number of files between: 0 imports it itself. It follows
imports (lazy ones too), names that a package hands on, modules and files named in strings, and the
words of commands in tests that call them. What is between in `tests` is not counted: a test that
uses a helper imports what that helper imports.

What was read of each file is kept under `.cache`, by its time and size. `python -m
tests.support.reaching FILE...` prints the answer.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {"src": ("src",), "tests": (), "scripts": (), "examples": ()}
"""The folders with sources, and what of their paths is no part of a module's name."""
HANDS_ON = ("src/wattline/__init__.py", "src/wattline/_places.py")
"""They name every module so that others need not; to use one name is not to use them all."""
PACKAGES = ("wattline", "wattline.policies")
FOR_ALL = ("tests/conftest.py",)
"""Every test has it: what it imports would be reached by all."""
COMMANDS = ("src/wattline/cli/main.py", "src/wattline/cli/start.py")
CALLED = ("wattline.cli.", "wattline.benchmarks.")
"""Module behind the words of a command."""
EXACTLY = "="
"""Before what a string may mean as a module: another one with the same beginning is not meant."""
READ_BY = "3"
"""Changes where files are read in another way, so that what is kept is not believed."""
NAMED = re.compile(r"\b(?:from|import)\s+((?:wattline|tests|scripts)[\w.]*)"
                   r"(?:[ \t]+import[ \t]+\(?([\w, \t]+))?")
DOTTED = re.compile(r"(?:wattline|tests|scripts|examples)(?:\.\w+)+|[a-z_]+(?:\.[a-z_0-9]+)+")
WORD = re.compile(r"[a-z][a-z-]{1,20}")
PLACE = re.compile(r"[\w./*-]*\w\.[a-z][a-z0-9]{0,5}")


@dataclass(frozen=True)
class Read:
    """Names of others in a file of Python."""

    imports: Sequence[str] = ()
    """Dotted names: of modules, or of what is in them."""
    names: tuple[tuple[str, str], ...] = ()
    """Sources of its own names."""
    words: Sequence[str] = ()
    """Strings that may be commands, or names of files."""


def read(text: str, module: str) -> Read:
    """Of a source; `module` is its own dotted name, a package's with `.__init__`."""
    tree = ast.parse(text)
    names: dict[str, str] = {}
    imports: set[str] = set()
    words: set[str] = set()
    nodes = list(ast.walk(tree))
    spoken = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                imports.add(alias.name)
                names[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0])
        elif isinstance(node, ast.ImportFrom):
            place = _from(node, module)
            for alias in node.names:
                imports.add(f"{place}.{alias.name}")
                names[alias.asname or alias.name] = f"{place}.{alias.name}"
    for node in nodes:
        if isinstance(node, ast.Attribute) and (chain := _chain(node)):
            first, _, rest = chain.partition(".")
            if first in names:
                imports.add(f"{names[first]}.{rest}")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) \
                and id(node) not in spoken:
            imports.update(named_in(node.value))
            if WORD.fullmatch(node.value):
                words.add(node.value)
            words.update(PLACE.findall(node.value))
    ours = ("wattline", "tests", "scripts", "examples")
    return Read(
        sorted(name for name in imports if name.strip(EXACTLY).partition(".")[0] in ours),
        tuple(sorted((name, whole) for name, whole in names.items()
                     if whole.partition(".")[0] in ours)),
        sorted(words))


def named_in(text: str) -> Iterator[str]:
    """Modules in a string: the whole of it, or in a piece of code."""
    if DOTTED.fullmatch(place := text.partition(":")[0]):
        yield EXACTLY + place
        yield f"{EXACTLY}wattline.policies.{place}"
    for module, some in NAMED.findall(text):
        yield module
        for name in some.split(","):
            if name.strip():
                yield f"{module}.{name.split()[0]}"


def _from(node: ast.ImportFrom, module: str) -> str:
    base = module.split(".")[: -node.level] if node.level else []
    return ".".join([*base, *([node.module] if node.module else [])])


def _chain(node: ast.Attribute) -> str:
    parts = [node.attr]
    value = node.value
    while isinstance(value, ast.Attribute):
        parts.append(value.attr)
        value = value.value
    return ".".join([value.id, *reversed(parts)]) if isinstance(value, ast.Name) else ""


def module_of(path: str) -> str:
    """The dotted name of a file; of a package with `.__init__`."""
    parts = PurePosixPath(path).with_suffix("").parts
    return ".".join(parts[len(FOLDERS[parts[0]]):])


def is_test(path: str) -> bool:
    return path.startswith("tests/") and PurePosixPath(path).name.startswith("test_")


class Reaching:
    """The sources below a root as they are when first asked."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root

    @cached_property
    def reads(self) -> dict[str, Read]:
        """Return what each file of Python says, by its path below the root."""
        kept_at = self.root / ".cache" / "reaching.json"
        try:
            kept = json.loads(kept_at.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            kept = {}
        found, said = {}, {}
        for path in sorted(path for folder in FOLDERS
                           for path in (self.root / folder).rglob("*.py")):
            name, now = path.relative_to(self.root).as_posix(), path.stat()
            mark = f"{READ_BY} {now.st_mtime_ns} {now.st_size}"
            if kept.get(name, {}).get("mark") == mark:
                one = Read(**{key: value for key, value in kept[name].items() if key != "mark"})
            else:
                one = read(path.read_text(encoding="utf-8"), module_of(name))
            found[name] = one
            said[name] = {"mark": mark, **asdict(one)}
        if said != kept:
            kept_at.parent.mkdir(exist_ok=True)
            new = kept_at.with_suffix(".new")
            new.write_text(json.dumps(said), encoding="utf-8")
            new.replace(kept_at)
        return found

    @cached_property
    def places(self) -> dict[str, str]:
        """The file of each module."""
        return {module_of(path).removesuffix(".__init__"): path for path in self.reads}

    @cached_property
    def handed(self) -> dict[str, dict[str, str]]:
        """Return what the names of a file come from."""
        return {path: dict(one.names) for path, one in self.reads.items()}

    @cached_property
    def imported(self) -> dict[str, set[str]]:
        """The files that each file uses itself."""
        commands = self._commands()
        found: dict[str, set[str]] = {}
        for path, one in self.reads.items():
            reached = {place for name in one.imports if name not in PACKAGES
                       for place in self.files_of(name)}
            if path.startswith("tests/"):
                reached.update(self._conftests(path))
                if self._calls_commands(reached):
                    reached.update(place for word in one.words for place in commands.get(word, ()))
            found[path] = reached - {path}
        return found

    @cached_property
    def used_by(self) -> dict[str, set[str]]:
        """The files that use each file."""
        found: dict[str, set[str]] = {}
        for path, others in self.imported.items():
            if path not in HANDS_ON and path not in FOR_ALL:
                for other in others:
                    found.setdefault(other, set()).add(path)
        return found

    def files_of(self, name: str, depth: int = 5) -> Iterator[str]:
        """Return where a dotted name is defined; packages that hand it on are none of them."""
        if name.startswith(EXACTLY):
            name = name.removeprefix(EXACTLY)
            name = name if name in self.places else name.rpartition(".")[0]
            if name in self.places and name not in PACKAGES:
                yield self.places[name]
            return
        parts = name.split(".")
        for count in range(len(parts), 0, -1):
            path = self.places.get(".".join(parts[:count]))
            if path is None:
                continue
            source = self.handed[path].get(parts[count]) if count < len(parts) else None
            if source and depth and path.endswith("__init__.py"):
                yield from self.files_of(".".join([source, *parts[count + 1:]]), depth - 1)
            else:
                yield path
            return

    def tests_of(self, path: str) -> dict[str, int]:
        """The files of tests that reach a file, nearest first: how many files of the package are
        between. A file that is no Python is reached as those that name it are."""
        seen = {path} if path in self.reads else set(self._naming(path))
        found = dict.fromkeys(filter(is_test, seen), 0)
        now, distance = sorted(seen), 0
        while now:
            later = []
            while now:
                for user in sorted(self.used_by.get(now.pop(), set()) - seen):
                    seen.add(user)
                    if is_test(user):
                        found[user] = distance
                    (now if user.startswith("tests/") else later).append(user)
            now, distance = later, distance + 1
        return dict(sorted(found.items(), key=lambda item: (item[1], item[0])))

    def nearest(self, path: str) -> list[str]:
        """Return those with the fewest files between: that import it themselves, if there are
        any."""
        found = self.tests_of(path)
        return [name for name, between in found.items() if between == min(found.values())]

    def _naming(self, path: str) -> Iterator[str]:
        name = PurePosixPath(path).name
        for file, one in self.reads.items():
            if any(PurePosixPath(word).name == name for word in one.words):
                yield file

    def _commands(self) -> dict[str, set[str]]:
        """By its word, where a command or one of its group lives."""
        found: dict[str, set[str]] = {}
        for module, path in self.places.items():
            if module.startswith(CALLED):
                word = module.rpartition(".")[2].rstrip("_").replace("_", "-")
                found.setdefault(word, set()).add(path)
                found.setdefault(word.rpartition("-")[2], set()).add(path)
        return found

    def _calls_commands(self, reached: Iterable[str]) -> bool:
        helpers = [path for path in reached if path.startswith("tests/support/")]
        return any(main in reached for main in COMMANDS) or any(
            main in set(self.files_of(name)) for path in helpers
            for name in self.reads[path].imports for main in COMMANDS)

    def _conftests(self, path: str) -> Iterator[str]:
        for folder in PurePosixPath(path).parents:
            if (place := f"{folder}/conftest.py") in self.reads and place not in FOR_ALL:
                yield place


def main() -> None:
    reaching = Reaching()
    for path in sys.argv[1:]:
        for name, between in reaching.tests_of(path).items():
            print(f"{between} {name}")  # noqa: T201


if __name__ == "__main__":
    main()
