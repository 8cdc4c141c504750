"""Inscriptions of a net: Python expressions that are read once and evaluated at every firing.

A net shows its inscriptions in its picture, so they are kept as text. Those of a file are looked
through first (`plain.py`): they may compute, but call and reach nothing else.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from wattline.model.errors import InputError

Binding = dict[str, Any]
Expression = Callable[[Binding], Any]
Matcher = Callable[[Any, Binding], bool]


class Timed(NamedTuple):
    """A token that becomes ready at a time of its own; an output arc may produce it."""

    value: Any
    time_s: float


class Several(NamedTuple):
    """Any number of tokens from one output arc."""

    values: tuple[Any, ...]


EMPTY = Several(())
"""No token at all: what an output arc produces when nothing is to be put there."""


def each(values: Iterable[Any]) -> Several:
    """One token for each value."""
    return Several(tuple(values))


BUILT_IN: Mapping[str, Any] = {
    "Timed": Timed, "each": each, "empty": EMPTY, "len": len, "min": min, "max": max, "sum": sum,
    "tuple": tuple, "sorted": sorted, "any": any, "all": all, "True": True, "False": False,
    "None": None, "inf": float("inf"),
}


MOST_BITS = 4096
"""Of a whole number: one that grows with every firing would soon take hours and all memory."""
ANYTHING = "_"


def _is_huge(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(_is_huge(item) for item in value)
    return isinstance(value, int) and value.bit_length() > MOST_BITS


def compile_expression(text: str, declarations: Mapping[str, Any], where: str) -> Expression:
    """A function from a binding to the value of the expression."""
    tree = _parse(text, where)
    names = tuple(sorted(_free_names(tree) - set(BUILT_IN) - set(declarations)))
    # A function of the free names, so that comprehensions inside the text see them too.
    scope = {"__builtins__": {}, **BUILT_IN, **declarations}
    function = eval(compile(f"lambda {', '.join(names)}: ({text.strip()})", where, "eval"), scope)

    def evaluate(binding: Binding) -> Any:
        try:
            value = function(*[binding[name] for name in names])
        except KeyError as error:
            raise InputError(f"{where}: '{text}' uses {error}, which no input arc binds") from error
        if _is_huge(value):
            raise InputError(f"{where}: '{text}' has come to a number of more than {MOST_BITS} "
                             "bits; the net may have no end")
        return value

    return evaluate


def compile_pattern(text: str, declarations: Mapping[str, Any], where: str) -> Matcher:
    """A function that matches a token's value and extends the binding in place.

    A name binds, or must equal what it is bound to; `_` stands for anything, and binds nothing, so
    that several arcs of a transition can have it; a tuple (with at most one starred name) is
    matched part by part; anything else is evaluated and must equal the value.
    """
    return _matcher(_parse(text, where).body, declarations, where)


def names_bound(text: str, where: str) -> list[str]:
    """The names that a pattern binds, in their order."""
    found: list[str] = []

    def visit(node: ast.expr) -> None:
        if isinstance(node, ast.Name):
            found.append(node.id)
        elif isinstance(node, ast.Tuple):
            for part in node.elts:
                visit(part.value if isinstance(part, ast.Starred) else part)

    visit(_parse(text, where).body)
    return found


def _parse(text: str, where: str) -> ast.Expression:
    try:
        return ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        raise InputError(f"{where}: the inscription '{text}' is not an expression") from error


def _free_names(tree: ast.Expression) -> set[str]:
    loaded = {node.id for node in ast.walk(tree)
              if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    bound = {node.id for node in ast.walk(tree)
             if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return loaded - bound


def _matcher(node: ast.expr, declarations: Mapping[str, Any], where: str) -> Matcher:
    if isinstance(node, ast.Name) and node.id == ANYTHING and ANYTHING not in declarations:
        return lambda value, binding: True
    if isinstance(node, ast.Name) and node.id not in declarations and node.id not in BUILT_IN:
        return _name_matcher(node.id)
    if isinstance(node, ast.Tuple):
        return _tuple_matcher(node, declarations, where)
    evaluate = compile_expression(ast.unparse(node), declarations, where)
    return lambda value, binding: bool(evaluate(binding) == value)


def _name_matcher(name: str) -> Matcher:
    def match(value: Any, binding: Binding) -> bool:
        if name in binding:
            return bool(binding[name] == value)
        binding[name] = value
        return True

    return match


def _tuple_matcher(node: ast.Tuple, declarations: Mapping[str, Any], where: str) -> Matcher:
    starred = [i for i, part in enumerate(node.elts) if isinstance(part, ast.Starred)]
    if len(starred) > 1:
        raise InputError(f"{where}: a pattern may have one starred name, not {len(starred)}")
    parts = [
        _matcher(part.value if isinstance(part, ast.Starred) else part, declarations, where)
        for part in node.elts
    ]
    star = starred[0] if starred else len(parts)
    after = len(parts) - star - 1 if starred else 0

    def match(value: Any, binding: Binding) -> bool:
        if not isinstance(value, tuple):
            return False
        if (len(value) < len(parts) - 1) if starred else (len(value) != len(parts)):
            return False
        pieces: list[Any] = list(value[:star])
        if starred:
            pieces.append(tuple(value[star : len(value) - after]))
            pieces.extend(value[len(value) - after :])
        return all(part(piece, binding) for part, piece in zip(parts, pieces, strict=True))

    return match
