"""Finding what a text names: `MODULE:NAME`, or `FILE.py:NAME` of a user's own file."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from wattline.model.errors import InputError


def load_object(
    place: str, field: str, then: Callable[[Any], Any] = lambda found: found
) -> Any:
    """What stands at a place that a user named; modules of the current folder count too.

    This runs the code of that module. `field` is who named it, for the words of a mistake; what
    is done with it `then` may import from its folder as well.
    """
    module, colon, name = place.rpartition(":")
    if not colon or not module or not name:
        raise InputError(f"{field}: '{place}' must be MODULE:CLASS or FILE.py:CLASS")
    folder = Path(module).parent if module.endswith(".py") else Path.cwd()
    sys.path.insert(0, str(folder))  # for the modules that it imports in turn
    try:
        return then(getattr(_module(module), name))
    except (Exception, SystemExit) as error:  # whatever the user's module does when it is loaded
        said = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{field}: cannot load '{place}': {said}") from None
    finally:
        sys.path.pop(0)


def load_installed(place: str) -> Any:
    """What stands at a place of an installed package; further names may be keys of a table."""
    module, _, path = place.partition(":")
    found: Any = importlib.import_module(module.strip())
    for name in path.split("[")[0].strip().split("."):
        found = found[name] if isinstance(found, Mapping) else getattr(found, name)
    return found


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
