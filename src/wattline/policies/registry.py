"""The policies by name along each axis: where each is declared, and how a choice becomes one.

A policy is registered by a name `AXIS.NAME` and the place of its `Declaration`, `MODULE:NAME`: the
built-in ones in the table below, those of other packages as entry points of the group
`wattline.policies`, one way for both. (Were the built-in ones entry points too, a source tree would
need to be installed anew before it knows a new one.) A scenario may also name a place itself, which
registers nothing; then the code of that place runs when the policy is made, not before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError

from wattline.model.errors import InputError, PolicyError, WattlineError
from wattline.model.fields import Choice, name_of
from wattline.model.mistakes import first_mistake
from wattline.model.nearest import did_you_mean
from wattline.model.plugins import installed
from wattline.policies.declaration import ALL_AXES, NOTHING_GIVEN, Declaration, NoParameters
from wattline.policies.loading import load_installed, load_object
from wattline.policies.parameter_rows import file_parameters
from wattline.policies.placement.network.placements import PLACEMENTS
from wattline.policies.setting import Chosen, Setting

_OWN = "wattline"
_P = "wattline.policies."
BUILT_IN: Mapping[str, str] = {
    "order.fcfs": _P + "order.order_setup:FCFS",
    "order.sjf": _P + "order.order_setup:SJF",
    "order.largest": _P + "order.order_setup:LARGEST",
    "order.wfp": _P + "order.order_setup:WFP",
    "order.multifactor": _P + "order.order_setup:MULTIFACTOR",
    "order.energy-share": _P + "order.energy_share_setup:ENERGY_SHARE",
    "order.claims": _P + "order.claimed_setup:CLAIMS",
    "backfill.none": _P + "backfill.backfill_setup:NONE",
    "backfill.easy": _P + "backfill.backfill_setup:EASY",
    "backfill.conservative": _P + "backfill.backfill_setup:CONSERVATIVE",
    "power.none": _P + "admission.admission_setup:NONE",
    "power.block": _P + "admission.admission_setup:BLOCK",
    "power.wait": _P + "admission.admission_setup:WAIT",
    "power.dvfs": _P + "admission.admission_setup:DVFS",
    "power.watts": _P + "admission.watts_setup:WATTS",
    "power.lending": _P + "admission.watts_setup:LENDING",
    "power.adaptive": _P + "admission.adaptive_setup:ADAPTIVE",
    "power.budget": _P + "admission.budget_setup:BUDGET",
    "configure.requested": _P + "configuration.moldable_setup:REQUESTED",
    "configure.traditional": _P + "configuration.moldable_setup:TRADITIONAL",
    "configure.fixed": _P + "configuration.moldable_setup:FIXED",
    "configure.naive": _P + "configuration.moldable_setup:NAIVE",
    "configure.adaptive": _P + "configuration.moldable_setup:ADAPTIVE",
    "configure.claims": _P + "configuration.claimed_setup:CLAIMS",
    "placement.counted": _P + "placement.placement_setup:COUNTED",
    "placement.first-fit": _P + "placement.placement_setup:FIRST_FIT",
    **{f"placement.{name}": f"{_P}placement.network.network_setup:DECLARED.{name}"
       for name in PLACEMENTS},
    "placement.varied": _P + "placement.varied_setup:VARIED",
    "placement.bounded": _P + "placement.bounded_setup:BOUNDED",
    "placement.claims": _P + "placement.claimed_setup:CLAIMS",
    "regulation.aqa": _P + "regulation.regulation_setup:AQA",
    "regulation.qosg": _P + "regulation.regulation_setup:QOSG",
    "regulation.qoscap": _P + "regulation.regulation_setup:QOSCAP",
    "regulation.energyqare": _P + "regulation.regulation_setup:ENERGYQARE",
    "regulation.tracking": _P + "regulation.regulation_setup:TRACKING",
}


@cache
def places() -> Mapping[str, Mapping[str, str]]:
    """Where each policy is declared, by axis and name: the built-in and the installed ones."""
    found: dict[str, dict[str, str]] = {axis: {} for axis in ALL_AXES}
    for whole, place in (*BUILT_IN.items(), *installed()):
        axis, _, name = whole.partition(".")
        if axis not in found or not name:
            raise InputError(f"entry point '{whole}' of {place}: name it AXIS.NAME with an axis of "
                             f"{', '.join(found)}")
        if name in found[axis]:
            raise InputError(f"two policies are called {whole}: {_source(found[axis][name])} and "
                             f"{place}")
        found[axis][name] = place
    return found


def find(axis: str, name: str) -> Declaration:
    """The policy of this name, or at the place `MODULE:NAME`, whose code is then run."""
    if is_place(name):
        found = _checked(load_object(name, f"policy.{axis}"), f"policy.{axis}: {name}", axis)
        if f"{axis}.{found.name}" in BUILT_IN:
            # By its name other axes know what it is; a second of that name they would mistake.
            raise InputError(f"policy.{axis}: {name} is called '{found.name}', which is built in; "
                             "write that name, or give the other one another")
        return found
    known = places()[axis]
    if name not in known:
        raise InputError(f"policy.{axis}: there is no '{name}'; there are: {', '.join(known)}"
                         + did_you_mean(name, known))
    return _installed(axis, name)


def is_place(name: str) -> bool:
    """Whether a choice is no name but the place of a declaration: code that nobody installed."""
    return ":" in name


def source_of(axis: str, name: str) -> str:
    """Who a policy comes from: `wattline`, or the place where it is declared."""
    return name if is_place(name) else _source(places()[axis][name])


def plug_ins(chosen: Mapping[str, str]) -> list[str]:
    """Modules of installed policies among those that are chosen, by axis; not built-in ones."""
    known = places()
    found = {known[axis][name] for axis, name in chosen.items()
             if name in known[axis] and f"{axis}.{name}" not in BUILT_IN}
    return sorted({place.partition(":")[0].strip() for place in found})


def declared() -> dict[str, dict[str, Declaration]]:
    """All built-in and installed policies."""
    return {axis: {name: find(axis, name) for name in known} for axis, known in places().items()}


def built_in() -> dict[str, dict[str, Declaration]]:
    """Those of this package."""
    return {axis: {name: each for name, each in named.items() if source_of(axis, name) == _OWN}
            for axis, named in declared().items()}


def files_of(axis: str, name: str) -> Mapping[str, tuple[str, ...]]:
    """The parameters of a named policy that are files, with words that are none."""
    known = not is_place(name) and name in places()[axis]
    return file_parameters(find(axis, name).parameters) if known else {}


def check(axis: str, choice: Choice) -> None:
    """Refuse parameters that a policy does not have or cannot take, when a scenario is read.

    What is only a place is left for later: reading a file runs no code.
    """
    name = name_of(choice)
    if not is_place(name) and name in places()[axis]:
        _given(find(axis, name), choice)


def check_installed(axis: str, choice: Choice, further: Mapping[str, str]) -> None:
    """The same for an axis whose policies are installed ones only; a ValueError says which.

    `further` are words that stand for several, with one whose parameters they take.
    """
    name, known = name_of(choice), places()[axis]
    if name not in known and name not in further:
        raise ValueError(f"there is no '{name}'; there are: {', '.join((*further, *known))}"
                         + did_you_mean(name, known))
    # Under the name that was given: of the other one the scenario says nothing.
    _given(replace(find(axis, further.get(name, name)), name=name), choice)


def choose(axis: str, choice: Choice) -> Chosen:
    """The policy that a scenario chose along an axis, with its parameters."""
    name = name_of(choice)
    if not name:
        raise InputError(f"policy.{axis}: {', '.join(choice)} is given and no name; there are: "
                         f"{', '.join(places()[axis])}")
    declaration = find(axis, name)
    try:
        return Chosen(declaration, _given(declaration, choice))
    except ValueError as error:
        raise InputError(f"policy.{axis}: {error}") from None


def build(chosen: Chosen, setting: Setting) -> Any:
    """Make the policy; what a foreign one says of its parameters becomes one line."""
    declaration = chosen.declaration
    who = f"policy.{declaration.axis} '{declaration.name}'"
    try:
        made = declaration.make(setting, chosen.given)
    except WattlineError:
        raise
    except Exception as error:
        if _is_own(declaration):
            raise
        if isinstance(error, (TypeError, ValueError)):
            raise InputError(f"{who}: {_one_line(error)}") from error
        raise PolicyError(f"{who} failed: {type(error).__name__}: {_one_line(error)}") from error
    if not hasattr(made, "_fields"):
        raise PolicyError(f"{who} makes a {type(made).__name__}; it must be a NamedTuple")
    return made


@cache
def _installed(axis: str, name: str) -> Declaration:
    place = places()[axis][name]
    try:
        found = load_installed(place)
    except Exception as error:
        if _source(place) == _OWN:
            raise
        raise InputError(f"policy.{axis} '{name}': cannot load '{place}': "
                         f"{_one_line(error)}") from error
    made = _checked(found, f"entry point '{axis}.{name}' of {place}", axis)
    if made.name != name:
        raise InputError(f"entry point '{axis}.{name}' of {place} declares '{made.name}'; make "
                         "both names the same")
    return made


def _checked(found: object, where: str, axis: str) -> Declaration:
    if not isinstance(found, Declaration):
        raise InputError(f"{where} is no Declaration of wattline.policies.declaration")
    if found.axis != axis:
        raise InputError(f"{where} is declared for policy.{found.axis}, not for policy.{axis}")
    return found


def _given(declaration: Declaration, choice: Choice) -> BaseModel:
    """The parameters of a choice, in SI; a ValueError says which the policy cannot take."""
    given = {} if isinstance(choice, str) else {k: v for k, v in choice.items() if k != "name"}
    model = declaration.parameters
    if not given and model is NoParameters:
        return NOTHING_GIVEN
    for parameter in given:
        if parameter not in model.model_fields:
            known = ", ".join(model.model_fields) or "none"
            raise ValueError(f"'{declaration.name}' has no parameter '{parameter}'; there are: "
                             f"{known}")
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise ValueError(f"'{declaration.name}': {first_mistake(error, model)}") from None
    except WattlineError as error:
        raise ValueError(f"'{declaration.name}': {error}") from None
    except Exception as error:  # a foreign policy's own check may do anything
        raise ValueError(f"'{declaration.name}': {_one_line(error)}") from error


def _source(place: str) -> str:
    return _OWN if place.startswith(_P) else place


def _is_own(declaration: Declaration) -> bool:
    whole = f"{declaration.axis}.{declaration.name}"
    return BUILT_IN.get(whole) is not None and _installed(*whole.split(".", 1)) is declaration


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
