"""The skeleton of a net: places and transitions without colours, time, guards and priorities.

It is the place/transition net that other tools read, for what follows from structure alone. It
does not run as the net does: its transitions ask for no values and wait for no times.
"""

from __future__ import annotations

from wattline.model.units import counted
from wattline.petri.flat import VARYING, FlatArc, FlatNet, FlatTransition, flatten
from wattline.petri.net import UNIT, Arc, ArcKind, Net, Page, Place, Point, Transition

PAGE_GAP = 60.0


def skeleton(net: Net) -> Net:
    """A flat net of tokens without a value, with what was left out in its remarks."""
    flat = flatten(net, structure_only=True)
    shift = page_shifts(net)
    places = tuple(
        Place(place.path, UNIT, (token_count(place.place),),
              at=_moved(place.place.at, place.path, shift)) for place in flat.places)
    transitions = tuple(_plain(transition, flat, shift) for transition in flat.transitions)
    return Net(net.name, Page(net.name, places, transitions), about=f"skeleton of {net.about}",
               from_file=net.from_file, remarks=(*net.remarks, *_left_out(flat)))


def token_count(place: Place) -> int:
    """How many tokens a place begins with."""
    if place.colour is UNIT:
        return int(place.initial[0]) if place.initial else 0
    return len(place.initial)


def page_shifts(net: Net) -> dict[str, float]:
    """Path of a page -> how far down it lies when all pages lie below one another."""
    shifts: dict[str, float] = {}
    below = 0.0

    def visit(page: Page, path: str) -> None:
        nonlocal below
        shifts[path] = below
        points = [*(place.at for place in page.places), *(t.at for t in page.transitions),
                  *(sub.at for sub in page.substitutions)]
        below += max((y for _, y in points), default=0.0) + 2 * PAGE_GAP
        for substitution in page.substitutions:
            visit(substitution.page, f"{path}/{substitution.name}" if path else substitution.name)

    visit(net.top, "")
    return shifts


def _moved(at: Point, path: str, shift: dict[str, float]) -> Point:
    page = path.rpartition("/")[0]
    return at[0], at[1] + shift.get(page, 0.0)


def _plain(transition: FlatTransition, flat: FlatNet, shift: dict[str, float]) -> Transition:
    taken: dict[str, int] = {}
    put: dict[str, int] = {}
    other: list[Arc] = []
    for arc in (*transition.inputs, *transition.outputs):
        place, weight = flat.places[arc.place].path, _weight(arc)
        kind = arc.arc.kind
        if kind in (ArcKind.IN, ArcKind.TEST):
            taken[place] = taken.get(place, 0) + weight
        if kind in (ArcKind.OUT, ArcKind.TEST):
            put[place] = put.get(place, 0) + weight
        if kind is ArcKind.INHIBITOR:
            other.append(Arc(kind, place))
        if kind is ArcKind.ALL:
            other.append(Arc(kind, place, "_"))
    arcs = (*(Arc(ArcKind.IN, name, weight=str(n)) for name, n in taken.items()), *other,
            *(Arc(ArcKind.OUT, name, weight=str(n)) for name, n in put.items()))
    return Transition(transition.path, arcs,
                      at=_moved(transition.transition.at, transition.path, shift))


def _weight(arc: FlatArc) -> int:
    return 1 if arc.weight == VARYING else int(arc.arc.weight)


def _left_out(flat: FlatNet) -> list[str]:
    """What a skeleton does not say; nothing for a place/transition net."""
    arcs = [arc for t in flat.transitions for arc in (*t.inputs, *t.outputs)]
    counts = {
        "coloured place": sum(place.place.colour is not UNIT for place in flat.places),
        "guard": sum(bool(t.transition.guard) for t in flat.transitions),
        "delay": sum(bool(arc.arc.delay_s) for arc in arcs),
    }
    found = [counted(count, what) for what, count in counts.items() if count]
    urgent = sum(bool(t.priority) for t in flat.transitions)
    if urgent:
        found.append(f"{urgent} priorit{'y' if urgent == 1 else 'ies'}")
    lines = [f"the skeleton leaves out {', '.join(found)}"] if found else []
    varying = sum(arc.weight == VARYING for arc in arcs)
    if varying:
        lines.append(f"weights that hang on the tokens ({varying}) count as 1 in the skeleton")
    return lines
