"""Figures that the commands print, as the code declares them, and what the tests read of it.

A figure is a key of a JSON answer or a column of a printed table. Keys stand in functions that
answer with a mapping, in calls of `print_json`, and as fields of the classes that are printed
whole; columns in calls of `print_table`.
"""

from __future__ import annotations

import ast
import gc
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "wattline"
TESTS = ROOT / "tests"
ROOMS = ("account", "advice", "analysis", "books", "cli", "controller", "demand_response", "grid",
         "live", "network", "petri", "physics", "site", "sweeps", "traces", "twin")
"""Rooms whose answers a command prints."""
FORMATS: Mapping[str, str] = {
    "account/profile.py": "the columns of a table of profiles that others publish",
    "account/sacct.py": "fields of Slurm's JSON, and columns of its text",
    "controller/testbed/bmc": "messages of Redfish as an emulated service sends them",
    "controller/testbed/conditions.py": "a site file that the test bed writes",
    "controller/testbed/layout.py": "variables of the environment",
    "controller/testbed/own_site.py": "a site file that the test bed writes",
    "controller/sharing/parts.py": "the rules of a ledger, as they are given",
    "controller/configuration.py": "variables of the environment",
    "live/devices/ipmitool.py": "variables of the environment",
    "live/openadr3.py": "messages of OpenADR",
    "live/openadr_link.py": "options of a library for OpenADR",
    "network/packets.py": "arrays of a simulation",
    "network/fabric.py": "arrays of a simulation",
    "petri/puppet_rules.py": "transitions of a net",
    "physics/powercap.py": "a plan of caps, as files have it, and Slurm's text",
    "physics/regression": "coefficients in a file of tables",
    "site/drafts.py": "fields of a machine's file that an import writes",
    "site/sacct_json.py": "columns of Slurm's text",
    "account/measured/kept_rules.py": "the rules of a ledger, as its store keeps them",
    "account/measured/scope.py": "figures of an import, by the names that its class gives them",
    "analysis/kept_promises.py": "promises of policies, as a run folder keeps them",
    "analysis/plots.py": "styles of lines",
    "analysis/rundir.py": "the manifest of a run folder",
    "cli/study_": "figures beside published ones, which the studies' own tests compare row by row",
    "demand_response/jointly.py": "fields of a scenario",
    "demand_response/reading.py": "fields of a scenario",
    "physics/configurations.py": "columns of a file of tables",
}
"""Files whose mappings are no answers."""
PRINTED: Mapping[str, tuple[str, ...]] = {
    "advice/limits.py": ("Figures",),
    "grid/curtailment.py": ("Compliance", "CapKept"),
    "grid/market.py": ("TrackingError", "Period"),
}
"""Classes that are printed whole by others than themselves."""
_ANSWERS = re.compile(r"(list\[|tuple\[|Iterator\[)?(dict|Mapping)\[str, ")


@cache
def trees(folder: Path) -> Mapping[Path, ast.Module]:
    """Each file of a folder, parsed once, in half the time while nobody looks for garbage."""
    collected = gc.isenabled()
    gc.disable()
    try:
        return {path: ast.parse(path.read_text(encoding="utf-8"))
                for path in sorted(folder.rglob("*.py"))}
    finally:
        if collected:
            gc.enable()


@cache
def answer_keys() -> dict[str, set[str]]:
    """By key the files that declare it."""
    found: dict[str, set[str]] = {}
    for path, tree in _sources():
        for key in _keys(tree, PRINTED.get(path, ())):
            found.setdefault(key, set()).add(path)
    return found


@cache
def table_columns() -> dict[str, set[str]]:
    """By heading of a printed column the files that print it."""
    found: dict[str, set[str]] = {}
    for path, tree in _sources(formats=()):
        constants = {target.id: node.value for node in tree.body if isinstance(node, ast.Assign)
                     for target in node.targets if isinstance(target, ast.Name)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _called(node) in ("print_table", "html_table"):
                for text in _texts(_cells(node.args[0], constants)):
                    found.setdefault(text, set()).add(path)
    return found


def _cells(heads: ast.expr, constants: Mapping[str, ast.expr]) -> Iterator[ast.expr]:
    """Headings of a table, also those that stand in a constant of the module."""
    if isinstance(heads, ast.Name):
        heads = constants.get(heads.id, heads)
    if isinstance(heads, ast.List | ast.Tuple):
        for each in heads.elts:
            if isinstance(each, ast.Starred):
                yield from _cells(each.value, constants)
            else:
                yield each


def _sources(formats: Iterable[str] = FORMATS) -> Iterator[tuple[str, ast.Module]]:
    """Files of the rooms whose answers are printed, but for those whose mappings are none."""
    for room in ROOMS:
        for path, tree in trees(SOURCE / room).items():
            name = path.relative_to(SOURCE).as_posix()
            if not any(name.startswith(each) for each in formats):
                yield name, tree


def _keys(tree: ast.Module, whole: tuple[str, ...]) -> Iterator[str]:
    for node in ast.walk(tree):
        if _answers(node):
            yield from _written_keys(node)
        elif isinstance(node, ast.ClassDef) and (node.name in whole or _prints_itself(node)):
            yield from (each.target.id for each in node.body
                        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name))


