"""After any updates a view holds exactly what a computation from scratch gives, bit by bit."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import costing

from wattline.model.views import Entity, Inherit, Key, MachineView

UP = [Inherit.CHILDREN_SUM, Inherit.CHILDREN_MIN, Inherit.CHILDREN_MAX, Inherit.CHILDREN_AVERAGE,
      Inherit.CHILDREN_COUNT]
DOWN = [Inherit.PARENTS_SUM, Inherit.PARENTS_MIN, Inherit.PARENTS_MAX, Inherit.PARENTS_AVERAGE,
        Inherit.PARENTS_SHARE]


@st.composite
def trees(draw):
    size = draw(st.integers(2, 25))
    parents = [draw(st.integers(0, i - 1)) for i in range(1, size)]
    return [Entity("e0", "x"), *(Entity(f"e{i + 1}", "x", f"e{p}") for i, p in enumerate(parents))]


KEYS = [
    Key("own"),
    *(Key(f"up{i}", inherit=inherit, source="own") for i, inherit in enumerate(UP)),
    *(Key(f"down{i}", inherit=inherit, source="own") for i, inherit in enumerate(DOWN)),
    Key("tree_sum", inherit=Inherit.CHILDREN_SUM),
    Key("both", inherit=Inherit.CHILDREN_SUM, source="down4"),
]

numbers = st.one_of(st.none(), st.floats(-1e6, 1e6))
updates = st.lists(st.tuples(st.integers(0, 24), numbers), max_size=12)


def by_hand(view, entity, inherit, key):
    """The rule, written out over the tree in the plainest way."""
    tree = view.tree
    column = view.column(key)
    if inherit.up:
        found = [column[c] for c in tree.children_of(entity)]
    elif inherit == Inherit.PARENTS_SHARE:
        above = tree.parent[entity]
        return column[above] / tree.child_count[above] if above >= 0 else math.nan
    else:
        found = [column[e] for e in tree.path(entity)[1:]]
    found = [value for value in found if not math.isnan(value)]
    if inherit == Inherit.CHILDREN_COUNT:
        return float(len(found)) if tree.child_count[entity] else math.nan
    if not found:
        return math.nan
    rule = inherit.name.split("_")[1]
    return {"SUM": math.fsum, "MIN": min, "MAX": max,
            "AVERAGE": lambda values: math.fsum(values) / len(values)}[rule](found)


@given(trees(), updates)
@costing(10)
def test_updates_equal_a_fresh_computation(entities, changes):
    view = MachineView("v", entities, KEYS, {"own": {"e0": 1.0}})
    for number_of, value in changes:
        place = number_of % len(view.tree)
        number = math.nan if value is None else value
        view.set_fast(view.row_of("own"), place, number)
        if view.tree.child_count[place] == 0:
            view.set_fast(view.row_of("tree_sum"), place, number)
    kept = view.shape.values.copy()
    view.recompute()
    assert np.array_equal(kept, view.shape.values, equal_nan=True)
    for key in KEYS[1:11]:
        wanted = [by_hand(view, e, key.inherit, "own") for e in range(len(view.tree))]
        np.testing.assert_allclose(view.column(key.name), wanted, rtol=1e-12, atol=1e-6)
