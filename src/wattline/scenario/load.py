"""Reading scenarios: a TOML file, fields set on top of it, and errors that people can use."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from wattline.model.errors import InputError
from wattline.scenario.model import Scenario


def load(path: Path | str, changes: Mapping[str, Any] | None = None) -> Scenario:
    """Read a scenario file, or one that the package ships (`bundled:NAME`)."""
    text, source, folder = _text(str(path))
    try:
        fields = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{source}: not a TOML file: {error}") from None
    fields.setdefault("name", Path(source).stem.removeprefix("bundled:"))
    if folder is not None:
        fields = _beside(fields, folder)
    return validate(changed(fields, changes or {}), source)


def bundled() -> list[str]:
    """Names of the scenarios that the package ships."""
    folder = resources.files("wattline.scenario") / "bundled"
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir()
                  if entry.name.endswith(".toml"))


def validate(fields: Mapping[str, Any], source: str = "scenario") -> Scenario:
    """Check fields and make the scenario."""
    try:
        return Scenario.model_validate(fields)
    except ValidationError as error:
        raise InputError(f"{source}: {_first_mistake(error)}") from None


_FILES = ("file", "intra", "inter", "profiles")
"""Fields that are always the name of a file."""
_POLICY_FILES = {"order": ("shares",), "power": ("price", "carbon"), "placement": ("views", "file"),
                 "configure": ("claims", "table", "model", "store")}
"""Parameters of policies that are the name of a file; `npb` and a database's URL are none."""