def _answers(node: ast.AST) -> bool:
    """Return whether the keys of mappings in it are figures."""
    if isinstance(node, ast.Call):
        return _called(node) == "print_json"
    return isinstance(node, ast.FunctionDef) and bool(
        node.name == "to_dict" or _ANSWERS.match(_written(node.returns)))


def _written_keys(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Dict):
            yield from _texts(key for key in each.keys if key is not None)
        elif isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store):
            yield from _texts([each.slice])
        elif isinstance(each, ast.Call) and _called(each) == "dict":
            yield from (word.arg for word in each.keywords if word.arg)


def _prints_itself(node: ast.ClassDef) -> bool:
    """Return whether it has a `to_dict` that takes all of its fields."""
    return any(isinstance(each, ast.Call) and _called(each) in ("asdict", "vars")
               and [_written(given) for given in each.args] == ["self"]
               for part in node.body if isinstance(part, ast.FunctionDef)
               and part.name in ("to_dict", "figures") for each in ast.walk(part))


@cache
def read_in_tests() -> set[str]:
    """Words of which some test reads the value.

    The name of an attribute, or a text in brackets behind a mapping, where it is compared or goes
    into a name that is; a text in an assertion, also as a key of what is expected; and of a test
    with assertions a text in a list of several. That a key is there (`"energy_j" in found`) is no
    reading.
    """
    found: set[str] = set()
    for tree in trees(TESTS).values():
        nodes = list(ast.walk(tree))
        found.update(_taken(nodes))
        for node in nodes:
            if isinstance(node, ast.Assert):
                found.update(_words(_asserted(node)))
                found.update(each.arg for each in ast.walk(node)
                             if isinstance(each, ast.keyword) and each.arg)
            elif isinstance(node, ast.FunctionDef) and any(
                    isinstance(each, ast.Assert) for each in ast.walk(node)):
                found.update(_listed(node))
    return found


@cache
def columns_in_tests() -> set[str]:
    """Headings under which some test reads a cell of a printed table.

    The texts of assertions, but for those that name a key of a mapping: of whole lines, of lists
    of cells, and those that `printed.columns` is asked for. That a heading is printed
    (`"mean wait" in out`) is no reading.
    """
    found: set[str] = set()
    for tree in trees(TESTS).values():
        nodes = list(ast.walk(tree))
        if any(isinstance(each, ast.alias) and each.name == "columns" for each in nodes):
            for each in _compared(nodes):
                if isinstance(each, ast.Call) and _written(each.func) == "columns":
                    found.update(_texts(each.args))
        for node in nodes:
            if isinstance(node, ast.Assert):
                keys = {id(key) for each in ast.walk(node) for key in _named_keys(each)}
                found.update(_words(each for each in _asserted(node) if id(each) not in keys))
    return found


def _taken(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Attributes and keys that are taken of something where their value comes to be compared."""
    for each in _compared(nodes):
        if isinstance(each, ast.Attribute):
            yield each.attr
        elif isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Load):
            yield from _texts([each.slice])


def _compared(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All within comparisons, and within what gives a value to a name that is compared."""
    nodes = list(nodes)
    comparing = [each for each in nodes if isinstance(each, _COMPARING)]
    names = {each.id for part in comparing for each in ast.walk(part) if isinstance(each, ast.Name)}
    giving = [each for each in nodes if any(
        isinstance(name, ast.Name) and name.id in names
        for target in _given(each) for name in ast.walk(target))]
    return chain.from_iterable(map(ast.walk, (*comparing, *giving)))


def _given(node: ast.AST) -> list[ast.expr]:
    """Return what gets a value here."""
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, _GIVING) else []


_COMPARING = (ast.Assert, ast.Compare, ast.Return, ast.Yield, ast.Lambda)
_GIVING = (ast.AnnAssign, ast.AugAssign, ast.For, ast.comprehension, ast.NamedExpr)


def _asserted(node: ast.Assert) -> Iterator[ast.Constant]:
    """Texts of an assertion but for those that are only looked for: one line, left of `in`."""
    sought = {id(each) for compared in ast.walk(node) if isinstance(compared, ast.Compare)
              and isinstance(compared.ops[0], ast.In | ast.NotIn)
              for each in ast.walk(compared.left)}
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and (
                id(each) not in sought or "\n" in each.value):
            yield each


def _named_keys(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Subscript):
        yield node.slice
    elif isinstance(node, ast.Dict):
        yield from filter(None, node.keys)


def _words(texts: Iterable[ast.Constant]) -> Iterator[str]:
    for each in texts:
        yield each.value
        yield from re.split(r"  +|\n", each.value)


def _listed(node: ast.FunctionDef) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Tuple | ast.List | ast.Set):
            yield from _texts(each.elts)


def _texts(nodes: object) -> Iterator[str]:
    for node in nodes:  # type: ignore[attr-defined]
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _called(node: ast.Call) -> str:
    return _written(node.func).rpartition(".")[2]


def _written(node: ast.AST | None) -> str:
    return "" if node is None else ast.unparse(node)
