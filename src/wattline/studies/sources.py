"""A digest of sources: what was found with other ones is not taken for ours."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path


@cache
def sources_digest(places: tuple[str, ...] = (".",)) -> str:
    """Of the files and folders of the package that are named; of all of it, where none is."""
    root, digest = Path(__file__).parents[1], hashlib.sha256()
    for name in places:
        place = root / name
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            digest.update(str(path.relative_to(root)).encode() + path.read_bytes())
    return digest.hexdigest()
