"""Where the places and transitions of a page stand: as its author says, else in columns."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from wattline.petri.net import ArcKind, Page, Point

COLUMN, ROW = 250.0, 110.0
LEFT, TOP = 90.0, 90.0

Half = Callable[[str, str], Point]


def positions(page: Page, half: Half) -> dict[str, Point]:
    """By name; where shapes would lie on one another, as in files without graphics, in columns."""
    given = [("place", place.name, place.at) for place in page.places]
    given += [("transition", t.name, t.at) for t in page.transitions]
    given += [("module", s.name, s.at) for s in page.substitutions]
    boxes = [(at, half(kind, name)) for kind, name, at in given]
    if page.substitutions or not _overlapping(boxes):
        return {name: at for _, name, at in given}
    return _in_columns(page)


def _overlapping(boxes: list[tuple[Point, Point]]) -> bool:
    return any(abs(a[0] - b[0]) < ha[0] + hb[0] and abs(a[1] - b[1]) < ha[1] + hb[1]
               for i, (a, ha) in enumerate(boxes) for b, hb in boxes[i + 1 :])


def _in_columns(page: Page) -> dict[str, Point]:
    """Each node one column after the first from which an arc leads to it."""
    names = [place.name for place in page.places] + [t.name for t in page.transitions]
    after: dict[str, list[str]] = {name: [] for name in names}
    entered: set[str] = set()
    for transition in page.transitions:
        for arc in transition.arcs:
            out = arc.kind is ArcKind.OUT
            source, target = ((transition.name, arc.place) if out else (arc.place, transition.name))
            after[source].append(target)
            entered.add(target)
    column: dict[str, int] = {}
    first = [name for name in after if name not in entered]
    for name in (*first, *after):
        if name in column:
            continue
        column[name] = 0
        waiting = deque([name])
        while waiting:
            at = waiting.popleft()
            for following in after[at]:
                if following not in column:
                    column[following] = column[at] + 1
                    waiting.append(following)
    rows: dict[int, int] = {}
    found: dict[str, Point] = {}
    for name, place in column.items():
        row = rows.get(place, 0)
        rows[place] = row + 1
        # Every other column stands half a row lower, so that fewer arcs run through shapes.
        found[name] = (LEFT + COLUMN * place, TOP + ROW * row + (place % 2) * ROW / 2)
    return found
