"""The rules of coloured, timed, hierarchical nets, each on the smallest net that shows it."""

from __future__ import annotations

import numpy as np
import pytest

from wattline.model.errors import InputError
from wattline.petri.flat import flatten
from wattline.petri.inscriptions import Timed
from wattline.petri.net import (
    UNIT,
    Colour,
    Net,
    Page,
    Place,
    Substitution,
    Transition,
    absent,
    put,
    see,
    take,
    take_all,
)
from wattline.petri.simulate import Simulation

INT = Colour("INT", int)
PAIR = Colour("PAIR", tuple)


def net(*transitions: Transition, places: tuple[Place, ...], **declared: object) -> Net:
    return Net("test", Page("top", places, transitions), declared)


def test_guard_and_arc_expression() -> None:
    made = net(Transition("double", (take("a", "x"), put("b", "twice(x)")), guard="x > 1"),
               places=(Place("a", INT, (1, 2, 3)), Place("b", INT)), twice=lambda x: 2 * x)
    simulation = Simulation(made)
    assert [firing.shown for firing in simulation.enabled()] == [{"x": 2}, {"x": 3}]
    assert simulation.run() == 2
    assert simulation.place("a").values() == [1]
    assert simulation.place("b").values() == [4, 6]


def test_a_name_on_two_arcs_must_bind_the_same_value() -> None:
    made = net(Transition("meet", (take("a", "(n, x)"), take("b", "(n, y)"), put("c", "x + y"))),
               places=(Place("a", PAIR, ((1, 10), (2, 20))), Place("b", PAIR, ((2, 2), (3, 3))),
                       Place("c", INT)))
    simulation = Simulation(made)
    simulation.run()
    assert simulation.place("c").values() == [22]


def test_starred_pattern_takes_the_head_of_a_list() -> None:
    made = net(Transition("pop", (take("q", "(head, *rest)"), put("q", "rest"), put("b", "head"))),
               places=(Place("q", PAIR, ((5, 6, 7),)), Place("b", INT)))
    simulation = Simulation(made)
    assert simulation.run() == 3
    assert simulation.place("b").values() == [5, 6, 7]
    assert simulation.place("q").values() == [()]


def test_priority_lets_only_the_most_urgent_fire() -> None:
    made = net(Transition("late", (take("a", "x"), put("b", "x")), priority=2),
               Transition("soon", (take("a", "x"), put("c", "x")), priority=1),
               places=(Place("a", INT, (1, 2)), Place("b", INT), Place("c", INT)))
    simulation = Simulation(made)
    assert {f.transition.path for f in simulation.enabled()} == {"soon"}
    assert {f.transition.path for f in simulation.held_back()} == {"late"}
    simulation.run()
    assert simulation.place("c").values() == [1, 2]
    assert simulation.place("b").count() == 0


def test_clock_moves_to_the_next_ready_token_only_when_nothing_is_enabled() -> None:
    made = net(Transition("work", (take("a", "x"), put("b", "(x, now)", delay_s="x"))),
               Transition("end", (take("b", "(x, t)"), put("c", "(x, t, now)"))),
               places=(Place("a", INT, (Timed(5, 2.0), Timed(1, 3.0))), Place("b", PAIR),
                       Place("c", PAIR)))
    simulation = Simulation(made)
    simulation.run()
    # 5 starts at 2 and ends at 7; 1 starts at 3 and ends at 4.
    assert simulation.place("c").values() == [(1, 3.0, 4.0), (5, 2.0, 7.0)]
    assert simulation.now_s == 7.0


def test_unit_places_count_and_arcs_have_weights() -> None:
    made = net(Transition("buy", (take("coins", weight="price(x)"), take("a", "x"), put("b", "x"))),
               places=(Place("coins", UNIT, (1_000_000,)), Place("a", INT, (1,)), Place("b", INT)),
               price=lambda x: 999_999)
    with pytest.raises(InputError, match="which no input arc binds"):
        Simulation(made).run()  # the weight needs x, so the arc that binds x must come first
    made = net(Transition("buy", (take("a", "x"), take("coins", weight="price(x)"), put("b", "x"))),
               places=(Place("coins", UNIT, (1_000_000,)), Place("a", INT, (1, 2)),
                       Place("b", INT)),
               price=lambda x: 999_999)
    simulation = Simulation(made)
    assert simulation.run() == 1
    assert simulation.place("coins").count() == 1


def test_test_inhibitor_and_all_arcs() -> None:
    made = net(
        Transition("look", (see("a", "x"), absent("done"), put("done", "x"))),
        Transition("sweep", (take_all("late", "xs"), see("done", "y"), absent("swept"),
                             put("swept", "xs"))),
        places=(Place("a", INT, (7,)), Place("done", INT), Place("swept", PAIR),
                Place("late", INT, (Timed(1, 100.0), Timed(2, 50.0)))))
    simulation = Simulation(made)
    simulation.run(max_firings=2)
    assert simulation.place("a").values() == [7]
    assert simulation.place("done").values() == [7]
    # Tokens that are not ready are swept as well, in order of their time.
    assert simulation.place("swept").values() == [(2, 1)]
    assert simulation.now_s == 0.0


