"""What a composition of policies is made of, to see whether a run changed it."""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.model.kernel_arrays import KernelArrays


def parameters_of(part: Any, name: str = "policy") -> dict[str, bytes]:
    """The content of everything in it, by where it stands."""
    names = getattr(part, "FIELDS" if isinstance(part, KernelArrays) else "_fields", ())
    if names:
        return {place: content for each in names
                for place, content in parameters_of(getattr(part, each), f"{name}.{each}").items()}
    if isinstance(part, np.ndarray):
        return {name: part.tobytes()}
    return {name: repr(part).encode()}
