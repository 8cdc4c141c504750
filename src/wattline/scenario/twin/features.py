"""Constraints of jobs on features of nodes: `a&b`, `a|b`, `(a|b)&c`, `[a|b]`.

As in Slurm there is no precedence: from left to right, groups first. See sbatch(1), --constraint.
"""

from __future__ import annotations

import re

import numpy as np

from wattline.model.errors import InputError
from wattline.shared_nodes.machine import BoolArray, Nodes

_TOKEN = re.compile(r"\s*([&|,()\[\]]|[^\s&|,()\[\]]+)")
_CLOSES = {"(": ")", "[": "]"}


def mask_of(text: str, nodes: Nodes) -> BoolArray:
    """Where an expression holds; counts of nodes are refused."""
    tokens = [token for token in _TOKEN.findall(text) if token]
    mask, at = _evaluate(tokens, 0, "", nodes, text)
    if at != len(tokens):
        raise InputError(f"constraint '{text}': '{tokens[at]}' closes nothing")
    return mask


def _evaluate(
    tokens: list[str], at: int, until: str, nodes: Nodes, text: str
) -> tuple[BoolArray, int]:
    found: BoolArray | None = None
    operator = "&"
    expected = True
    while at < len(tokens) and tokens[at] != until and tokens[at] not in ")]":
        token = tokens[at]
        if token in "&|,":
            if expected:
                raise InputError(f"constraint '{text}': '{token}' has nothing before it")
            operator, expected, at = token, True, at + 1
            continue
        if not expected:
            raise InputError(f"constraint '{text}': '{token}' comes after no & or |")
        if token in _CLOSES:
            part, at = _evaluate(tokens, at + 1, _CLOSES[token], nodes, text)
            if at >= len(tokens) or tokens[at] != _CLOSES[token]:
                raise InputError(f"constraint '{text}': '{token}' is never closed")
        else:
            part = _feature(token, nodes, text)
        found = part if found is None else found | part if operator == "|" else found & part
        expected, at = False, at + 1
    if found is None or expected:
        raise InputError(f"constraint '{text}': ends where a feature is expected")
    return found, at


def _feature(name: str, nodes: Nodes, text: str) -> BoolArray:
    if re.search(r"\*[0-9]+$", name):
        raise InputError(f"constraint '{text}': counts of nodes (*) are not modelled")
    if name not in nodes.feature_names:
        return np.zeros(len(nodes.names), dtype=np.bool_)
    return nodes.features[:, nodes.feature_names.index(name)].copy()
