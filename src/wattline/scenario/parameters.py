"""Parameters of generators of jobs by name, checked when a scenario is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, StrictBool, ValidationError

from wattline.model.fields import FileName, Number, Section, Watts, Whole
from wattline.model.machine import MOST_NODES
from wattline.model.mistakes import first_mistake
from wattline.model.nearest import did_you_mean
from wattline.scenario.contract_section import WorkloadParameters


class Generator(Section):
    nodes: Whole | None = Field(None, ge=1, le=MOST_NODES)


class Leadership(Generator):
    days: Number | None = Field(None, gt=0)
    power_w_per_node: Watts = Field(62.0, gt=0)
    arrivals: Literal["hours", "sessions"] = "hours"


class Lublin(Generator):
    separate: StrictBool = False
    estimates: StrictBool = False
    load: Number | None = Field(None, gt=0)


class Poisson(Generator):
    types: FileName | None = None
    rate_per_hour: Number | None = Field(None, gt=0)
    load: Number | None = Field(None, gt=0)


class Esp2(Generator):
    request_factor: Number = Field(1.0, ge=1)


WORKLOAD = "workload"
"""Types of jobs that arrive at random; only a contract makes them."""
GENERATORS: Mapping[str, type[Section]] = {
    "leadership": Leadership, "lublin": Lublin, "poisson": Poisson, "esp2": Esp2,
}


def generator_parameters(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """What a generator is given, in SI; refused where it does not have or cannot take it."""
    known: dict[str, type[Section]] = {**GENERATORS, WORKLOAD: WorkloadParameters}
    if name not in known:
        raise ValueError(f"there is no generator '{name}'; there are {', '.join(known)}"
                         + did_you_mean(name, known))
    model = known[name]
    for parameter in given:
        if parameter not in model.model_fields:
            raise ValueError(f"'{name}' has no parameter '{parameter}'; there are: "
                             f"{', '.join(model.model_fields)}"
                             + did_you_mean(parameter, model.model_fields))
    try:
        return model.model_validate(given).model_dump(exclude_unset=True)
    except ValidationError as error:
        raise ValueError(f"'{name}': {first_mistake(error, model)}") from None
