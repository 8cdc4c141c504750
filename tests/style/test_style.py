"""The house style, as tests: layers, dead modules, prints, documentation."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from wattline.cli.main import COMMANDS
from wattline.cli.study import COMMANDS as STUDY_COMMANDS
from wattline.cli.study import STUDIES

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
# Modules that nothing in the package uses, because they are for callers outside it.
FOR_OTHERS = {
    "wattline.policies.plain",  # twins, for tests and readers
    # Joules from meters, for whoever has their readings in Python.
    "wattline.physics.metering.reconciling",
}
TEXTS = [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]


@cache
def modules() -> dict[str, str]:
    """The text of every module of the package by its dotted name."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = path.read_text(encoding="utf-8")
    return found


def nodes_of(text: str) -> list[ast.AST]:
    return list(ast.walk(ast.parse(text)))


def calls(nodes: list[ast.AST]) -> list[tuple[int, str]]:
    """Of a function by its name, or of a method with a dot before it."""
    named = [(node.lineno, node.func) for node in nodes if isinstance(node, ast.Call)]
    return [(line, func.id if isinstance(func, ast.Name) else f".{func.attr}")
            for line, func in named if isinstance(func, ast.Name | ast.Attribute)]


def uses(name: str, nodes: list[ast.AST]) -> set[str]:
    """Modules that this one names: in imports, or as text where imports are lazy."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.update(spoken(node.value))
    return found - {name}


def spoken(text: str) -> set[str]:
    """Return what a string may mean as a module: `wattline.a.b`, or `order.fcfs` and
    `order.x_setup:X` in the registry and the setups."""
    text = text.partition(":")[0]
    if not re.fullmatch(r"[a-z_][a-z_0-9.]*", text):
        return set()
    return {text, f"wattline.policies.{text}"}


def discovered() -> set[str]:
    """Modules that are found by their place: commands, benchmarks, generators."""
    commands = {e.module or f"wattline.cli.{n.replace('-', '_')}" for n, e in COMMANDS.items()}
    commands |= {study.module for study in STUDY_COMMANDS.values()}
    from wattline.traces.generators import MODELS

    generators = {f"wattline.traces.generators.{name}" for name in MODELS}
    benchmarks = {name for name in modules() if name.startswith("wattline.benchmarks.")}
    return commands | generators | benchmarks | {"wattline", "wattline.__main__"}


def test_no_module_is_dead() -> None:
    packages = {name.rpartition(".")[0] for name in modules()}
    # A room that is still empty has nothing that could be used.
    empty = {name for name, text in modules().items() if not text.strip()}
    assert unused(modules(), set(modules()) - discovered() - packages - empty) == FOR_OTHERS


def unused(texts: Mapping[str, str], asked: set[str]) -> set[str]:
    """Return those that no text uses. To read a text as Python takes long: it is done where one of
    those that are left may be named, and first where much is imported, which soon leaves few."""
    left = set(asked)
    for name in sorted(texts, key=lambda name: -texts[name].count("import")):
        if any(all(part in texts[name] for part in each.split(".")[-2:]) for each in left):
            left -= uses(name, nodes_of(texts[name]))
    return left


def test_a_dead_module_would_be_found() -> None:
    text = "import wattline.model.jobs\nfrom wattline.model import units\nx = 'order.sjf'"
    named = {"wattline.model.jobs", "wattline.model.units", "wattline.policies.order.sjf"}
    dead = {"wattline.model.machine", "wattline.x"}
    spoken_of = "# wattline.model.machine\nimport wattline.x"  # a comment, and itself
    assert unused({"wattline.x": spoken_of, "wattline.y": text}, named | dead) == dead


def test_a_call_that_prints_would_be_found() -> None:
    text = "print(1)\nclick.echo(2)\nx[0]()\ndef f():\n    return g(print(3))"
    found = calls(nodes_of(text))
    assert {(1, "print"), (2, ".echo"), (5, "print"), (5, "g")} == set(found)


def test_the_library_does_not_print() -> None:
    """Commands speak through click; everything below them returns what it has to say."""
    guilty = []
    for name, text in modules().items():
        speaks = name.startswith(("wattline.cli", "wattline.web", "wattline.live"))
        kept_from = {"print"} if speaks else {"print", ".echo"}
        if re.search("print|echo", text):
            guilty += [f"{name}:{line} calls {called}" for line, called in calls(nodes_of(text))
                       if called in kept_from]
    assert guilty == []


def test_nothing_is_said_to_a_formatter_that_nobody_runs() -> None:
    told = [path for folder in ("src", "tests", "scripts", "examples")
            for path in (ROOT / folder).rglob("*.py")
            if re.search(r"# fmt: (skip|off|on)$", path.read_text(), re.MULTILINE)]
    assert told == []


def test_commands_do_not_pay_for_what_they_do_not_use() -> None:
    """`wattline --help` must not import the compiler, tables or plots."""
    code = (
        "import sys, wattline.cli.main, wattline.cli.simulate, wattline.cli.compare;"
        "print(*sorted({'numba', 'pandas', 'scipy', 'matplotlib', 'pyarrow', 'pydantic'}"
        " & set(sys.modules)))"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert said.split() == []


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_is_documented(command: str) -> None:
    said = "\n".join(page.read_text(encoding="utf-8") for page in TEXTS)
    assert re.search(rf"wattline\s+{re.escape(command)}\b", said), f"no page shows it: {command}"


@pytest.mark.parametrize("study", sorted(STUDIES))
def test_every_study_is_documented(study: str) -> None:
    said = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert re.search(rf"wattline\s+study\s+{study}\b", said)


@pytest.mark.parametrize("study", sorted(STUDIES))
def test_every_study_has_the_same_three_files(study: str) -> None:
    there = {path.name for path in (SOURCE / "wattline" / "studies" / study).glob("*.py")}
    assert there >= {"study.py", "workloads.py", "plots.py"}


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_index_leads_to_every_page() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    places = [page.relative_to(DOCS).as_posix() for page in PAGES]
    missing = [place for place in places if f"({place})" not in index]
    assert missing == ["index.md"]


def test_files_stay_small() -> None:
    """Some 400 lines, one subject each; the limit leaves a little room."""
    long = {
        str(path.relative_to(SOURCE)): lines
        for path in SOURCE.rglob("*.py")
        if (lines := path.read_text(encoding="utf-8").count("\n")) > 450
    }
    assert long == {}


def test_every_room_stands_in_the_layers() -> None:
    layers = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    named = {room for contract in layers["tool"]["importlinter"]["contracts"]
             for layer in contract.get("layers", ())
             for room in re.findall(r"wattline\.(\w+)", layer)}
    there = {path.parent.name for path in (SOURCE / "wattline").glob("*/__init__.py")}
    assert there - named == set()


def test_layers() -> None:
    """Left may import right, never the reverse: the contract stands in pyproject.toml."""
    tool = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([tool], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


CODES = ("policies/state.py", "books/log.py", "books/roll.py", "books/stepping.py",
         "books/timers.py")
"""Modules that name what stands in the arrays of the books."""


def test_a_code_of_the_books_has_one_meaning() -> None:
    given = Counter(name for file in CODES
                    for name in set(_constants(SOURCE / "wattline" / file)))
    assert [name for name, count in given.items() if count > 1] == []
    assert {"CANCELLED", "WITHDRAWN", "OVER", "OVER_STATES", "WAKE", "WAKE_UP"} <= set(given)


def _constants(path: Path) -> Iterator[str]:
    """The names in capitals that a module gives."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        targets = (node.targets if isinstance(node, ast.Assign)
                   else [node.target] if isinstance(node, ast.AnnAssign) else [])
        for target in targets:
            for name in target.elts if isinstance(target, ast.Tuple) else [target]:
                if isinstance(name, ast.Name) and name.id.isupper():
                    yield name.id
