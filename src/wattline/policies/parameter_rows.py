"""The parameters of a policy as a table: kind, range and default, read from their types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from pydantic import BaseModel, PydanticUserError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined, to_jsonable_python

from wattline.model.errors import PolicyError

FILE = "file"
_LOWER, _UPPER = {"ge": ">=", "gt": ">"}, {"le": "<=", "lt": "<"}
_SAID = ("unit", "needed", "otherwise", "forms", "words", "format")
_KINDS = {"number": "number", "integer": "whole number", "boolean": "true or false",
          "string": "text", "array": "list", "object": "table"}


def parameter_rows(model: type[BaseModel]) -> list[dict[str, Any]]:
    """A row per parameter; defaults as the values they are, None where there is none."""
    schema = _schema(model)
    defs = schema.get("$defs", {})
    return [_row(name, model, _parts(field, defs), defs)
            for name, field in schema.get("properties", {}).items()]


def file_parameters(model: type[BaseModel]) -> dict[str, tuple[str, ...]]:
    """The parameters that name a file, each with the words that mean something else."""
    schema = _schema(model)
    found = {name: _parts(field, schema.get("$defs", {}))
             for name, field in schema.get("properties", {}).items()}
    return {name: tuple(word for part in parts for word in part.get("words", ()))
            for name, parts in found.items() if _is_file(parts)}


def _schema(model: type[BaseModel]) -> dict[str, Any]:
    try:
        return model.model_json_schema(by_alias=False)
    except PydanticUserError as error:
        said = str(error).splitlines()[0]
        raise PolicyError(f"the parameters {model.__name__} cannot be described: {said}") from None


def _parts(field: dict[str, Any], defs: dict[str, Any]) -> list[dict[str, Any]]:
    """The forms that a value may have, without "or nothing"; what is said of all, said of each."""
    if "$ref" in field:
        return _parts({**defs[field["$ref"].rsplit("/", 1)[-1]],
                       **{key: value for key, value in field.items() if key != "$ref"}}, defs)
    if "anyOf" in field:
        outer: dict[str, Any] = {key: value for key, value in field.items() if key in _SAID}
        parts = [part for each in field["anyOf"] for part in _parts(each, defs)]
        return [{**part, **outer} for part in parts if part.get("type") != "null"]
    return [field]


def _row(
    name: str, model: type[BaseModel], parts: list[dict[str, Any]], defs: dict[str, Any]
) -> dict[str, Any]:
    choices = [value for part in parts for value in _choices(part)]
    ranges = [*_range(model.model_fields[name]), *(text for part in parts for text in _forms(part))]
    said = {key: part[key] for part in parts for key in ("unit", "needed", "otherwise")
            if key in part}
    units = [part["unit"] for part in (*parts, *_inner(parts, defs)) if "unit" in part]
    needed = bool(said.get("needed")) or model.model_fields[name].is_required()
    return {
        "name": name,
        "kind": " or ".join(dict.fromkeys(_kind(part, defs) for part in parts)),
        "unit": units[0] if units else None,
        "range": ", ".join([*map(str, choices), *dict.fromkeys(ranges)]) or "any",
        "choices": choices,
        "file": _is_file(parts),
        "needed": needed,
        "default": _default(model, name),
        "otherwise": said.get("otherwise"),
    }


def _kind(part: dict[str, Any], defs: dict[str, Any]) -> str:
    if _choices(part):
        return "choice"
    if part.get("format") == FILE:
        return FILE
    kind = _KINDS.get(str(part.get("type")), "value")
    inner = " or ".join(dict.fromkeys(_kind(each, defs) for each in _inner([part], defs)))
    return f"{kind} of {inner}s" if inner else kind


def _choices(part: dict[str, Any]) -> list[Any]:
    return [part["const"]] if "const" in part else list(part.get("enum", ()))


def _forms(part: dict[str, Any]) -> list[str]:
    """What is said of a text in words."""
    return [*([str(part["forms"])] if "forms" in part else []), *map(str, part.get("words", ()))]


def _range(field: FieldInfo) -> list[str]:
    """Both ends of what numbers in a field may be, the tightest that is said anywhere.

    The schema would not do: of a number that may also be left out, it does not know its ends.
    """
    limits = list(_limits(field))
    lower = max(((getattr(limit, key), word) for limit in limits for key, word in _LOWER.items()
                 if hasattr(limit, key)), default=None)
    upper = min(((getattr(limit, key), word) for limit in limits for key, word in _UPPER.items()
                 if hasattr(limit, key)), default=None)
    return [f"{word} {end:g}" for end, word in filter(None, (lower, upper))]


def _limits(of: Any) -> Iterator[Any]:
    """What annotations say of a type, of what it may also be, and of what it holds."""
    if isinstance(of, FieldInfo):
        yield from of.metadata
        yield from _limits(of.annotation)
        return
    for said in getattr(of, "__metadata__", ()):
        yield from (said.metadata if isinstance(said, FieldInfo) else (said,))
    for inner in get_args(of):
        yield from _limits(inner)


def _inner(parts: list[dict[str, Any]], defs: dict[str, Any]) -> list[dict[str, Any]]:
    """What the entries of lists and tables are."""
    found = [part.get("items") if part.get("type") == "array" else
             part.get("additionalProperties") for part in parts]
    return [each for inner in found if isinstance(inner, dict) for each in _parts(inner, defs)]


def _is_file(parts: list[dict[str, Any]]) -> bool:
    return any(part.get("format") == FILE for part in parts)


def _default(model: type[BaseModel], name: str) -> Any:
    """As JSON has it; an empty text is none."""
    value = model.model_fields[name].get_default(call_default_factory=True)
    if value is PydanticUndefined or value == "":
        return None
    return to_jsonable_python(value, fallback=str)
