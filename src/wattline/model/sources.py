"""A digest of this package's sources: results of others are not results of these."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path


@cache
def package_digest() -> str:
    """Of all modules and of the data that lies beside them."""
    home = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for path in sorted(home.rglob("*")):
        if path.suffix in (".py", ".toml", ".csv", ".json") and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(home)}\n".encode() + path.read_bytes())
    return digest.hexdigest()
