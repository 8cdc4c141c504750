"""Names that have to outlast a controller: of nodes, or of jobs, as a list in a file."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

from wattline.model.files import write_whole


def keep_names(file: Path, names: Collection[str]) -> None:
    write_whole(file, json.dumps(sorted(names)) + "\n")


def kept_names(file: Path) -> set[str]:
    """Those that were kept; none where there is no such file, or it is damaged."""
    try:
        return {str(name) for name in json.loads(file.read_text(encoding="utf-8"))}
    except (OSError, ValueError, TypeError):
        return set()
