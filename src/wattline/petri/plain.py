"""What an inscription from a file may say: it computes from tokens, and reaches nothing else.

A net may come from somebody else, and inscriptions are evaluated. So only these parts of Python
are read: no attributes, which lead from any value to everything, no calls but of a few functions,
no powers, which make numbers without an end.
"""

from __future__ import annotations

import ast

from wattline.model.errors import InputError

FUNCTIONS = ("Timed", "all", "any", "each", "len", "max", "min", "sorted", "sum", "tuple")
MOST_CHARS = 2000
MOST_NUMBER = 10**15

_PARTS = (
    ast.Expression, ast.Constant, ast.Name, ast.Load, ast.Store, ast.Tuple, ast.Starred,
    ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod,
    ast.UnaryOp, ast.UAdd, ast.USub, ast.Not, ast.BoolOp, ast.And, ast.Or,
    ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn,
    ast.IfExp, ast.Subscript, ast.Slice, ast.Call, ast.GeneratorExp, ast.comprehension,
)


def check_plain(text: str, where: str) -> None:
    """Refuse an inscription of a file that does more than compute."""
    if len(text) > MOST_CHARS:
        raise InputError(f"{where}: an inscription of {len(text):,} characters; at most "
                         f"{MOST_CHARS:,} are read")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError(f"{where}: the inscription '{text[:60]}' is not an expression") from None
    for node in ast.walk(tree):
        wrong = _wrong(node)
        if wrong:
            raise InputError(
                f"{where}: the inscription '{text[:60]}' has {wrong}; in a file it may have "
                f"names, numbers, tuples, comparisons and {', '.join(FUNCTIONS)} "
                "(a skeleton leaves inscriptions out)")


def _wrong(node: ast.AST) -> str:
    """What is not allowed about a part of an expression; empty where nothing is."""
    if not isinstance(node, _PARTS):
        return f"a part of Python that is not read here ({type(node).__name__})"
    if isinstance(node, ast.Call):
        if node.keywords or not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS:
            return f"a call of {ast.unparse(node.func)}"
    elif isinstance(node, ast.Constant):
        number = isinstance(node.value, (int, float)) and abs(node.value) <= MOST_NUMBER
        if not number and not isinstance(node.value, str) and node.value is not None:
            return f"the value {str(node.value)[:30]}"
    elif isinstance(node, ast.Name) and node.id.startswith("__"):
        return f"the name {node.id}"
    return ""
