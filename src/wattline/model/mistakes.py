"""What the validation found wrong, in words that name the field and what would be right."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, get_args

from pydantic import ValidationError

from wattline.model.errors import short
from wattline.model.nearest import did_you_mean
from wattline.model.units import counted

_OUT_OF_RANGE = ("greater_than", "greater_than_equal", "less_than", "less_than_equal",
                 "finite_number")


def _limits(field: Any) -> Iterator[Any]:
    """The limits of a field and of the type that it has where it may also be left out."""
    yield from field.metadata
    for inner in get_args(field.annotation):
        for limit in getattr(inner, "__metadata__", ()):
            yield from getattr(limit, "metadata", (limit,))


def _allowed(model: Any, mistake: Any) -> str:
    """The range of a field, both ends of it: "at least 1 and at most 3"."""
    place: tuple[int | str, ...] = mistake["loc"]
    metadata: Any = ()
    for part in place:
        fields = getattr(model, "model_fields", {})
        found = fields.get(part) or next((f for f in fields.values() if f.alias == part), None)
        if found is not None:
            metadata, model = list(_limits(found)), found.annotation
            # A list of sections has its fields one level further down.
            model = next((inner for inner in get_args(model) if hasattr(inner, "model_fields")),
                         model)
    words = (("gt", "above"), ("ge", "at least"), ("lt", "below"), ("le", "at most"))
    # A field may narrow the range of its type: the narrowest holds.
    given = {name: [getattr(limit, name) for limit in metadata if hasattr(limit, name)]
             for name, _ in words}
    ends = [f"{word} {_limit((max if name in ('gt', 'ge') else min)(given[name]))}"
            for name, word in words if given[name]]
    # Of a number in a list only the end that was passed is known.
    ends = ends or [f"{word} {_limit(mistake['ctx'][name])}" for name, word in words
                    if name in mistake.get("ctx", {})]
    return " and ".join(ends) or "a finite number"


def _limit(value: Any) -> str:
    """`20,000,000`; what nobody would count the digits of as `1e+12`."""
    number = float(value)
    plain = number.is_integer() and 1e4 <= abs(number) < 1e9
    return f"{number:,.0f}" if plain else f"{value:g}"


_RIGHT = {
    "int_type": "must be a whole number", "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number", "float_type": "must be a number",
    "float_parsing": "must be a number", "string_type": "must be a text, in quotes",
    "string_too_long": "must have at most {max_length} characters",
    "string_too_short": "must have at least {min_length} characters",
    "string_pattern_mismatch": "must be made of {pattern}",
    "path_type": "must be the name of a file, in quotes",
    "bool_type": "must be true or false, without quotes",
    "bool_parsing": "must be true or false, without quotes",
    "dict_type": "must be a table, like {{ name = 1 }}",
}
"""What would be right, by what pydantic calls the mistake."""
_RIGHT_IN_JSON = {
    "model_type": "must be an object", "model_attributes_type": "must be an object",
    "dict_type": 'must be an object, like {"name": 1}', "tuple_type": "must be a list",
}
"""The same where it is not what a file of a scenario would have."""

_ALTERNATIVES = ("float", "int", "str", "CapPlan", "SignalSection")
_FORMS = ("tuple[", "list[", "function-", "dict[", "literal[", "constrained-")


def _is_alternative(part: int | str) -> bool:
    """Whether a part of a place names one of the forms that a field may have, not a field."""
    return part in _ALTERNATIVES or str(part).startswith(_FORMS)


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


def _field(mistake: Any) -> str:
    return ".".join(str(part) for part in mistake["loc"] if not _is_alternative(part))


def shown(value: Any) -> str:
    """A value in an error, on one line, in the words of JSON and not of Python; a long one by its
    beginning."""
    plain = value is None or isinstance(value, bool | list | tuple | dict)
    return short(json.dumps(value, default=str, ensure_ascii=False) if plain else repr(value))


def _section(mistake: Any) -> str:
    """How the head of a section is written, also of one of several."""
    names = ".".join(part for part in mistake["loc"]
                     if isinstance(part, str) and not _is_alternative(part))
    return f"[[{names}]]" if isinstance(mistake["loc"][-1], int) else f"[{names}]"


def _list_of(model: Any, mistake: Any) -> str:
    """What a list holds: sections, or numbers."""
    for part in mistake["loc"][:-1]:
        model = getattr(model, "model_fields", {}).get(part, mistake)
        model = getattr(model, "annotation", None)
    field = getattr(model, "model_fields", {}).get(mistake["loc"][-1])
    inner = get_args(getattr(field, "annotation", None))
    if any(hasattr(each, "model_fields") for each in inner):
        return f"these are sections, each written as {_section({'loc': (*mistake['loc'], 0)})}"
    return "this is a list, like [0.5, 1.0]"


def _how_many(found: Any) -> str:
    """Of a list that is too short or too long."""
    ends = [f"{word} {counted(found[name], 'value')}"
            for name, word in (("min_length", "at least"), ("max_length", "at most"))
            if name in found]
    return f"must have {' and '.join(ends)} (it has {found['actual_length']})"


def first_mistake(error: ValidationError, model: Any) -> str:
    """The first mistake in one line: the field, what would be right, and what it is."""
    return first_said(error.errors(include_url=False), model)


def _meant_field(model: Any, place: tuple[int | str, ...]) -> str:
    """Which field may have been meant: that of the name in another section, or one of a near name
    beside it."""
    sections = getattr(model, "model_fields", {})
    field = str(place[-1])
    found = [f"{name}.{field}" for name, each in sections.items() if len(place) == 1
             and field in getattr(each.annotation, "model_fields", ())]
    if found:
        return f"; did you mean '{found[0]}'?"
    for part in place[:-1]:
        model = _inner(model, part)
    beside = getattr(model, "model_fields", {})
    return did_you_mean(field, [each.alias or name for name, each in beside.items()])


def _inner(model: Any, part: int | str) -> Any:
    """The section in a field of another one; a list, and a form of several, is itself."""
    field = getattr(model, "model_fields", {}).get(part)
    if field is None:
        return model
    forms = (field.annotation, *_forms(field.annotation))
    return next((form for form in forms if hasattr(form, "model_fields")), None)


def _forms(kind: Any) -> Iterator[Any]:
    """What a type is made of, at any depth."""
    for inner in get_args(kind):
        yield inner
        yield from _forms(inner)


def first_said(found: list[Any], model: Any = None, *, as_json: bool = False) -> str:
    """The same of mistakes as pydantic lists them; without a model ranges are less complete.

    It is said of a file in TOML, or of JSON, which knows no sections.
    """
    mistakes = _meant(found)
    first = mistakes[0]
    field = _field(first)
    message = str(first["msg"]).removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        message = f"there is no such field{_meant_field(model, first['loc'])}"
    elif first["type"] == "missing":
        message = "this is needed and not there"
    elif as_json and first["type"] in _RIGHT_IN_JSON:
        message = f"{_RIGHT_IN_JSON[first['type']]} (it is {shown(first['input'])})"
    elif first["type"] in ("model_type", "model_attributes_type"):
        message = (f"this is a section, written as {_section(first)} "
                   f"(it is {shown(first['input'])})")
    elif first["type"] == "tuple_type":
        message = f"{_list_of(model, first)} (it is {shown(first['input'])})"
    elif first["type"] in ("too_short", "too_long"):
        message = _how_many(first["ctx"])
    elif first["type"] in _OUT_OF_RANGE:
        message = f"must be {_allowed(model, first)} (it is {shown(first['input'])})"
    elif first["type"] == "literal_error":
        words = re.findall(r"'([^']*)'", first["ctx"]["expected"])
        message = (f"must be {first['ctx']['expected']} (it is {shown(first['input'])})"
                   + did_you_mean(str(first["input"]), words))
    elif first["type"] in _RIGHT:
        right = _RIGHT[first["type"]].format(**first.get("ctx", {}))
        message = f"{right} (it is {shown(first['input'])})"
    elif "input" in first and not isinstance(first["input"], dict):
        text = shown(first["input"])
        message += "" if text in message else f" (it is {text})"
    others = len({_field(mistake) for mistake in mistakes}) - 1  # one field in no form is one
    more = f" ({counted(others, 'more mistake')})" if others else ""
    return f"{field}: {message}{more}" if field else message + more
