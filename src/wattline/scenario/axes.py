"""The policies by name along each axis, and how a scenario makes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from wattline.model import PLUGINS
from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine
from wattline.model.signal import Signal
from wattline.scenario.configurations import make_rule, make_varied, make_watts
from wattline.scenario.fields import Choice
from wattline.scenario.model import Scenario, name_of
from wattline.scenario.networks import SUMMARIES, make_on_network
from wattline.scenario.parameters import policy_parameters


@dataclass(frozen=True, eq=False)
class Setting:
    """What a policy is made for."""

    scenario: Scenario
    jobs: JobTable
    machine: Machine
    cap_w: Signal | None
    logged: dict[str, Any] = field(default_factory=dict)
    """Further columns of the log, one value per job: see `wattline.traces.trace.Trace.logged`."""
    made: dict[str, Any] = field(default_factory=dict)
    """What one axis made and another takes too, by name."""


@dataclass(frozen=True)
class Named:
    """A policy that a scenario can name. `make` takes the setting and the given parameters."""

    summary: str
    make: Callable[..., Any]
    source: str = "wattline"


def build(axis: str, choice: Choice, setting: Setting) -> Any:
    """The policy that a scenario chose along an axis."""
    name, given = name_of(choice), policy_parameters(axis, choice)
    known = axes()[axis]
    if not name:
        raise InputError(f"policy.{axis}: {', '.join(given)} is given and no name; there are: "
                         f"{', '.join(known)}")
    if name not in known:
        raise InputError(f"policy.{axis}: there is no '{name}'; there are: {', '.join(known)}")
    try:
        return known[name].make(setting, **given)
    except TypeError as error:
        if "argument" not in str(error):
            raise
        raise InputError(f"policy.{axis} '{name}': {_argument(error)}") from None


@cache
def axes() -> Mapping[str, Mapping[str, Named]]:
    """All policies: the built-in ones and those that installed packages register."""
    found: dict[str, dict[str, Named]] = {axis: dict(named) for axis, named in BUILT_IN.items()}
    from importlib.metadata import entry_points

    for point in entry_points(group=PLUGINS):
        axis, _, name = point.name.partition(".")
        if axis not in found or not name:
            raise InputError(
                f"entry point '{point.name}' of {point.value}: name it AXIS.NAME with an axis of "
                f"{', '.join(found)}"
            )
        if name in found[axis]:
            raise InputError(
                f"two policies are called {axis}.{name}: {found[axis][name].source} and "
                f"{point.value}"
            )
        made = point.load()
        summary = (made.__doc__ or "").strip().split("\n")[0]
        found[axis][name] = Named(summary, made, point.value)
    return found


def _argument(error: TypeError) -> str:
    text = str(error)
    if "unexpected keyword argument" in text:
        return f"there is no parameter {text.rsplit(' ', 1)[-1]}"
    return text


def _simple(module: str, name: str) -> Callable[..., Any]:
    """Make a policy whose parameters are plain numbers, importing it only when it is used."""

    def make(setting: Setting, **parameters: Any) -> Any:
        import importlib

        made = getattr(importlib.import_module(f"wattline.policies.{module}"), name)
        return made(**parameters)

    return make


def _wait(setting: Setting, **parameters: Any) -> Any:
    from wattline.policies.admission.wait import Wait

    power = setting.scenario.power
    given = {"wait_s": power.wait_time_s, "slots": power.wait_slots} | parameters
    return Wait(**given)


def _dvfs(setting: Setting, **parameters: Any) -> Any:
    from wattline.policies.admission.dvfs import Dvfs

    power = setting.scenario.power
    levels = np.array(power.levels)
    return Dvfs(
        speed=levels**power.beta,
        power_factor=power.core_share * levels**power.alpha + 1.0 - power.core_share,
        latency_s=parameters.get("latency_s", power.latency_s),
    )


def _energy(name: str) -> Callable[..., Any]:
    """Policies of energy management are made in a module of their own."""

    def make(setting: Setting, **parameters: Any) -> Any:
        from wattline.scenario import energy

        return getattr(energy, name)(setting, **parameters)

    return make


BUILT_IN: Mapping[str, Mapping[str, Named]] = {
    "order": {
        "fcfs": Named("First come, first served.", _simple("order.fcfs", "Fcfs")),
        "sjf": Named("Shortest requested time first.", _simple("order.sjf", "Sjf")),
        "largest": Named("Largest job first.", _simple("order.largest", "Largest")),
        "wfp": Named(
            "Largest size x (queued / requested time)^3 first, as at Argonne.",
            _simple("order.wfp", "Wfp"),
        ),
        "multifactor": Named(
            "Weighted sum of age, size and share.", _simple("order.multifactor", "Multifactor")
        ),
        "energy-share": Named(
            "Multifactor with fair-share by joules over an account tree.", _energy("energy_share")
        ),
    },
    "backfill": {
        "none": Named("Strictly in order.", _simple("backfill.none", "NoBackfill")),
        "easy": Named(
            "One reservation, for the first job that has to wait.",
            _simple("backfill.easy", "Easy"),
        ),
        "conservative": Named(
            "A reservation for every job, none ever delayed.",
            _simple("backfill.conservative", "Conservative"),
        ),
    },
    "power": {
        "none": Named("Power is measured, not limited.", _simple("admission.none", "NoLimit")),
        "block": Named(
            "A job over the cap stops everything behind it.",
            _simple("admission.block", "Block"),
        ),
        "wait": Named("A job over the cap steps aside for others, for a while.", _wait),
        "dvfs": Named("All processors slow down to stay under the cap.", _dvfs),
        "watts": Named("Watts are a resource beside units; backfilling plans both.",
                       make_watts(0)),
        "lending": Named("The same, and unused watts are lent to running jobs.", make_watts(1)),
        "adaptive": Named(
            "A job starts at a frequency that the cap and planned windows allow.",
            _energy("adaptive_admission"),
        ),
        "budget": Named(
            "Joules for a period, spent where they cost least, never more.",
            _energy("budget_admission"),
        ),
    },
    "configure": {
        "requested": Named(
            "The size and time that the user asked for.",
            _simple("configuration.requested", "Requested"),
        ),
        "traditional": Named(
            "The requested nodes, all cores, no cap; fewer nodes where power does not suffice.",
            make_rule("traditional"),
        ),
        "fixed": Named("The requested nodes with the same cores and cap for all jobs.",
                       make_rule("fixed")),
        "naive": Named("The fastest configuration under the job's fair share of the power.",
                       make_rule("naive")),
        "adaptive": Named(
            "The same, or at once with the power there is, if not much slower than requested.",
            make_rule("adaptive"),
        ),
        "claims": Named(
            "Class of node and setting by what the application is known to need.",
            _energy("claims_configuration"),
        ),
    },
    "placement": {
        "counted": Named(
            "Units are counted, not chosen.", _simple("placement.counted", "Counted")
        ),
        "first-fit": Named(
            "The free nodes with the lowest numbers.",
            _simple("placement.first_fit", "FirstFit"),
        ),
        **{name: Named(text, make_on_network(name)) for name, text in SUMMARIES.items()},
        "varied": Named("Nodes differ by manufacture; choose thrifty ones, fit their caps.",
                        make_varied),
        "bounded": Named(
            "Nodes whose rack, distribution unit and site have watts left.",
            _energy("bounded_placement"),
        ),
        "claims": Named(
            "Nodes of the class that the claims chose.", _energy("claims_placement")
        ),
    },
}
