"""Policies that users write in Python: finding the class that a scenario names."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from wattline.model.errors import InputError
from wattline.policies.view import Policy


def refuse_code(place: str | None) -> None:
    """Refuse a scenario that would run code and that its user did not name."""
    if place is not None:
        raise InputError(
            f"policy.python: this scenario runs code of its own ({place}), and you did not name "
            "its file; if you trust it, add --allow-code (in Python allow_code=True)"
        )


def load_policy(place: str) -> Policy:
    """The policy at `MODULE:CLASS` or `FILE.py:CLASS`; modules of the current folder count too."""
    module, colon, name = place.rpartition(":")
    if not colon or not module or not name:
        raise InputError(f"policy.python: '{place}' must be MODULE:CLASS or FILE.py:CLASS")
    folder = Path(module).parent if module.endswith(".py") else Path.cwd()
    sys.path.insert(0, str(folder))  # for the modules that it imports in turn
    try:
        made: object = getattr(_module(module), name)()
    except Exception as error:  # whatever the user's module does when it is loaded
        raise InputError(f"policy.python: cannot load '{place}': {error}") from None
    finally:
        sys.path.pop(0)
    if not isinstance(made, Policy):
        raise InputError(f"policy.python: {place} has no method decide(view)")
    return made


def _module(place: str) -> ModuleType:
    if not place.endswith(".py"):
        return importlib.import_module(place)
    spec = importlib.util.spec_from_file_location(Path(place).stem, place)
    assert spec is not None  # it ends in .py
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = found  # dataclasses look their own module up there
    spec.loader.exec_module(found)
    return found
