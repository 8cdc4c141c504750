"""Numbers and names as a scenario writes them: what people type is understood, nothing is guessed.

Every number has an upper end that no machine reaches: beyond it sums would lose their meaning.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetJsonSchemaHandler

from wattline.model import units
from wattline.model.errors import InputError
from wattline.model.machine import MOST_POWER_W

MOST_S = 1e12
"""Some 30,000 years."""
MOST_ENERGY_J = MOST_POWER_W * MOST_S
MOST_WEIGHT = 1e12


def _typed(parse: Any) -> Any:
    """Understand what people type; numbers pass as they are."""

    def convert(value: Any) -> Any:
        try:
            return parse(value) if isinstance(value, str) else _no_truth(value)
        except InputError as error:
            raise ValueError(str(error)) from None

    return BeforeValidator(convert)


def _no_truth(value: Any) -> Any:
    """`true` is no number, though Python takes it for 1."""
    if isinstance(value, bool):
        raise ValueError("must be a number")
    return value


def _no_text(value: Any) -> Any:
    """`"8"` is no number here: it has no unit that it would need quotes for."""
    if isinstance(value, str):
        raise ValueError("must be a number, without quotes")
    return _no_truth(value)


def _text_of_path(name: Any) -> Any:
    """From Python a file may be given as a path."""
    return str(name) if isinstance(name, Path) else name


def _finite(value: Any, name: str = "") -> Any:
    """What a policy, a generator or a network is given: any names, but no NaN and no infinity."""
    if isinstance(value, dict):
        for key, inner in value.items():
            _finite(inner, f"{name}.{key}" if name else str(key))
    elif isinstance(value, (list, tuple)):
        for inner in value:
            _finite(inner, name)
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} is {value}, must be a finite number")
    return value


@dataclass(frozen=True)
class Said:
    """What the schema of a field says of it beyond its type: a unit, that it is a file, ..."""

    key: str
    value: Any = True

    def __get_pydantic_json_schema__(
        self, core_schema: Any, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        schema = handler(core_schema)
        # In a reference of its own nothing may be said: it would be said of all that refer to it.
        return {**schema, self.key: self.value}


Watts = Annotated[float, _typed(units.parse_power), Field(le=MOST_POWER_W), Said("unit", "W")]
Seconds = Annotated[float, _typed(units.parse_duration), Field(le=MOST_S), Said("unit", "s")]
Joules = Annotated[float, _typed(units.parse_energy), Field(le=MOST_ENERGY_J), Said("unit", "J")]
Fraction = Annotated[float, _typed(units.parse_fraction)]
Number = Annotated[float, BeforeValidator(_no_text)]
Whole = Annotated[int, BeforeValidator(_no_text)]
Name = Annotated[str, Field(max_length=200)]
FileName = Annotated[str, BeforeValidator(_text_of_path), Said("format", "file")]
"""The name of a file; in a scenario it is relative to the scenario's folder."""
Weight = Annotated[Number, Field(ge=-MOST_WEIGHT, le=MOST_WEIGHT)]
FreeTable = Annotated[dict[str, Any], BeforeValidator(_finite)]
"""A table whose fields somebody else knows."""
Choice = Annotated[str | dict[str, Any], BeforeValidator(_finite)]
"""A policy by name, or a table with `name` and its parameters."""


def name_of(choice: Choice) -> str:
    return choice if isinstance(choice, str) else str(choice.get("name", ""))


class Section(BaseModel):
    """A table of which every field is known.

    Its validator is made when it is first asked: most are only ever asked as a part of another.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)

    @classmethod
    def unset(cls) -> Self:
        """The table of which nothing is said: a default, for which no validator has to be made."""
        return cls.model_construct()  # type: ignore[return-value]
