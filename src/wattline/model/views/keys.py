"""The keys of a view: their type, whether people may set them, and where they inherit from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any

from wattline.model.errors import InputError

_POWERS = ("W", "kW", "MW")


class KeyType(StrEnum):
    """What a value may be."""

    NUMBER = "number"
    INTEGER = "integer"
    SWITCH = "switch"
    TEXT = "text"


class Inherit(IntEnum):
    """How a key of an entity follows from its relatives.

    `CHILDREN_*` flow up: from the source key of the children. `PARENTS_*` flow down: from the
    source key of the entities on the way to the root; `PARENTS_SHARE` divides the parent's value
    among its children equally.
    """

    NOTHING = 0
    CHILDREN_SUM = 1
    CHILDREN_MIN = 2
    CHILDREN_MAX = 3
    CHILDREN_AVERAGE = 4
    CHILDREN_COUNT = 5
    PARENTS_SUM = 6
    PARENTS_MIN = 7
    PARENTS_MAX = 8
    PARENTS_AVERAGE = 9
    PARENTS_SHARE = 10

    @property
    def up(self) -> bool:
        return Inherit.CHILDREN_SUM <= self <= Inherit.CHILDREN_COUNT

    @property
    def down(self) -> bool:
        return self >= Inherit.PARENTS_SUM

    @classmethod
    def parse(cls, text: str) -> Inherit:
        wanted = text.strip().upper().replace("-", "_").replace(" ", "_")
        wanted = {"": "NOTHING", "CHILDREN_AVG": "CHILDREN_AVERAGE",
                  "PARENTS_AVG": "PARENTS_AVERAGE", "PARENTS_FSHARE": "PARENTS_SHARE"}.get(
                      wanted, wanted)
        if wanted not in cls.__members__:
            known = ", ".join(name.lower() for name in cls.__members__)
            raise InputError(f"inherit '{text}' is unknown; known are {known}")
        return cls[wanted]


@dataclass(frozen=True)
class Key:
    """One property that entities of a view may have."""

    name: str
    type: KeyType = KeyType.NUMBER
    unit: str = ""
    read_only: bool = False
    inherit: Inherit = Inherit.NOTHING
    source: str = ""
    """The key that is inherited from; empty means this same key, one level further."""
    on: tuple[str, ...] = ()
    """Types of entities that have this key; empty means all."""

    def __post_init__(self) -> None:
        if not self.name:
            raise InputError("a key of a view needs a name")
        if self.type == KeyType.TEXT and self.inherit != Inherit.NOTHING:
            raise InputError(f"key '{self.name}': a text cannot be summed or shared")

    @property
    def source_name(self) -> str:
        return self.source or self.name

    def value_of(self, given: Any) -> float:
        """The number that stands for a value; NaN is for "none"."""
        if given is None:
            return math.nan
        if self.type == KeyType.SWITCH and not isinstance(given, bool) and given not in (0, 1):
            raise InputError(f"key '{self.name}' is a switch; {given!r} is neither true nor false")
        if isinstance(given, str) or not hasattr(given, "__float__"):
            raise InputError(f"key '{self.name}' is a {self.type}; {given!r} is not one")
        number = float(given)
        if not math.isfinite(number):
            raise InputError(f"key '{self.name}': {given!r} is not a finite number")
        if self.unit in _POWERS and number < 0:
            raise InputError(f"key '{self.name}' is a power; {given!r} is below 0")
        if self.type == KeyType.INTEGER and not number.is_integer():
            raise InputError(f"key '{self.name}' is an integer; {given!r} is not one")
        return number

    def shown(self, number: float) -> float | int | bool | None:
        """The value as people read it."""
        if math.isnan(number):
            return None
        if self.type == KeyType.SWITCH:
            return bool(number)
        return int(number) if self.type == KeyType.INTEGER else number

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> Key:
        """From one `[[keys]]` table of a views file."""
        unknown = set(given) - {"name", "type", "unit", "read_only", "inherit", "source", "on"}
        if unknown:
            raise InputError(f"key {given.get('name', '?')!r}: unknown field {sorted(unknown)[0]}")
        try:
            kind = KeyType(given.get("type", "number"))
        except ValueError:
            raise InputError(
                f"key {given.get('name', '?')!r}: type '{given['type']}' is unknown; known are "
                + ", ".join(KeyType)
            ) from None
        return cls(
            name=str(given.get("name", "")),
            type=kind,
            unit=str(given.get("unit", "")),
            read_only=bool(given.get("read_only", False)),
            inherit=Inherit.parse(str(given.get("inherit", ""))),
            source=str(given.get("source", "")),
            on=tuple(given.get("on", ())),
        )


def check_keys(keys: Iterable[Key]) -> dict[str, Key]:
    """Keys by name, refused where their inheritance cannot be computed in two stages.

    The stages are: first down, then up. So a key that flows down must not follow from one that
    flows up, and sources must not run in a circle.
    """
    by_name: dict[str, Key] = {}
    for key in keys:
        if key.name in by_name:
            raise InputError(f"key '{key.name}' is declared twice")
        by_name[key.name] = key
    for key in by_name.values():
        if key.inherit == Inherit.NOTHING:
            continue
        source = by_name.get(key.source_name)
        if source is None:
            raise InputError(f"key '{key.name}' inherits from '{key.source}', which is no key")
        if source.type == KeyType.TEXT:
            raise InputError(f"key '{key.name}' cannot inherit from the text '{source.name}'")
        if key.inherit.down and source.inherit.up:
            raise InputError(
                f"key '{key.name}' flows down but its source '{source.name}' flows up; values "
                "flow first down, then up"
            )
        _refuse_circle(key, by_name)
    return by_name


def _refuse_circle(key: Key, by_name: Mapping[str, Key]) -> None:
    seen = [key.name]
    source = by_name.get(key.source_name)
    while source is not None and source.inherit != Inherit.NOTHING:
        if source.source_name == source.name:
            return
        if source.name in seen:
            raise InputError(f"the keys {' -> '.join([*seen, source.name])} inherit in a circle")
        seen.append(source.name)
        source = by_name.get(source.source_name)