def _beside(fields: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """File names in a scenario are relative to its folder; what is set later is not."""
    result = {key: _copy(value) for key, value in fields.items()}
    for section, name in (("trace", "file"), ("trace", "map"), ("power", "cap"),
                          ("power", "watch_cap"), ("network", "machine"),
                          *(("network", name) for name in _FILES)):
        inner = result.get(section)
        value = inner.get(name) if isinstance(inner, dict) else None
        # A map or a machine may be a built-in name, and a cap a power: only a file that is there
        # is meant.
        if isinstance(value, str) and (name in _FILES or (folder / value).is_file()):
            result[section][name] = str(folder / value)
    signals = result.get("signals")
    if isinstance(signals, dict):
        for name, file in signals.items():
            signals[name] = str(folder / file) if isinstance(file, str) else file
    policy = result.get("policy")
    if isinstance(policy, dict):
        if isinstance(policy.get("python"), str):
            policy["python"] = _policy_beside(policy["python"], folder)
        _parameters_beside(policy, folder)
    return result


def _parameters_beside(policy: Mapping[str, Any], folder: Path) -> None:
    for axis, names in _POLICY_FILES.items():
        chosen = policy.get(axis)
        if not isinstance(chosen, dict):
            continue
        for name in names:
            value = chosen.get(name)
            if isinstance(value, str) and value not in ("", "npb") and "://" not in value:
                # Absolute, because the copy of a scenario in its run's folder is run again.
                chosen[name] = str((folder / value).absolute())


def _policy_beside(place: str, folder: Path) -> str:
    """A policy whose module lies beside the scenario; any other is left to Python's own path."""
    module, _, name = place.partition(":")
    for file in (folder / module, folder / f"{module.replace('.', '/')}.py"):
        if file.suffix == ".py" and file.is_file():
            return f"{file}:{name}"
    return place


def changed(fields: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The fields with some set: `{"power.cap": 0.7}` sets `cap` in `[power]`."""
    result: dict[str, Any] = {key: _copy(value) for key, value in fields.items()}
    for name, value in changes.items():
        target = result
        *sections, last = name.split(".")
        for section in sections:
            inner = target.setdefault(section, {})
            if not isinstance(inner, dict):
                # `policy.power = "wait"` becomes a table when one of its parameters is set.
                inner = target[section] = {"name": inner}
            target = inner
        target[last] = value
    return result


def parse_settings(settings: Iterable[str]) -> dict[str, Any]:
    """`field=value` pairs as typed on the command line; values as in TOML, else as text."""
    changes = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise InputError(f"'{setting}' is not a setting; write it like power.cap=0.7")
        changes[name.strip()] = parse_value(value)
    return changes


def parse_value(text: str) -> Any:
    """A TOML value, or the text itself where it is none (`wait`, `1.4MW`)."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text.strip()


def _text(path: str) -> tuple[str, str, Path | None]:
    if path.startswith("bundled:"):
        name = path.removeprefix("bundled:")
        if name not in bundled():
            raise InputError(f"there is no bundled scenario '{name}'; there are: "
                             f"{', '.join(bundled())}")
        file = resources.files("wattline.scenario") / "bundled" / f"{name}.toml"
        return file.read_text(encoding="utf-8"), path, None
    try:
        return Path(path).read_text(encoding="utf-8"), path, Path(path).parent
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not a text file; a scenario is a TOML file") from None


def _copy(value: Any) -> Any:
    return {k: _copy(v) for k, v in value.items()} if isinstance(value, dict) else value


_OUT_OF_RANGE = ("greater_than", "greater_than_equal", "less_than", "less_than_equal")


def _allowed(model: Any, place: tuple[int | str, ...]) -> str:
    """The range of a field, both ends of it: "at least 1 and at most 3"."""
    metadata: Any = ()
    for part in place:
        fields = getattr(model, "model_fields", {})
        found = fields.get(part) or next((f for f in fields.values() if f.alias == part), None)
        if found is not None:
            metadata, model = found.metadata, found.annotation
            # A list of sections has its fields one level further down.
            model = next((inner for inner in get_args(model) if hasattr(inner, "model_fields")),
                         model)
    words = (("gt", "above"), ("ge", "at least"), ("lt", "below"), ("le", "at most"))
    ends = [f"{word} {getattr(limit, name):g}" for name, word in words for limit in metadata
            if hasattr(limit, name)]
    return " and ".join(ends) or "in its range"


_ALTERNATIVES = ("function-before", "float", "str", "CapPlan")


def _is_alternative(part: int | str) -> bool:
    """Whether a part of a place names one of the forms that a field may have, not a field."""
    return part in _ALTERNATIVES or str(part).startswith("tuple[")


def _meant(mistakes: list[Any]) -> list[Any]:
    """Of a field that may have several forms, the mistakes in the form that was meant.

    That is the one in which the first mistake lies deepest: a table of which one field is wrong
    is no number either, but nobody meant it to be one.
    """
    def field_of(mistake: Any) -> tuple[Any, ...]:
        place = mistake["loc"]
        end = next((at for at, part in enumerate(place) if _is_alternative(part)), len(place))
        return tuple(place[:end])

    first = field_of(mistakes[0])
    same = [mistake for mistake in mistakes if field_of(mistake) == first]
    deepest = max(len(mistake["loc"]) for mistake in same)
    meant = [mistake for mistake in same if len(mistake["loc"]) == deepest]
    return meant + [mistake for mistake in mistakes if field_of(mistake) != first]


def _first_mistake(error: ValidationError) -> str:
    mistakes = _meant(error.errors(include_url=False))
    first = mistakes[0]
    field = ".".join(str(part) for part in first["loc"] if not _is_alternative(part))
    message = str(first["msg"]).removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        message = "there is no such field"
    elif first["type"] == "missing":
        message = "this is needed and not there"
    elif first["type"] in ("model_type", "model_attributes_type"):
        message = f"this is a section, written as [{field}] (it is {first['input']!r})"
    elif first["type"] == "tuple_type":
        message = f"this is a list, like [0.5, 1.0] (it is {first['input']!r})"
    elif first["type"] in _OUT_OF_RANGE:
        message = f"must be {_allowed(Scenario, first['loc'])} (it is {first['input']!r})"
    elif "input" in first and not isinstance(first["input"], dict):
        message = f"{message} (it is {first['input']!r})"
    more = f" ({len(mistakes) - 1} more mistakes)" if len(mistakes) > 1 else ""
    return f"{field}: {message}{more}" if field else message + more
