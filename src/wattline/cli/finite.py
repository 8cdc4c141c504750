"""Numbers of options: click's own let `nan` pass, which is in no range, and `inf`."""

from __future__ import annotations

import math
from typing import Any

import click


class FiniteNumber(click.types.FloatParamType):
    """A number, neither `nan` nor `inf`."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        return _finite(self, super().convert(value, param, ctx), param, ctx)


class FiniteRange(click.FloatRange):
    """A number within bounds, neither `nan` nor `inf`."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        return _finite(self, super().convert(value, param, ctx), param, ctx)


FINITE = FiniteNumber()


def _finite(
    kind: click.ParamType[float], found: float, param: click.Parameter | None,
    ctx: click.Context | None,
) -> float:
    if not math.isfinite(found):
        kind.fail(f"{found} is not a finite number", param, ctx)
    return found
