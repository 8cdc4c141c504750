"""Imported for what it does: to load all that points need, which they import when they need it."""

from __future__ import annotations

import numpy.random  # noqa: F401

import wattline.sweeps.work  # noqa: F401
from wattline.model import kernel, kernel_code

if not kernel.PLAIN:
    kernel_code.get_ready()
