"""Reading scenarios: a TOML file, fields set on top of it, and errors that people can use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from wattline.model.cap_value import is_cap_value
from wattline.model.errors import InputError
from wattline.model.mistakes import first_mistake
from wattline.model.reading import (
    MOST_DEPTH,
    MOST_TOML_BYTES,
    is_deeper,
    is_file,
    parse_toml,
    read_text,
)
from wattline.policies.declaration import AXES
from wattline.policies.going_together import is_moldable
from wattline.policies.registry import files_of, find, is_place
from wattline.scenario.bundled_logs import is_bundled
from wattline.scenario.model import Scenario
from wattline.scenario.other_files import other_kind, other_table
from wattline.scenario.twin.section import FILES as TWIN_FILES


def load(path: Path | str, changes: Mapping[str, Any] | None = None) -> Scenario:
    """Read a scenario file, or one that the package ships (`bundled:NAME`).

    >>> import wattline as wl
    >>> wl.load_scenario("bundled:main-capped").policy.power
    'dvfs'
    """
    return validate(changed(fields_of(path), changes or {}), str(path))


def fields_of(path: Path | str) -> dict[str, Any]:
    """The fields of a scenario file, with its name and the places of the files that it names."""
    if said := other_kind(str(path)):
        raise InputError(f"{path} is no scenario: {said}")
    text, source, folder = _text(str(path))
    fields = parse_toml(text, source)
    if not fields:
        raise InputError(f"{source}: the file is empty; a scenario has at least a [trace]")
    if said := other_table(fields, source):
        raise InputError(f"{source} is no scenario: {said}")
    fields.setdefault("name", Path(source).stem.removeprefix("bundled:")[:200])
    return fields if folder is None else beside(fields, folder)


def bundled() -> list[str]:
    """Names of the scenarios that the package ships."""
    folder = resources.files("wattline.scenario") / "bundled"
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir()
                  if entry.name.endswith(".toml"))


def validate(fields: Mapping[str, Any], source: str = "scenario") -> Scenario:
    """Check fields and make the scenario."""
    if is_deeper(fields, MOST_DEPTH):
        raise InputError(f"{source}: tables or lists lie too deep in one another")
    if not _is_text(fields):
        raise InputError(f"{source}: it holds a text that is not UTF-8")
    try:
        return Scenario.model_validate(fields)
    except ValidationError as error:
        raise InputError(f"{source}: {first_mistake(error, Scenario)}") from None


_FILES = ("file", "intra", "inter", "profiles", "signal", "events", *TWIN_FILES)
"""Fields that are always the name of a file."""


def beside(fields: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """File names in a scenario are relative to its folder; what is set later is not."""
    result = {key: _copy(value) for key, value in fields.items()}
    for section, name in (("trace", "file"), ("trace", "map"), ("power", "cap"),
                          ("power", "watch_cap"), ("network", "machine"),
                          ("contract", "signal"), ("contract", "programme"), ("contract", "events"),
                          *(("network", name) for name in ("file", "intra", "inter", "profiles")),
                          *(("twin", name) for name in TWIN_FILES)):
        inner = result.get(section)
        value = inner.get(name) if isinstance(inner, dict) else None
        # A map or a machine may be a built-in name, and a cap a power: only a file that is there
        # is meant.
        if not isinstance(value, (str, Path)) or is_bundled(value):
            continue
        if section == "power" and is_cap_value(value):
            continue
        if name in _FILES or is_file(folder / value):
            result[section][name] = str(folder / value)
    parameters = result["trace"].get("parameters") if isinstance(result.get("trace"), dict) else {}
    if isinstance(parameters, dict) and isinstance(parameters.get("types"), str):
        parameters["types"] = str(folder / parameters["types"])
    signals = result.get("signals")
    if isinstance(signals, dict):
        for name, file in signals.items():
            signals[name] = str(folder / file) if isinstance(file, str) else file
    policy = result.get("policy")
    if isinstance(policy, dict):
        if isinstance(policy.get("python"), str):
            policy["python"] = _policy_beside(policy["python"], folder)
        for axis in AXES:
            if axis in policy:
                policy[axis] = _choice_beside(axis, policy[axis], folder)
    return result


def _choice_beside(axis: str, choice: Any, folder: Path) -> Any:
    """A choice whose files lie beside the scenario, and so may its code.

    Absolute, because the copy of a scenario in its run's folder is run again.
    """
    if isinstance(choice, str) and is_place(choice):
        return _policy_beside(choice, folder.absolute())
    if not isinstance(choice, dict) or not isinstance(choice.get("name"), str):
        return choice
    name = choice["name"]
    texts = {key: value for key, value in choice.items()
             if key != "name" and isinstance(value, str) and value}
    if is_place(name):
        # What its parameters are, only its code knows, which is not run here: a file is meant
        # where there is one.
        found = {key: value for key, value in texts.items() if is_file(folder / value)}
        name = _policy_beside(name, folder.absolute())
    else:
        files = files_of(axis, name)
        found = {key: value for key, value in texts.items()
                 if key in files and value not in files[key] and "://" not in value}
    return {**choice, "name": name,
            **{key: str((folder / value).absolute()) for key, value in found.items()}}


def _policy_beside(place: str, folder: Path) -> str:
    """A policy whose module lies beside the scenario; any other is left to Python's own path."""
    module, _, name = place.partition(":")
    for file in (folder / module, folder / f"{module.replace('.', '/')}.py"):
        if file.suffix == ".py" and is_file(file):
            return f"{file}:{name}"
    return place


