"""Whether a combination of policies has been compiled on this machine before."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from wattline.model.kernel import PLAIN, cache_folder


def is_new(policy: Any) -> bool:
    """True when running this policy will first compile its kernels."""
    return not PLAIN and isinstance(policy, tuple) and not _mark(policy).exists()


def remember(policy: Any) -> None:
    """Note that the kernels of this policy are on disk now."""
    if not PLAIN and isinstance(policy, tuple):
        mark = _mark(policy)
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()


def _mark(policy: tuple[Any, ...]) -> Path:
    kinds = ",".join(f"{type(axis).__module__}.{type(axis).__qualname__}" for axis in policy)
    return cache_folder() / f"compiled-{hashlib.sha256(kinds.encode()).hexdigest()[:16]}"
