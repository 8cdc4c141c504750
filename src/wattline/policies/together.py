"""Choices along different axes that cannot go together: refused before anything is run.

Axes are independent but for what they share. There is one free figure for each job in the books
(`live.slack`), so one policy of a composition may keep something there; a second would overwrite
it. Whoever uses it says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from wattline.model.errors import InputError
from wattline.policies.contract import Composition

T = TypeVar("T", bound=type)
_KEEPS_SLACK: dict[type, Callable[[Any], bool]] = {}
_ONE_CLASS: set[type] = set()


def keeps_slack(when: Callable[[Any], bool] = lambda choice: True) -> Callable[[T], T]:
    """Mark a policy that keeps a figure of each job in `live.slack`; `when` says with which
    parameters."""

    def mark(policy: T) -> T:
        _KEEPS_SLACK[policy] = when
        return policy

    return mark


def one_class(policy: T) -> T:
    """Mark a policy that takes all nodes to be of one class."""
    _ONE_CLASS.add(policy)
    return policy


def refuse_clashes(policy: Composition, classes: int = 1) -> None:
    """Raise an error for a composition whose choices would break each other's books."""
    chosen = [(axis, choice) for axis, choice in policy._asdict().items() if axis != "scope"]
    keeping = [f"{axis} policy {type(choice).__name__}" for axis, choice in chosen
               if _KEEPS_SLACK.get(type(choice), _never)(choice)]
    if len(keeping) > 1:
        raise InputError(f"the {keeping[0]} and the {keeping[1]} cannot go together: both keep a "
                         "figure of each job in the same place, and both rule its power")
    for axis, choice in chosen:
        if classes > 1 and type(choice) in _ONE_CLASS:
            raise InputError(f"the {axis} policy {type(choice).__name__} takes all nodes to be "
                             f"alike, and the machine has {classes} classes of nodes")


def _never(choice: Any) -> bool:
    return False
