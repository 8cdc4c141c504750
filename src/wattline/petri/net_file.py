"""A net that somebody wrote down: TOML for people, PNML for tools."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wattline.model.errors import InputError
from wattline.model.mistakes import first_mistake
from wattline.model.reading import is_file, read_toml
from wattline.petri.inscriptions import Timed
from wattline.petri.net import (
    UNIT,
    Arc,
    ArcKind,
    Colour,
    Net,
    Page,
    Place,
    Transition,
)
from wattline.petri.pnml_reader import read_pnml

ENDINGS = (".pnml", ".xml", ".toml")
ANY = Colour("ANY")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class PlaceEntry(_Strict):
    """`count` for tokens without a value, `tokens` for those with one; a place has one of them."""

    count: int | None = Field(None, ge=0, le=10**15)
    tokens: list[Any] | None = None
    at: tuple[float, float] = (0.0, 0.0)


class ArcEntry(_Strict):
    place: str
    what: str = ""
    weight: str | int = "1"
    delay_s: str | float = ""


class TransitionEntry(_Strict):
    name: str
    take: list[ArcEntry | str] = []
    put: list[ArcEntry | str] = []
    test: list[ArcEntry | str] = []
    absent: list[ArcEntry | str] = []
    take_all: list[ArcEntry | str] = []
    guard: str = ""
    priority: int = 0
    at: tuple[float, float] = (0.0, 0.0)


class NetEntry(_Strict):
    """The whole file."""

    name: str = ""
    about: str = ""
    values: dict[str, Any] = {}
    places: dict[str, PlaceEntry]
    transition: list[TransitionEntry] = Field(min_length=1)


def is_net_file(name: str) -> bool:
    """Whether a net is meant by the name of its file."""
    return name.endswith(ENDINGS) or is_file(name)


def read_net(path: str | Path) -> Net:
    """The net of a file, TOML or PNML by its ending."""
    if str(path).endswith(".toml"):
        return _from_toml(Path(path))
    return read_pnml(path)


def _from_toml(path: Path) -> Net:
    try:
        given = NetEntry.model_validate(read_toml(path))
    except ValidationError as error:
        raise InputError(f"{path}: {first_mistake(error, NetEntry)}") from None
    try:
        places = tuple(_place(name, entry) for name, entry in given.places.items())
        with_value = {place.name: place.colour is not UNIT for place in places}
        page = Page(given.name or path.stem, places,
                    tuple(_transition(entry, with_value) for entry in given.transition))
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    name = given.name or path.stem
    values = {key: _frozen(value) for key, value in given.values.items()}
    return Net(name, page, values, given.about or f"{name}, from {path.name}", from_file=True)


def _place(name: str, entry: PlaceEntry) -> Place:
    if entry.count is not None and entry.tokens is not None:
        raise InputError(f"place '{name}' has count and tokens; give count for tokens without a "
                         "value, or tokens")
    if entry.tokens is None:
        return Place(name, UNIT, (entry.count or 0,), at=entry.at)
    return Place(name, ANY, tuple(_token(name, token) for token in entry.tokens), at=entry.at)


def _token(place: str, token: Any) -> Any:
    if not isinstance(token, Mapping):
        return _frozen(token)
    if set(token) != {"value", "at_s"} or not isinstance(token["at_s"], (int, float)):
        raise InputError(f"place '{place}': a token that is a table has a value and at_s, the time "
                         "in seconds from which it is ready")
    return Timed(_frozen(token["value"]), float(token["at_s"]))


def _frozen(value: Any) -> Any:
    """Lists as tuples: tokens are matched by patterns of tuples."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _transition(entry: TransitionEntry, with_value: Mapping[str, bool]) -> Transition:
    """`with_value` has the places, and whether their tokens have a value."""
    arcs = [
        _arc(kind, given, with_value)
        for kind, listed in ((ArcKind.IN, entry.take), (ArcKind.TEST, entry.test),
                             (ArcKind.INHIBITOR, entry.absent), (ArcKind.ALL, entry.take_all),
                             (ArcKind.OUT, entry.put))
        for given in listed]
    return Transition(entry.name, tuple(arcs), entry.guard, priority=entry.priority, at=entry.at)


def _arc(kind: ArcKind, given: ArcEntry | str, with_value: Mapping[str, bool]) -> Arc:
    entry = ArcEntry(place=given) if isinstance(given, str) else given
    what = entry.what
    if entry.place not in with_value:
        raise InputError(f"an arc leads to '{entry.place}', which is no place of this net; it has "
                         f"{', '.join(with_value)}")
    needed: tuple[ArcKind, ...] = (ArcKind.IN, ArcKind.TEST, ArcKind.OUT)
    if not what and with_value[entry.place] and kind in needed:
        raise InputError(f"an arc of '{entry.place}' says nothing of the token's value; give "
                         f'{{ place = "{entry.place}", what = "x" }}')
    if kind is ArcKind.ALL:
        what = what or "_"
    return Arc(kind, entry.place, what or "()", str(entry.weight),
               "" if entry.delay_s == "" else str(entry.delay_s))
