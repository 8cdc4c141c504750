"""Options that have an effect only beside others: each declares what it `needs`.

A command asks nothing itself. An option that was given where it changes nothing is refused in one
line, which says what it needs, before anything runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from wattline.model.errors import InputError

F = TypeVar("F", bound=Callable[..., Any] | click.Command)


@dataclass(frozen=True)
class Need:
    """Condition on the other parameters of a command, by their names."""

    names: tuple[str, ...]
    values: tuple[str, ...] = ()
    """One of these, where it is not enough that it is given."""
    absent: bool = False
    """None of them may be given."""
    why: str = ""


def given(*names: str, why: str = "") -> Need:
    """One of these parameters."""
    return Need(names, why=why)


def absent(*names: str, why: str = "") -> Need:
    """None of these parameters."""
    return Need(names, absent=True, why=why)


def among(name: str, *values: str, why: str = "") -> Need:
    """One of these values of a parameter, given or by default."""
    return Need((name,), values, why=why)


class Option(click.Option):
    """An option that is refused where what it needs is missing."""

    def __init__(self, *names: Any, needs: Need | Sequence[Need] = (), **attributes: Any) -> None:
        super().__init__(*names, **attributes)
        self.needs = (needs,) if isinstance(needs, Need) else tuple(needs)

    def handle_parse_result(
        self, ctx: click.Context, opts: Mapping[str, Any], args: list[str]
    ) -> tuple[Any, list[str]]:
        if self.name in opts:
            for need in self.needs:
                if said := _missing(need, ctx.command, opts):
                    why = f": {need.why}" if need.why else ""
                    raise InputError(f"{label(self)} {said}{why}")
        return super().handle_parse_result(ctx, opts, args)


def option(
    *names: str, needs: Need | Sequence[Need] = (), **attributes: Any
) -> Callable[[F], F]:
    """`click.option` for an option that needs others."""
    return click.option(*names, cls=Option, needs=needs, **attributes)


def label(parameter: click.Parameter) -> str:
    """A parameter as a person writes it."""
    if isinstance(parameter, click.Argument):
        return (parameter.metavar or str(parameter.name).upper()).strip("[]").split("|")[-1]
    return next((name for name in parameter.opts if name.startswith("--")), parameter.opts[0])


def _missing(need: Need, command: click.Command, opts: Mapping[str, Any]) -> str:
    """Say what is missing, in words; empty where all is there."""
    found = {name: next(each for each in command.params if each.name == name)
             for name in need.names}
    if need.absent:
        there = [label(each) for name, each in found.items() if _is_given(opts.get(name))]
        return f"does not go with {there[0]}" if there else ""
    if not need.values:
        fits = any(_is_given(opts.get(name)) for name in need.names)
        return "" if fits else f"needs {_any_of([label(each) for each in found.values()])}"
    (name, parameter), = found.items()
    value = opts[name] if _is_given(opts.get(name)) else parameter.default
    if value in need.values:
        return ""
    return f"needs {label(parameter)} {_any_of(need.values)}"


def _is_given(raw: object) -> bool:
    """Say whether the parser found a value: a text, a list of them, or a flag; not the mark of what
    is missing."""
    return raw is True or (isinstance(raw, str | list | tuple) and bool(raw)
                           and any(isinstance(each, str) for each in raw))


def _any_of(words: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))
