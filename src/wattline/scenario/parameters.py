"""Parameters of policies and generators by name, checked when a scenario is read.

A policy that another package brings checks its own; here it is only seen that numbers are finite.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, ValidationError

from wattline.model.machine import MOST_CORES, MOST_NODES
from wattline.scenario.fields import (
    Choice,
    FileName,
    Fraction,
    Joules,
    Number,
    Seconds,
    Section,
    Watts,
    Weight,
    Whole,
)
from wattline.scenario.mistakes import first_mistake

MOST_PERIODS = 10_000
MOST_EXPONENT = 20.0
"""Of a time in the queue: with more, differences of a second would count for nothing."""


class NoParameters(Section):
    pass


class Wfp(Section):
    exponent: Number = Field(3.0, ge=0, le=MOST_EXPONENT)


class Multifactor(Section):
    age: Weight = 1.0
    size: Weight = 1.0
    share: Weight = 0.0
    age_max_s: Seconds = Field(604800.0, ge=1)


class EnergyShare(Section):
    shares: FileName = ""
    half_life: Seconds = Field(604800.0, ge=1)
    fair: Weight = 1.0
    age: Weight = 0.0
    size: Weight = 0.0
    age_max_s: Seconds = Field(604800.0, ge=1)


class Wait(Section):
    wait_s: Seconds = Field(30_000.0, ge=0)
    slots: Whole = Field(10, ge=0)


class Dvfs(Section):
    latency_s: Seconds = Field(0.0, ge=0)


class Adaptive(Section):
    strategy: str = "dvfs"
    cpu_freq: str = ""
    frequency_ghz: tuple[Annotated[Number, Field(ge=0.001, le=1000)], ...] | None = None
    core_w: tuple[Annotated[Watts, Field(gt=0)], ...] | None = None
    idle_core_w: Watts | None = Field(None, ge=0)
    beta: Number = Field(1.0, ge=0, le=1)


class Budget(Adaptive):
    energy: Joules | None = Field(None, gt=0)
    period: Seconds = Field(604800.0, ge=1)
    price: FileName = ""
    carbon: FileName = ""
    start: str = ""
    carbon_weight: Fraction = Field(0.0, ge=0, le=1)
    periods: Whole = Field(0, ge=0, le=MOST_PERIODS)


class Moldable(Section):
    table: FileName | None = None
    model: FileName | None = None
    store: FileName | None = None
    margin: Fraction = Field(0.0, ge=0, le=1000)
    threshold: Annotated[Fraction, Field(ge=0)] | Literal["none", "unbounded", "inf"] = 0.0


class Fixed(Moldable):
    cores: Whole | None = Field(None, ge=1, le=MOST_CORES)
    cap_w: Watts | None = Field(None, gt=0)


class Weighted(Moldable):
    weights: dict[str, Annotated[Weight, Field(gt=0)]] = Field(default_factory=dict)


class Claims(Section):
    claims: FileName = "npb"
    objective: str = "energy"
    caution: Number = Field(0.0, ge=0, le=1e6)
    patience: Number = Field(0.0, ge=0, le=1e6)


class Varied(Section):
    nodes: Literal["first", "thrifty"] = "first"
    caps: Literal["equal", "fitted"] = "equal"
    sd: Fraction | None = Field(None, ge=0, lt=1)
    seed: Whole = Field(1, ge=0)
    file: FileName | None = None


class Bounded(Section):
    limits: dict[str, Annotated[Watts, Field(ge=0)]] | None = None
    views: FileName = ""
    view: str = "power"
    racks_per_pdu: Whole = Field(8, ge=1, le=MOST_NODES)


POLICIES: Mapping[str, Mapping[str, type[Section]]] = {
    "order": {"fcfs": NoParameters, "sjf": NoParameters, "largest": NoParameters, "wfp": Wfp,
              "multifactor": Multifactor, "energy-share": EnergyShare},
    "backfill": {"none": NoParameters, "easy": NoParameters, "conservative": NoParameters},
    "power": {"none": NoParameters, "block": NoParameters, "wait": Wait, "dvfs": Dvfs,
              "watts": NoParameters, "lending": NoParameters, "adaptive": Adaptive,
              "budget": Budget},
    "configure": {"requested": NoParameters, "traditional": Moldable, "fixed": Fixed,
                  "naive": Weighted, "adaptive": Weighted, "claims": Claims},
    "placement": {"counted": NoParameters, "first-fit": NoParameters, "varied": Varied,
                  "bounded": Bounded, "claims": NoParameters},
}
"""By axis and name; placements on a network have theirs in the section `[network]`."""


class Generator(Section):
    nodes: Whole | None = Field(None, ge=1, le=MOST_NODES)


class Leadership(Generator):
    days: Number | None = Field(None, gt=0)
    power_w_per_node: Watts = Field(62.0, gt=0)


class Lublin(Generator):
    separate: StrictBool = False
    estimates: StrictBool = False
    load: Number | None = Field(None, gt=0)


class Poisson(Generator):
    types: FileName | None = None
    rate_per_hour: Number | None = Field(None, gt=0)
    load: Number = Field(0.8, gt=0)


class Esp2(Generator):
    request_factor: Number = Field(1.0, ge=1)


GENERATORS: Mapping[str, type[Section]] = {
    "leadership": Leadership, "lublin": Lublin, "poisson": Poisson, "esp2": Esp2,
}


def policy_parameters(axis: str, choice: Choice) -> dict[str, Any]:
    """What a policy is given, in SI; refused where it does not have or cannot take it."""
    if isinstance(choice, str):
        return {}
    given = {name: value for name, value in choice.items() if name != "name"}
    name = str(choice.get("name", ""))
    return _parsed(f"'{name}'", POLICIES[axis].get(name), given)


def generator_parameters(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The same of a generator of jobs."""
    if name not in GENERATORS:
        raise ValueError(f"there is no generator '{name}'; there are {', '.join(GENERATORS)}")
    return _parsed(f"'{name}'", GENERATORS[name], given)


def _parsed(what: str, model: type[Section] | None, given: Mapping[str, Any]) -> dict[str, Any]:
    if model is None:
        return dict(given)
    for parameter in given:
        if parameter not in model.model_fields:
            known = ", ".join(model.model_fields) or "none"
            raise ValueError(f"{what} has no parameter '{parameter}'; there are: {known}")
    try:
        return model.model_validate(given).model_dump(exclude_unset=True)
    except ValidationError as error:
        raise ValueError(f"{what}: {first_mistake(error, model)}") from None


def parameter_rows(axis: str, name: str) -> list[dict[str, str]]:
    """The parameters of a policy: kind, range and default of each; a plug-in keeps its own."""
    model = POLICIES.get(axis, {}).get(name)
    if model is None:
        return []
    schema = model.model_json_schema()
    return [_row(parameter, field, schema) for parameter, field in schema["properties"].items()]


def _row(name: str, field: dict[str, Any], schema: dict[str, Any]) -> dict[str, str]:
    parts = [part for part in field.get("anyOf", [field]) if part.get("type") != "null"]
    limits = [(word, part[key]) for part in parts for key, word in _LIMITS.items() if key in part]
    choices = [str(value) for part in parts for value in part.get("enum", ())]
    default = field.get("default")
    return {
        "name": name,
        "kind": " or ".join(dict.fromkeys(str(part.get("type", "choice")) for part in parts)),
        "range": ", ".join([*choices, *(f"{word} {value:g}" for word, value in limits)]) or "any",
        "default": "none" if default is None or default == "" else str(default),
    }


_LIMITS = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<"}