def test_two_arcs_do_not_take_the_same_token() -> None:
    made = net(Transition("pair", (take("a", "x"), take("a", "y"), put("b", "(x, y)"))),
               places=(Place("a", INT, (1, 1, 2)), Place("b", PAIR)))
    simulation = Simulation(made)
    assert simulation.run() == 1
    assert simulation.place("b").values() == [(1, 1)]


def test_modules_share_sockets_and_fusion_places() -> None:
    def stage(name: str, source: str, target: str) -> Page:
        return Page(name, (Place("in", INT, port=True), Place("out", INT, port=True),
                           Place("seen", INT, fusion="seen"), Place("local", INT)),
                    (Transition("move", (take("in", "x"), put("out", "x + 1"), put("seen", "x"),
                                         put("local", "x"))),))

    first, second = stage("one", "a", "b"), stage("two", "b", "c")
    top = Page("top", (Place("a", INT, (1,)), Place("b", INT), Place("c", INT)), substitutions=(
        Substitution("first", first, {"in": "a", "out": "b"}),
        Substitution("second", second, {"in": "b", "out": "c"})))
    simulation = Simulation(Net("h", top))
    simulation.run()
    assert simulation.place("c").values() == [3]
    assert simulation.place("seen").values() == [1, 2]
    assert simulation.place("first/local").values() == [1]
    assert simulation.place("second/local").values() == [2]
    with pytest.raises(InputError, match="more than one place"):
        simulation.place("local")
    assert [place.path for place in simulation.flat.places] == [
        "a", "b", "c", "seen", "first/local", "second/local"]


def test_random_choice_follows_its_seed() -> None:
    made = net(Transition("left", (take("a", "x"), put("l", "x"))),
               Transition("right", (take("a", "x"), put("r", "x"))),
               places=(Place("a", INT, tuple(range(40))), Place("l", INT), Place("r", INT)))

    def outcome(seed: int) -> list[int]:
        simulation = Simulation(made, chooser=np.random.default_rng(seed))
        simulation.run()
        assert simulation.place("l").count() + simulation.place("r").count() == 40
        return list(simulation.place("l").values())

    assert outcome(1) == outcome(1)
    assert outcome(1) != outcome(2)
    assert 5 < len(outcome(1)) < 35


def test_saved_state_comes_back() -> None:
    made = net(Transition("go", (take("a", "x"), take("n"), put("b", "x", delay_s="3"))),
               places=(Place("a", INT, (1, 2)), Place("n", UNIT, (2,)), Place("b", INT)))
    simulation = Simulation(made)
    state = simulation.save()
    simulation.run()
    assert simulation.place("b").count() == 2
    simulation.restore(state)
    assert (simulation.now_s, simulation.fired) == (0.0, 0)
    assert simulation.place("a").values() == [1, 2]
    assert simulation.place("n").count() == 2
    assert len(simulation.enabled()) == 2


@pytest.mark.parametrize(("transition", "message"), [
    (Transition("t", (take("a", "x +"),)), "is not an expression"),
    (Transition("t", (take("a", "(*x, *y)"),)), "one starred name"),
    (Transition("t", (take("a", "x", weight="2"),)), "only places of colour UNIT"),
    (Transition("t", (put("n", delay_s="2"),)), "no delay"),
    (Transition("t", (take("n"), take("n"))), "two arcs from one UNIT place"),
])
def test_wrong_inscriptions_are_named(transition: Transition, message: str) -> None:
    with pytest.raises(InputError, match=message):
        flatten(net(transition, places=(Place("a", INT), Place("n", UNIT))))


def test_wrong_pages_are_named() -> None:
    with pytest.raises(InputError, match="no place of the page"):
        Page("p", (), (Transition("t", (take("a"),)),))
    with pytest.raises(InputError, match="place 'a' twice"):
        Page("p", (Place("a"), Place("a")))
    inner = Page("inner", (Place("io", INT, port=True),))
    with pytest.raises(InputError, match="tied to no socket"):
        flatten(Net("n", Page("top", substitutions=(Substitution("s", inner, {}),))))
    with pytest.raises(InputError, match="not a place there"):
        flatten(Net("n", Page("top", substitutions=(Substitution("s", inner, {"io": "x"}),))))


def test_wrong_colour_is_refused() -> None:
    made = net(Transition("t", (take("a", "x"), put("b", "x"))),
               places=(Place("a", INT, (1,)), Place("b", PAIR)))
    with pytest.raises(InputError, match="takes tokens of colour PAIR"):
        Simulation(made).run()
