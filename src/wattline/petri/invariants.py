"""Invariants of a net's structure: weighted sums of tokens that no firing changes, and the like.

A place invariant is a weight for each place such that the weighted sum of tokens stays the same; a
transition invariant says how often each transition fires so that all is as before. Both are found
by Farkas' algorithm on the incidence matrix: those with the fewest places or transitions.
"""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass

from wattline.petri.flat import VARYING, FlatNet
from wattline.petri.net import ArcKind

MOST_ROWS = 4000
"""Rows of the tableau, of which there can be exponentially many."""

Weights = dict[str, int]


@dataclass(frozen=True)
class Invariants:
    """Weights by name; what could not take part is named."""

    of_places: tuple[Weights, ...]
    of_transitions: tuple[Weights, ...]
    left_out: tuple[str, ...]
    """Places whose tokens change by a number that hangs on the tokens, or that are emptied."""
    taken_as_one: tuple[str, ...]
    """Places to which some arcs may put no token or several: counted as one in place invariants,
    which are to be checked against states, and in no transition invariant."""
    complete: bool = True
    """False where there are too many to list."""


def invariants(flat: FlatNet) -> Invariants:
    """Those of a net read with `structure_only`."""
    matrix, varying = _incidence(flat)
    unsure = {arc.place for transition in flat.transitions for arc in transition.outputs
              if not arc.unit and not _gives_one(arc.arc.inscription)} - varying
    places = [i for i in range(len(flat.places)) if i not in varying]
    touching = {t for t, transition in enumerate(flat.transitions)
                if any(arc.place in varying | unsure and arc.arc.kind is not ArcKind.INHIBITOR
                       for arc in (*transition.inputs, *transition.outputs))}
    transitions = [t for t in range(len(flat.transitions)) if t not in touching]
    rows = [[matrix[i][t] for t in range(len(flat.transitions))] for i in places]
    columns = [[matrix[i][t] for i in range(len(flat.places))] for t in transitions]
    p_found, p_all = _farkas(rows)
    t_found, t_all = _farkas(columns)
    return Invariants(
        tuple({flat.places[places[i]].path: w for i, w in enumerate(row) if w} for row in p_found),
        tuple({flat.transitions[transitions[i]].path: w for i, w in enumerate(row) if w}
              for row in t_found),
        tuple(flat.places[i].path for i in sorted(varying)),
        tuple(flat.places[i].path for i in sorted(unsure)), p_all and t_all)


def _gives_one(inscription: str) -> bool:
    """Whether an arc surely puts one token: a name, a number, a tuple, a sum of such."""
    body = ast.parse(inscription.strip(), mode="eval").body
    if isinstance(body, ast.Call):
        return ast.unparse(body.func) == "Timed"
    return isinstance(body, (ast.Name, ast.Constant, ast.Tuple, ast.BinOp)) and (
        not isinstance(body, ast.Name) or body.id != "empty")


def _incidence(flat: FlatNet) -> tuple[list[list[int]], set[int]]:
    """By place and transition: by how many tokens it changes; and the places where that varies."""
    matrix = [[0] * len(flat.transitions) for _ in flat.places]
    varying: set[int] = set()
    for t, transition in enumerate(flat.transitions):
        for arc in (*transition.inputs, *transition.outputs):
            kind = arc.arc.kind
            if kind is ArcKind.ALL or arc.weight == VARYING:
                varying.add(arc.place)
            elif kind in (ArcKind.IN, ArcKind.OUT):
                sign = 1 if kind is ArcKind.OUT else -1
                matrix[arc.place][t] += sign * int(arc.arc.weight)
    return matrix, varying


def _farkas(rows: list[list[int]]) -> tuple[list[list[int]], bool]:
    """The minimal x >= 0 with x times these rows zero; and whether all were found."""
    width = len(rows[0]) if rows else 0
    table = [(row, [int(i == j) for j in range(len(rows))]) for i, row in enumerate(rows)]
    for column in range(width):
        kept = [entry for entry in table if entry[0][column] == 0]
        above = [entry for entry in table if entry[0][column] > 0]
        below = [entry for entry in table if entry[0][column] < 0]
        if len(kept) + len(above) * len(below) > MOST_ROWS:
            return [], False
        for up in above:
            for down in below:
                kept.append(_combined(up, down, column))
        table = _minimal(kept)
    return [weights for _, weights in table], True


Entry = tuple[list[int], list[int]]


def _combined(up: Entry, down: Entry, column: int) -> Entry:
    a, b = -down[0][column], up[0][column]
    left = [a * x + b * y for x, y in zip(up[0], down[0], strict=True)]
    right = [a * x + b * y for x, y in zip(up[1], down[1], strict=True)]
    divisor = math.gcd(*left, *right) or 1
    return [x // divisor for x in left], [x // divisor for x in right]


def _minimal(table: list[Entry]) -> list[Entry]:
    """Without those that need all that another one needs, and more; each once."""
    supports = [frozenset(i for i, w in enumerate(entry[1]) if w) for entry in table]
    kept: list[Entry] = []
    seen: set[frozenset[int]] = set()
    for entry, support in zip(table, supports, strict=True):
        if support not in seen and not any(other < support for other in supports):
            seen.add(support)
            kept.append(entry)
    return kept
