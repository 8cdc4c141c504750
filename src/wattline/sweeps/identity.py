"""Which sweep a folder has: another one must not take its place under the name of going on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wattline.model.errors import InputError
from wattline.model.files import write_whole
from wattline.model.reading import is_file
from wattline.sweeps.running import JOURNAL
from wattline.sweeps.space import Space

FILE = "sweep.json"


def keep_what_it_is(folder: Path, space: Space) -> None:
    """Write scenario and axes down, or refuse to go on where the folder has others.

    Further values along the same axes are the same sweep. So are files that lie elsewhere.
    """
    said = {"axes": sorted(space.fields_varied), "scenario": _plain(
        {name: value for name, value in space.base.items() if name != "name"})}
    file = folder / FILE
    before = _read(file)
    if before is None:
        (folder / JOURNAL).touch()  # a folder with this file alone would be nothing to go on with
        write_whole(file, json.dumps(said, indent=1, sort_keys=True))
    elif before.get("axes") != said["axes"]:
        raise InputError(f"{folder} has a sweep along {', '.join(before.get('axes', ()))}, not "
                         f"along {', '.join(said['axes'])}; name another folder")
    elif before != said:
        raise InputError(f"{folder} has a sweep of another scenario; name another folder")


def _read(file: Path) -> dict[str, Any] | None:
    """None where there is nothing, or nothing whole: a folder of an earlier version goes on."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _plain(value: Any) -> Any:
    """As it is read again, files by their names alone: who goes on may stand in another folder."""
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return Path(str(value)).name if is_file(str(value)) else str(value)
