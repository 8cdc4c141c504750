"""Views: inheritance worked out by hand, bounds at every level, and trees that are none."""

import math

import numpy as np
import pytest

from wattline.model.errors import InputError
from wattline.model.machine import Machine, NodeClass
from wattline.model.views import Bound, BoundExceeded, Entity, Inherit, Key, KeyType, MachineView
from wattline.model.views.build import network_view, power_view, rack_view, read_views

# site -- a (a1, a2), b (b1)
ENTITIES = [
    Entity("site", "site"),
    Entity("a", "rack", "site"), Entity("a1", "node", "a"), Entity("a2", "node", "a"),
    Entity("b", "rack", "site"), Entity("b1", "node", "b"),
]
LEAVES = {"a1": 10.0, "a2": 30.0, "b1": 5.0}


def view_with(inherit, source="power", **more):
    keys = [Key("power", inherit=Inherit.CHILDREN_SUM), Key("out", inherit=inherit, source=source)]
    return MachineView("test", ENTITIES, keys, {"power": LEAVES}, **more)


@pytest.mark.parametrize(
    ("inherit", "of_a", "of_site"),
    [
        (Inherit.CHILDREN_SUM, 40, 45), (Inherit.CHILDREN_MIN, 10, 5),
        (Inherit.CHILDREN_MAX, 30, 40), (Inherit.CHILDREN_AVERAGE, 20, 22.5),
        (Inherit.CHILDREN_COUNT, 2, 2),
    ],
)
def test_up(inherit, of_a, of_site):
    view = view_with(inherit)
    assert (view.get("a", "out"), view.get("site", "out")) == (of_a, of_site)


@pytest.mark.parametrize(
    ("inherit", "of_a1"),
    [
        # a1 lies below a (4) and site (100).
        (Inherit.PARENTS_SUM, 104), (Inherit.PARENTS_MIN, 4), (Inherit.PARENTS_MAX, 100),
        (Inherit.PARENTS_AVERAGE, 52), (Inherit.PARENTS_SHARE, 2),
    ],
)
def test_down(inherit, of_a1):
    keys = [Key("limit"), Key("out", inherit=inherit, source="limit")]
    view = MachineView("test", ENTITIES, keys, {"limit": {"site": 100, "a": 4}})
    assert view.get("a1", "out") == of_a1


def test_down_comes_before_up():
    """The site's 12 is shared: 6 a rack; a's two nodes get 3 each, b's one gets 6; sum is 12."""
    keys = [
        Key("share", inherit=Inherit.PARENTS_SHARE),
        Key("total", inherit=Inherit.CHILDREN_SUM, source="share"),
    ]
    view = MachineView("test", ENTITIES, keys, {"share": {"site": 12}})
    assert [view.get(e, "share") for e in ("a", "a1", "b1")] == [6, 3, 6]
    assert [view.get(e, "total") for e in ("a", "b", "site")] == [6, 6, 12]
    view.set("site", "share", 24)
    assert [view.get(e, "total") for e in ("a", "b", "site")] == [12, 12, 24]


def test_keys_of_one_level_each():
    """The layout of the classic power plug-in: another key at every level."""
    keys = [
        Key("core_w", on=("node",)),
        Key("node_w", inherit=Inherit.CHILDREN_SUM, source="core_w", on=("rack",)),
        Key("sum_w", inherit=Inherit.CHILDREN_SUM, source="node_w", on=("site",)),
    ]
    view = MachineView("test", ENTITIES, keys, {"core_w": LEAVES})
    assert [view.get("a", "node_w"), view.get("site", "sum_w")] == [40, 45]
    assert view.get("site", "node_w") is None
    view.set("a1", "core_w", 20)
    assert [view.get("a", "node_w"), view.get("site", "sum_w")] == [50, 55]


def test_an_update_touches_the_path_and_nothing_else():
    keys = [Key("power", inherit=Inherit.CHILDREN_SUM)]
    view = MachineView("test", ENTITIES, keys, {"power": LEAVES})
    assert view.set("a1", "power", 11) == 3  # a1, a, site
    assert view.get("site", "power") == 46


def test_a_value_can_be_taken_away():
    view = view_with(Inherit.CHILDREN_COUNT)
    view.set("a2", "power", None)
    assert (view.get("a", "out"), view.get("a", "power")) == (1, 10)


def test_texts_and_types():
    keys = [Key("cores", KeyType.INTEGER), Key("on", KeyType.SWITCH), Key("model", KeyType.TEXT)]
    view = MachineView("t", ENTITIES, keys, {"model": {"a1": "x86"}})
    view.set("a1", "cores", 16)
    view.set("a1", "on", True)
    assert [view.get("a1", k) for k in ("cores", "on", "model")] == [16, True, "x86"]
    with pytest.raises(InputError, match="'cores' is an integer"):
        view.set("a1", "cores", 1.5)
    with pytest.raises(InputError, match="'cores' is a integer; 'many' is not one"):
        view.set("a1", "cores", "many")
    with pytest.raises(InputError, match="switch"):
        view.set("a1", "on", 7)


