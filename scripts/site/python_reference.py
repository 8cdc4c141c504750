"""Every name of `import wattline as wl`, from signatures and docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

# mkdocs looks for modules beside this one only while it reads it.
from policy_reference import HEAD, row
from pydantic import BaseModel

import wattline as wl
from wattline.policies.parameter_rows import parameter_rows
from wattline.scenario.objects import PolicyObject

EXAMPLE = re.compile(r"(?:^>>> .*\n?(?:^(?!\s*$).*\n?)*)", re.MULTILINE)
LONGEST_DEFAULT = 70


def reference() -> str:
    """Functions, policies, then the other types, as Markdown."""
    parts = []
    for title, names in grouped().items():
        parts.append(f"## {title}")
        for name in names:
            parts += described(name, getattr(wl, name))
    return "\n\n".join(parts)


def grouped() -> dict[str, list[str]]:
    """The exported names by what they are."""
    found: dict[str, list[str]] = {"Functions": [], "Policies as objects": [], "Types": [],
                                   "Errors and warnings": []}
    for name in wl.__all__:
        found[_kind(getattr(wl, name))].append(name)
    return found


def _kind(thing: object) -> str:
    if not inspect.isclass(thing):
        return "Functions"
    if issubclass(thing, PolicyObject):
        return "Policies as objects"
    return "Errors and warnings" if issubclass(thing, Exception) else "Types"


def described(name: str, thing: object) -> Iterator[str]:
    """Return how it is called, what it says of itself, and what can be asked of it."""
    yield f"### wl.{name}"
    if not (inspect.isclass(thing) and issubclass(thing, Exception)):
        yield f"```python\nwl.{name}{signature(thing)}\n```"
    yield prose(thing)
    if inspect.isclass(thing):
        yield fields(thing) if issubclass(thing, BaseModel) else members(thing)


def fields(model: type[BaseModel]) -> str:
    """Return what an object that stands for a part of a scenario takes."""
    rows = parameter_rows(model)
    return HEAD + "\n".join(map(row, rows)) if rows else ""


def signature(thing: object) -> str:
    """As it is written, over several lines where one would be too long."""
    try:
        found = inspect.signature(thing)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""
    parts = list(_parameters(list(found.parameters.values())))
    said = f"({', '.join(parts)})"
    return said if len(said) <= 80 else "(\n" + "".join(f"    {part},\n" for part in parts) + ")"


def _parameters(parameters: list[inspect.Parameter]) -> Iterator[str]:
    """Each parameter as it was written; a star where those begin that need their names."""
    marked = False
    for each in parameters:
        if each.kind is each.KEYWORD_ONLY and not marked:
            yield "*"
        marked = marked or each.kind in (each.KEYWORD_ONLY, each.VAR_POSITIONAL)
        sign = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        kind = _annotation(each.annotation)
        yield f"{sign}{each.name}{kind}{_default(each.default, bool(kind))}"


def _annotation(annotation: object) -> str:
    """As it was written; how pydantic holds one says nothing to people."""
    return f": {annotation}" if isinstance(annotation, str) else ""


def _default(value: object, typed: bool) -> str:
    if value is inspect.Parameter.empty:
        return ""
    said = getattr(value, "__name__", None) or repr(value)
    if len(said) > LONGEST_DEFAULT or said.startswith("<"):
        said = "..."
    return f" = {said}" if typed else f"={said}"


def prose(thing: object) -> str:
    """A docstring as Markdown, its examples as blocks."""
    text = inspect.getdoc(thing) or ""
    if text.startswith(f"{getattr(thing, '__name__', '')}("):
        return ""  # of a dataclass that says nothing of itself: the call again
    return EXAMPLE.sub(lambda found: f"\n```pycon\n{found[0].rstrip()}\n```\n", text)


def members(thing: type) -> str:
    """Methods and properties of a class of ours, with the first line of what they say."""
    rows = []
    for name, member in inspect.getmembers(thing):
        first = (inspect.getdoc(member) or "").partition("\n")[0]
        own = any(name in base.__dict__ for base in thing.__mro__
                  if base.__module__.startswith("wattline"))
        asked = inspect.isfunction(member) or inspect.ismethod(member) or isinstance(
            member, property)
        if own and asked and first and not name.startswith("_"):
            call = "" if isinstance(member, property) else "()"
            rows.append(f"| `{name}{call}` | {first.replace('|', chr(92) + '|')} |")
    return "\n".join(["| ask | and get |", "|---|---|", *rows]) if rows else ""
