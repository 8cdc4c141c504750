"""Machines and policies as objects: made from the declarations, checked when they are made."""

from __future__ import annotations

import pytest

import wattline as wl
from wattline.policies.declaration import AXES
from wattline.policies.placement.network.placements import PLACEMENTS
from wattline.policies.registry import built_in
from wattline.scenario import objects
from wattline.scenario.objects import PolicyObject

TRACE = wl.generate("lublin", seed=1, jobs=30, nodes=32)
MACHINE = wl.Machine(nodes=32, node_idle_w=90, node_active_w=300)
OBJECTS = [each for each in vars(objects).values()
           if isinstance(each, type) and issubclass(each, PolicyObject) and each.NAME]


def test_every_policy_but_those_on_a_network_is_an_object() -> None:
    there = {(each.AXIS, each.NAME) for each in OBJECTS}
    declared = {(axis, name) for axis in AXES for name in built_in()[axis]}
    assert declared - there == {("placement", name) for name in PLACEMENTS}
    assert there <= declared


@pytest.mark.parametrize("each", OBJECTS, ids=lambda each: each.__name__)
def test_an_object_has_the_parameters_that_are_declared(each: type[PolicyObject]) -> None:
    declaration = built_in()[each.AXIS][each.NAME]
    assert set(each.model_fields) - {"cap"} == set(declaration.parameters.model_fields)
    assert getattr(wl, each.__name__) is each
    assert each.__doc__.split("\n")[0] == declaration.summary


def test_only_what_was_given_is_said() -> None:
    assert wl.Dvfs(cap="70%").choice() == {"name": "dvfs"}
    assert wl.Wait(wait_s="1h", cap=5000).choice() == {"name": "wait", "wait_s": 3600.0}


def test_a_mistake_is_one_line() -> None:
    with pytest.raises(wl.InputError, match=r"^Dvfs: latency_s: must be at least 0"):
        wl.Dvfs(latency_s=-1)
    with pytest.raises(wl.InputError, match=r"^Machine: node: there is no such field; did you mean "
                                            r"'nodes'\?$"):
        wl.Machine(node=3)


def test_object_name_and_field_are_the_same_run() -> None:
    runs = [wl.simulate(TRACE, machine=MACHINE, power=wl.Wait(cap="60%", slots=2)),
            wl.simulate(TRACE, machine=MACHINE, power={"name": "wait", "slots": 2}, cap="60%"),
            wl.simulate(trace=TRACE, machine__nodes=32, machine__node_idle_w=90,
                        machine__node_active_w=300, policy__power="wait",
                        policy__power__slots=2, power__cap="60%")]
    assert len({run.schedule.start_s.tobytes() for run in runs}) == 1
    assert len({run.energy_j for run in runs}) == 1
    assert runs[0].time_above_cap_s == 0
    assert runs[0].scenario["policy"] == runs[2].scenario["policy"]


def test_the_machine_of_a_run_can_be_taken_again() -> None:
    run = wl.simulate(TRACE, machine=MACHINE)
    again = wl.simulate(TRACE, machine=run.machine)
    assert again.machine.groups[0].node_class.power_w_idle == 90
    assert (again.schedule.start_s == run.schedule.start_s).all()


def test_a_declaration_serves_where_a_name_does() -> None:
    class Exponent(wl.Parameters):
        exponent: float = 1.0

    def make(setting: object, given: Exponent) -> object:
        from wattline.policies.order.wfp import Wfp

        return Wfp(given.exponent)

    mine = wl.Declaration("order", "mine", "As WFP.", make, Exponent)
    theirs = wl.simulate(TRACE, machine=MACHINE, order=wl.Wfp(exponent=2))
    run = wl.simulate(TRACE, machine=MACHINE, order=mine(exponent=2))
    assert (run.schedule.start_s == theirs.schedule.start_s).all()
    assert run.scenario["policy"]["order"] == {"name": "mine", "exponent": 2.0}
    assert wl.simulate(TRACE, machine=MACHINE, order=mine).ran.all()
    with pytest.raises(wl.InputError, match=r"'mine': exponent: "):
        mine(exponent="a lot")


@pytest.mark.parametrize(("given", "said"), [
    ({"order": wl.Easy()}, r"order: Easy is a policy for backfill; write backfill=Easy\(\)$"),
    ({"order": 3}, "order: int is no policy for it"),
    ({"machine": 32}, r"write Machine\(nodes=32\)"),
    ({"policy": "wfp"}, r"policy is an object with decide\(view\), not str"),
    ({"policy": {"order": "wfp"}}, r"policy is an object with decide\(view\), not dict"),
    ({"power": wl.Dvfs(cap="70%"), "cap": "80%"}, "cap is given twice"),
    ({"order": wl.Declaration("order", "sjf", "Another.", lambda s, g: None)}, "built in"),
])
def test_what_cannot_serve_is_refused_in_one_line(given: dict[str, object], said: str) -> None:
    with pytest.raises(wl.InputError, match=said) as caught:
        wl.simulate(TRACE, **{"machine": MACHINE, **given})
    assert "\n" not in str(caught.value)


def test_a_class_instead_of_an_object_is_named() -> None:
    class Patient:
        def decide(self, view: wl.View) -> list[object]:
            return []

    with pytest.raises(wl.InputError, match=r"give an object of it: Patient\(\)"):
        wl.simulate(TRACE, machine=MACHINE, policy=Patient)


def test_fields_that_are_given_without_their_names_are_refused_in_one_line() -> None:
    with pytest.raises(wl.InputError, match=r"^Wfp takes its fields by name: exponent$"):
        wl.Wfp(2.0)
    with pytest.raises(wl.InputError, match=r"^Machine takes its fields by name: name, site, "):
        wl.Machine(8)


def test_a_cap_is_a_file_by_its_path_as_by_its_name(tmp_path):
    file = tmp_path / "cap.csv"
    file.write_text("0,9000\n600,5000\n")
    runs = [wl.simulate(TRACE, machine=MACHINE, power="block", cap=cap)
            for cap in (file, str(file))]
    assert runs[0].time_above_cap_s == runs[1].time_above_cap_s
    assert runs[0].energy_j == runs[1].energy_j
    watched = wl.simulate(TRACE, machine=MACHINE, watch_cap=file)
    assert watched.time_above_cap_s > 0
    with pytest.raises(wl.InputError, match=r"nope\.csv"):
        wl.simulate(TRACE, machine=MACHINE, power="block", cap=tmp_path / "nope.csv")
