"""Which policies decide from what a `View` shows and from nothing else: they say so themselves.

A snapshot has no memory of earlier decisions, no nodes with names, and no job table whose rows
would be the same from one decision to the next. A policy that needs any of that is not for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from wattline.policies.contract import Composition

T = TypeVar("T", bound=type)
_DECLARED: dict[type, Callable[[Any], str]] = {}


def decides_from_view(unless: Callable[[Any], str] = lambda choice: "") -> Callable[[T], T]:
    """Mark a policy that a view suffices for; `unless` says of which parameters it does not."""

    def mark(policy: T) -> T:
        _DECLARED[policy] = unless
        return policy

    return mark


def more_than_view(policy: Composition) -> str:
    """What a composition needs beside a view, in a sentence; empty where it needs nothing."""
    for axis, choice in policy._asdict().items():
        if axis == "scope":
            continue
        reason = _DECLARED.get(type(choice), _undeclared)(choice)
        if reason:
            return f"the {axis} policy {type(choice).__name__} {reason}"
    return ""


def _undeclared(choice: Any) -> str:
    return ("goes by more than a view shows (memory between decisions, nodes, or rows of the job "
            "table)")
