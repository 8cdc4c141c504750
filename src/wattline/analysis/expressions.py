"""Figures and sums of them as a person writes them: `energy_j + 0.1*wait_s`."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from wattline.model.errors import InputError
from wattline.model.units import parse_duration, parse_energy, parse_power

USUAL = ".mean"
"""`wait_s` is short for `wait_s.mean`."""
_TWO: Mapping[type[ast.AST], Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow}
_COMPARE: Mapping[type[ast.AST], str] = {ast.LtE: "<=", ast.GtE: ">=", ast.Lt: "<", ast.Gt: ">"}
_WITH_UNIT = re.compile(r"(?<![\w.])(?:\d[\d.]*|\.\d+)(?:[eE][+-]?\d+)?\s*[A-Za-z]+(?![\w.])")
_READERS: Mapping[str, Callable[[str], float]] = {
    "s": parse_duration, "w": parse_power, "j": parse_energy}
"""By the unit that ends the name of a figure."""
_UNIT_OF_FIGURE = re.compile(r"[a-z]_([swj])(?!\w)")


@dataclass(frozen=True)
class Expression:
    """Numbers, figures, + - * / ** and brackets; nothing that runs code."""

    text: str
    tree: ast.expr

    @classmethod
    def parse(cls, text: str) -> Expression:
        return cls(text, _tree(text))

    @property
    def names(self) -> set[str]:
        return {_dotted(node) for node in _figures(self.tree)}

    def value(self, figures: Mapping[str, float]) -> float:
        """Its value with these figures; NaN where one of them is missing."""
        try:
            return float(_value(self.tree, figures))
        except (ZeroDivisionError, OverflowError, TypeError):
            return math.nan


@dataclass(frozen=True)
class Constraint:
    """`wait_s.p95 <= 3600`, or `1h`: by how much the smaller side is larger than it may be."""

    text: str
    excess: Expression
    strict: bool = False
    """With `<` and `>`: an excess of 0 breaks it."""

    def allows(self, excess: float) -> bool:
        """Whether it holds with such an excess; what is no number does not keep it."""
        return excess < 0 if self.strict else excess <= 0

    def is_kept(self, figures: Mapping[str, float]) -> bool:
        return self.allows(self.excess.value(figures))

    @classmethod
    def parse(cls, text: str) -> Constraint:
        try:
            tree = ast.parse(_without_units(text).strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            tree = None
        if not isinstance(tree, ast.Compare) or len(tree.ops) != 1 or (
                type(tree.ops[0]) not in _COMPARE):
            raise InputError(f"'{text}' is no constraint; write it like wait_s.p95 <= 3600 or "
                             "wait_s.p95 <= 1h")
        small, large = tree.left, tree.comparators[0]
        if isinstance(tree.ops[0], ast.GtE | ast.Gt):
            small, large = large, small
        excess = ast.BinOp(small, ast.Sub(), large)
        _check(excess, text)
        return cls(text, Expression(text, excess), isinstance(tree.ops[0], ast.Lt | ast.Gt))


@lru_cache(maxsize=256)
def _tree(text: str) -> ast.expr:
    """A report asks for the same few figures of every setting."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError(f"'{text}' is no expression; write it like energy_j + 0.1*wait_s"
                         ) from None
    _check(tree, text)
    return tree


def _without_units(text: str) -> str:
    """With `16kW` as 16000.0, beside figures in watts; likewise seconds and joules."""
    kinds = sorted(set(_UNIT_OF_FIGURE.findall(text)))

    def plain(found: re.Match[str]) -> str:
        said = "no figure beside it is in seconds, watts or joules"
        for kind in kinds:
            try:
                return repr(_READERS[kind](found[0]))
            except InputError as error:
                said = str(error)
        raise InputError(f"'{text}' has '{found[0]}': {said}")

    return _WITH_UNIT.sub(plain, text)


def figure_of(name: str, known: Collection[str]) -> str | None:
    """The figure that a name means; `wait_s` means its mean."""
    return next((each for each in (name, name + USUAL) if each in known), None)


def _check(tree: ast.expr, text: str) -> None:
    match tree:
        case ast.BinOp(left, op, right) if type(op) in _TWO:
            _check(left, text)
            _check(right, text)
        case ast.UnaryOp(ast.USub() | ast.UAdd(), operand):
            _check(operand, text)
        case ast.Constant(value) if (isinstance(value, (int, float))
                                     and not isinstance(value, bool)):
            return
        case ast.Name() | ast.Attribute():
            _dotted(tree)
        case _:
            raise InputError(f"'{text}' has '{ast.unparse(tree)}', which is neither a number nor "
                             "a figure; write it like energy_j + 0.1*wait_s")


def _figures(tree: ast.AST) -> list[ast.expr]:
    if isinstance(tree, ast.Name | ast.Attribute):
        return [tree]
    return [found for child in ast.iter_child_nodes(tree) for found in _figures(child)]


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    raise InputError(f"'{ast.unparse(node)}' is no figure")


def _value(tree: ast.expr, figures: Mapping[str, Any]) -> float:
    if isinstance(tree, ast.BinOp):
        found = _TWO[type(tree.op)](_value(tree.left, figures), _value(tree.right, figures))
        return math.nan if isinstance(found, complex) else found
    if isinstance(tree, ast.UnaryOp):
        value = _value(tree.operand, figures)
        return -value if isinstance(tree.op, ast.USub) else value
    if isinstance(tree, ast.Constant):
        assert isinstance(tree.value, (int, float))
        return float(tree.value)
    name = figure_of(_dotted(tree), figures)
    return math.nan if name is None else float(figures[name])
