"""Every policy is declared once, and is made from its declaration and a setting alone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from pydantic import Field

from wattline.account.fairshare import ShareTree
from wattline.model.errors import InputError, PolicyError
from wattline.model.fields import FileName, Number
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass, NodeGroup
from wattline.model.signal import Signal
from wattline.network.fabric import fabric_for
from wattline.network.topology import dragonfly
from wattline.policies import registry
from wattline.policies.declaration import AXES, Declaration, Parameters
from wattline.policies.order.fcfs import Fcfs
from wattline.policies.parameter_rows import file_parameters, parameter_rows
from wattline.policies.setting import Outside, Setting

NETWORK = dragonfly(2, 2, 5)
JOBS = JobTable.build(
    submit_s=[0.0, 5.0], run_s=[60.0, 60.0], procs=[2, 1], user=[0, 1], application=[0, 0],
    names={"user": ("ada", "bob"), "application": ("BT-MZ",)})
NODE = NodeClass(name="node", power_w_idle=90.0, power_w_active=300.0)
CLAIMED = {"machine": Machine((NodeGroup(NodeClass(name="xeon"), 20),)),
           "jobs": replace(JOBS, names={**JOBS.names, "application": ("EP.A",)})}
"""For claims, which know other applications and name classes of nodes."""
NEEDED: dict[str, dict[str, Any]] = {"power.budget": {"energy": "9MWh"},
                                     "placement.bounded": {"limits": {"rack0": "5kW"}}}
BESIDE: dict[str, dict[str, str]] = {
    "power.lending": {"configure": "naive"}, "placement.varied": {"configure": "naive"},
    "configure.claims": {"placement": "claims"}, "placement.claims": {"configure": "claims"},
    "order.claims": {"configure": "claims", "placement": "claims"}}
"""Fields that a policy makes no sense without."""
USUAL = {"order": "fcfs", "backfill": "easy", "power": "none", "configure": "requested",
         "placement": "counted"}


class Readers(Outside):
    """Arguments that tests hand in from the rooms above."""

    def shares(self, file: str, users: Sequence[str]) -> Any:
        return ShareTree.flat(users)

    def fabric(self, placement: str) -> Any:
        return fabric_for(placement, NETWORK, NETWORK.nodes)


def made(axis: str, choice: Any, **given: Any) -> Any:
    name = choice if isinstance(choice, str) else choice["name"]
    whole = f"{axis}.{name}"
    names = USUAL | BESIDE.get(whole, {}) | {axis: choice}
    chosen = {each: registry.choose(each, names[each]) for each in AXES}
    fields = {"machine": Machine.uniform(20, NODE), "jobs": JOBS, "outside": Readers(),
              "cap_w": Signal.constant(4000.0), **(CLAIMED if name == "claims" else {}), **given}
    return registry.build(chosen[axis], Setting(chosen=chosen, **fields))


OF_SCENARIOS = [whole for whole in registry.BUILT_IN if whole.partition(".")[0] in AXES]


@pytest.mark.parametrize("whole", OF_SCENARIOS)
def test_every_policy_is_made_from_its_defaults(whole: str) -> None:
    axis, _, name = whole.partition(".")
    found = made(axis, {"name": name, **NEEDED.get(whole, {})})
    assert isinstance(found, tuple)
    assert type(found).__module__.startswith("wattline.policies.")


@pytest.mark.parametrize("name", registry.built_in()["regulation"])
def test_every_rule_of_contracts_is_made_for_its_desk(name: str) -> None:
    chosen = registry.choose("regulation", name)
    found = chosen.declaration.make("a desk", chosen.given)
    assert found == ("a desk",)
    assert type(found).__module__.startswith("wattline.policies.regulation.")


@pytest.mark.parametrize("whole", registry.BUILT_IN)
def test_every_declaration_says_who_it_is(whole: str) -> None:
    axis, _, name = whole.partition(".")
    found = registry.find(axis, name)
    assert (found.axis, found.name) == (axis, name)
    assert found.summary.endswith(".")
    assert registry.source_of(axis, name) == "wattline"


def test_what_is_not_said_stands_in_the_setting() -> None:
    setting = Setting(Machine.uniform(2, NODE), JOBS)
    power = replace(setting.power, wait_s=77.0, latency_s=3.0)
    assert made("power", "wait", power=power).wait_s == 77.0
    assert made("power", {"name": "wait", "wait_s": "1h"}, power=power).wait_s == 3600.0
    assert made("power", "dvfs", power=power).latency_s == 3.0
    assert made("power", {"name": "dvfs", "latency_s": 0.0}, power=power).latency_s == 0.0


def test_claims_are_read_once_for_configuration_and_placement() -> None:
    chosen = {axis: registry.choose(axis, name) for axis, name in
              (USUAL | {"configure": "claims", "placement": "claims"}).items()}
    setting = Setting(chosen=chosen, **CLAIMED)
    configuration = registry.build(chosen["configure"], setting)
    assert registry.build(chosen["placement"], setting).claims is configuration


def test_files_are_marked_as_files() -> None:
    found = {f"{axis}.{name}": set(file_parameters(each.parameters))
             for axis, named in registry.built_in().items() for name, each in named.items()}
    tables = {"table", "model", "store"}
    assert {whole: files for whole, files in found.items() if files} == {
        "order.energy-share": {"shares", "store"}, "power.budget": {"price", "carbon"},
        **{f"configure.{rule}": tables for rule in ("traditional", "fixed", "naive", "adaptive")},
        "configure.claims": {"claims", "store"}, "placement.varied": {"file"},
        "placement.bounded": {"views"}}


def test_listing_policies_and_reading_scenarios_need_no_compiler() -> None:
    code = ("import sys; from wattline.policies.registry import built_in, check; built_in();"
            "check('power', {'name': 'wait', 'slots': 3}); import wattline.scenario.load;"
            "print(*sorted({'numba', 'pandas', 'pyarrow', 'sqlalchemy'} & set(sys.modules)))")
    compiling = {name: value for name, value in os.environ.items() if name != "WATTLINE_PLAIN"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          env=compiling)
    assert done.stdout.split() == []


def test_a_setting_without_readers_says_which_is_missing() -> None:
    with pytest.raises(InputError, match="nothing here reads networks"):
        made("placement", "rdn", outside=Outside())


# ---- a policy of somebody else's ---------------------------------------------------------------


class Given(Parameters):
    weight: Number = Field(0.5, ge=0, le=10)
    notes: FileName = ""


def _choose(setting: Setting, given: Given) -> Any:
    if given.weight == 7:
        raise ValueError("seven\nis no weight")
    if given.weight == 8:
        raise KeyError("eight")
    return Fcfs() if given.weight < 9 else None


MINE = Declaration("order", "mine", "As I like it.", _choose, Given)
NAMESAKE = Declaration("order", "sjf", "Not theirs.", _choose)
PLACE = "tests.unit.policies.test_registry:MINE"


def test_a_place_is_a_policy_with_the_parameters_that_it_declares() -> None:
    chosen = registry.choose("order", {"name": PLACE, "weight": 2})
    assert chosen.given.model_dump() == {"weight": 2.0, "notes": ""}
    assert made("order", {"name": PLACE, "weight": 2}) == Fcfs()


@pytest.mark.parametrize(("given", "words"), [
    ({"weight": -1}, "weight: must be at least 0 and at most 10"),
    ({"weight": "heavy"}, "weight: must be a number, without quotes"),
    ({"wait": 1}, "'mine' has no parameter 'wait'; there are: weight, notes"),
    ({"weight": 7}, "'mine': seven is no weight"),
])
def test_a_bad_parameter_of_a_foreign_policy_is_a_mistake_of_one_line(given, words) -> None:
    with pytest.raises(InputError) as error:
        made("order", {"name": PLACE, **given})
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("weight", "words"), [
    (8, "failed: KeyError: 'eight'"), (9, "makes a NoneType; it must be a NamedTuple")])
def test_a_foreign_policy_that_fails_says_who_failed(weight, words) -> None:
    with pytest.raises(PolicyError, match=words):
        made("order", {"name": PLACE, "weight": weight})


@pytest.mark.parametrize(("axis", "place", "words"), [
    ("power", PLACE, "is declared for policy.order, not for policy.power"),
    ("order", "tests.unit.policies.test_registry:Given", "is no Declaration"),
    ("order", "no_such_module:X", "cannot load 'no_such_module:X'"),
    ("order", "wattline.policies.order.order_setup:SJF", "is called 'sjf', which is built in"),
    ("order", PLACE.replace("MINE", "NAMESAKE"), "is called 'sjf', which is built in"),
    ("order", ":X", "must be MODULE:CLASS"),
])
def test_a_place_without_a_policy_for_this_axis_is_refused(axis, place, words) -> None:
    with pytest.raises(InputError, match=words):
        registry.choose(axis, place)


@pytest.mark.parametrize(("axis", "name", "summary"), [
    ("orders", "x", "A line."), ("order", "a:b", "A line."), ("order", "x", "Two\nlines."),
    ("order", "x", " ")])
def test_a_declaration_that_says_nothing_is_refused(axis, name, summary) -> None:
    with pytest.raises(PolicyError):
        Declaration(axis, name, summary, _choose)


def test_parameters_are_a_model_that_can_be_described() -> None:
    with pytest.raises(PolicyError, match="must be a pydantic model"):
        Declaration("order", "x", "A line.", _choose, dict)  # type: ignore[arg-type]

    class Odd(Parameters):
        rule: Callable[[int], int] = abs

    with pytest.raises(PolicyError, match="Odd cannot be described"):
        parameter_rows(Odd)


def test_rows_say_kind_range_and_typed_default() -> None:
    weight, notes = parameter_rows(Given)
    assert weight == {"name": "weight", "kind": "number", "unit": None, "range": ">= 0, <= 10",
                      "choices": [], "file": False, "needed": False, "default": 0.5,
                      "otherwise": None}
    assert (notes["kind"], notes["file"], notes["default"]) == ("file", True, None)


def test_the_ends_of_optional_numbers_and_of_lists_are_known() -> None:
    rows = {row["name"]: row for row in parameter_rows(
        registry.find("power", "budget").parameters)}
    assert rows["idle_core_w"]["range"].startswith(">= 0, <=")
    assert rows["frequency_ghz"]["range"] == ">= 0.01, <= 20"
    assert rows["frequency_ghz"]["kind"] == "list of numbers"
    assert rows["energy"]["needed"]
    assert rows["energy"]["unit"] == "J"
    assert np.isclose(rows["period"]["default"], 604800.0)


@pytest.mark.parametrize("ghz", [0.009, 20.1, 1000.0, 2400.0])
@pytest.mark.parametrize("name", ["adaptive", "budget"])
def test_a_frequency_that_no_processor_has_is_refused(name: str, ghz: float) -> None:
    """In MHz, say: 2400 is no number of GHz."""
    given = {"frequency_ghz": [1.0, ghz], "core_w": [2.0, 3.0]}
    energy = {"energy": "9MJ", "period": "1h"} if name == "budget" else {}
    parameters = registry.find("power", name).parameters
    with pytest.raises(ValueError, match="frequency_ghz"):
        parameters.model_validate(given | energy)
    assert parameters.model_validate(given | energy | {"frequency_ghz": [1.0, 20.0]})