def _is_text(value: Any) -> bool:
    """Whether all texts can be written down again; half a letter of a command line cannot."""
    if isinstance(value, Mapping):
        return all(_is_text(key) and _is_text(inner) for key, inner in value.items())
    if isinstance(value, (list, tuple)):
        return all(_is_text(inner) for inner in value)
    if not isinstance(value, str) or value.isascii():  # most often, and many times quicker
        return True
    return not any("\ud800" <= sign <= "\udfff" for sign in value)


def changed(fields: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The fields with some set: `{"power.cap": "70%"}` sets `cap` in `[power]`."""
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
        target[last] = _kept(target.get(last), value) if name == "policy.configure" else value
    return result


def _kept(before: Any, value: Any) -> Any:
    """Another rule for configurations, by its name alone, chooses among the same ones.

    It keeps the parameters of the rule before that are its own too: the table, above all.
    """
    if not (isinstance(before, dict) and isinstance(value, str)
            and is_moldable(str(before.get("name"))) and is_moldable(value)):
        return value
    known = find("configure", value).parameters.model_fields
    return {name: given for name, given in before.items() if name in known} | {"name": value}


def parse_settings(settings: Iterable[str]) -> dict[str, Any]:
    """`field=value` pairs as typed on the command line; values as in TOML, else as text."""
    changes: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise InputError(f"'{setting}' is not a setting; write it like power.cap=70%")
        field = name.strip()
        if field in changes:
            raise InputError(f"--set {field} is given twice; leave one out")
        changes[field] = parse_value(value)
    return changes


def parse_value(text: str) -> Any:
    """A TOML value, or the text itself where it is none (`wait`, `1.4MW`)."""
    try:
        return parse_toml(f"value = {text}", "value")["value"]
    except InputError:
        return text.strip()


def _text(path: str) -> tuple[str, str, Path | None]:
    if path.startswith("bundled:"):
        name = path.removeprefix("bundled:")
        if name not in bundled():
            raise InputError(f"there is no bundled scenario '{name}'; there are: "
                             f"{', '.join(bundled())}")
        file = resources.files("wattline.scenario") / "bundled" / f"{name}.toml"
        return file.read_text(encoding="utf-8"), path, None
    return read_text(path, MOST_TOML_BYTES), path, Path(path).parent


def _copy(value: Any) -> Any:
    return {k: _copy(v) for k, v in value.items()} if isinstance(value, dict) else value
