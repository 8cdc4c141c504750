"""Policies that users write in Python: finding the class that a scenario names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from wattline.model.errors import InputError
from wattline.model.fields import name_of
from wattline.policies.declaration import AXES
from wattline.policies.loading import load_object
from wattline.policies.registry import is_place
from wattline.scenario.model import PolicySection

if TYPE_CHECKING:
    from wattline.policies.view import Policy


def code_of(policy: PolicySection) -> dict[str, str]:
    """The fields of a scenario that would run code which nobody installed, with its place."""
    if policy.python is not None:
        return {"policy.python": policy.python}
    named = {f"policy.{axis}": name_of(getattr(policy, axis)) for axis in AXES}
    return {field: name for field, name in named.items() if is_place(name)}


def names_code(changes: Iterable[str], field: str) -> bool:
    """Whether fields that are set on top of a scenario name the code that `field` runs."""
    return any(change in ("policy", field, f"{field}.name") for change in changes)


def refuse_code(policy: PolicySection) -> None:
    """Refuse a scenario that would run code and that its user did not name."""
    for field, place in code_of(policy).items():
        raise InputError(
            f"{field}: this scenario runs code of its own ({place}), and you did not name its "
            "file; if you trust it, add --allow-code (in Python allow_code=True)"
        )


def load_policy(place: str) -> Policy:
    """The policy at `MODULE:CLASS` or `FILE.py:CLASS`; modules of the current folder count too."""
    from wattline.policies.view import Policy

    made = load_object(place, "policy.python", then=lambda found: found())
    if not isinstance(made, Policy):
        raise InputError(f"policy.python: {place} has no method decide(view)")
    return made