def test_bounds_hold_at_every_level_and_a_refusal_changes_nothing():
    keys = [Key("power", inherit=Inherit.CHILDREN_SUM), Key("limit")]
    values = {"power": LEAVES, "limit": {"site": 100.0, "a": 45.0}}
    view = MachineView("test", ENTITIES, keys, values, [Bound("power", "limit")])
    assert view.headroom("a1") == 5
    assert view.headroom("b1") == 55
    before = view.column("power").copy()
    with pytest.raises(BoundExceeded, match=r"power of rack 'a' would be 46, above its limit"):
        view.set("a1", "power", 16)
    assert np.array_equal(view.column("power"), before)
    nodes = [view.tree.of("a1"), view.tree.of("b1")]
    with pytest.raises(BoundExceeded, match="site"):
        view.set_many("power", nodes, [15.0, 80.0])
    assert np.array_equal(view.column("power"), before)


@pytest.mark.parametrize(
    ("entities", "message"),
    [
        ([Entity("r", "x"), Entity("p", "x", "q"), Entity("q", "x", "p")], "cyclic: p in q in p"),
        ([Entity("p", "x", "p")], "cyclic"),
        ([*ENTITIES, Entity("a1", "node", "b")], "'a1' is in two parents, 'a' and 'b'"),
        ([*ENTITIES, Entity("a1", "node", "a")], "'a1' is listed twice"),
        ([Entity("a", "rack", "nowhere")], "parent 'nowhere' of 'a' is no entity"),
        ([], "no entities"),
    ],
)
def test_what_is_no_tree_is_refused(entities, message):
    with pytest.raises(InputError, match=message):
        MachineView("test", entities, [Key("power")])


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ([Key("a", inherit=Inherit.CHILDREN_SUM, source="b")], "'b', which is no key"),
        ([Key("a", inherit=Inherit.CHILDREN_SUM, source="b"),
          Key("b", inherit=Inherit.CHILDREN_SUM, source="a")], "circle"),
        ([Key("a", inherit=Inherit.CHILDREN_SUM),
          Key("b", inherit=Inherit.PARENTS_SUM, source="a")], "first down, then up"),
        ([Key("a"), Key("a")], "declared twice"),
    ],
)
def test_keys_that_cannot_be_computed_are_refused(keys, message):
    with pytest.raises(InputError, match=message):
        MachineView("test", ENTITIES, keys)


def test_read_only_and_inherited_values_cannot_be_set():
    view = MachineView("t", ENTITIES, [Key("power", inherit=Inherit.CHILDREN_SUM),
                                Key("serial", read_only=True)], {"serial": {"a1": 7}})
    with pytest.raises(InputError, match="read-only"):
        view.set("a1", "serial", 8)
    with pytest.raises(InputError, match="follows from 'power'"):
        view.set("a", "power", 8)
    with pytest.raises(InputError, match="did you mean 'a1'"):
        view.set("a11", "power", 8)
    with pytest.raises(InputError, match="no key 'watts'"):
        view.set("a1", "watts", 8)
    with pytest.raises(InputError, match="finite"):
        view.set("a1", "power", math.inf)


MACHINE = Machine.uniform(
    20, NodeClass("n", cores=4, power_w_idle=28, power_w_active=88), nodes_per_rack=8
)


def test_the_power_view_of_a_machine():
    view = power_view(MACHINE, cores=True, limits_w={"rack0": 500})
    assert view.get("site", "power_w") == MACHINE.power_w_idle
    assert view.get("site", "max_w") == MACHINE.power_w_max
    assert view.get("n0c0", "bound_w") == 500
    # Eight nodes of 28 W idle leave 276 W of the rack's 500: four nodes at full power.
    assert view.headroom("n0") == 500 - 8 * 28
    cores = [view.tree.of(f"n{n}c{c}") for n in range(4) for c in range(4)]
    view.set_many("power_w", cores, np.full(16, 22.0))
    with pytest.raises(BoundExceeded, match="rack0"):
        view.set_many("power_w", [view.tree.of(f"n4c{c}") for c in range(4)], np.full(4, 22.0))


def test_the_other_views_of_a_machine():
    racks = rack_view(MACHINE)
    assert [racks.get(f"rack{r}", "nodes") for r in range(3)] == [8, 8, 4]
    assert racks.get("site", "cores") == 80
    net = network_view(MACHINE, nodes_per_switch=4)
    assert net.get("fabric", "links") == 20
    assert net.get("n0", "share") == pytest.approx(1 / 3 / 2 / 4)


VIEWS = """
[views.power]
bounds = [{used = "w", limit = "most"}]
keys = [{name = "w", inherit = "children_sum"}, {name = "most"}]
entities = [
  {name = "room", type = "room", most = 100},
  {name = "pdu[1-2]", type = "pdu", parent = "room"},
  {name = "n[01-04]", type = "node", parent = "pdu1", w = 10},
]
"""


def test_views_come_from_a_file(tmp_path):
    path = tmp_path / "views.toml"
    path.write_text(VIEWS)
    view = read_views(path)["power"]
    assert view.get("room", "w") == 40
    assert view.headroom("n03") == 60


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('parent = "room"', 'parent = "pdu2"'), "cyclic"),
        (('w = 10', 'watt = 10'), "unknown key 'watt'"),
        (('children_sum', 'children_sun'), "inherit 'children_sun' is unknown"),
        (('most = 100', 'most = 30'), "above its most of 30"),
        (('[views.power]', '[view.power]'), r"no \[views.NAME\] table"),
        (('{name = "most"}', '{name = 7.5, typ = 1}'), "unknown field typ"),
    ],
)
def test_a_bad_views_file_is_refused(tmp_path, change, message):
    path = tmp_path / "views.toml"
    path.write_text(VIEWS.replace(*change))
    with pytest.raises((InputError, BoundExceeded), match=message):
        read_views(path)
