"""The form of an answer, for the OpenAPI document; tests hold real answers to it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class Documented(BaseModel):
    model_config = ConfigDict(extra="forbid")


class BaselineAnswer(Documented):
    said: str
    """What the baseline is, in words."""
    metrics: dict[str, Any]
    cached: bool
    """Whether it had been run for an earlier question."""


class VariantAnswer(Documented):
    said: str
    metrics: dict[str, Any]


class Curve(Documented):
    """A value holds from its time on until the next; no peak or valley is left out."""

    time_s: list[float]
    power_w: list[float]
    queued: list[int]
    cap_w: list[float | None] | None


class Curves(Documented):
    baseline: Curve
    variant: Curve


class HurtJob(Documented):
    job: int
    user: str
    nodes: int
    wait_change_s: float
    later_s: float
    """How much later it is done, slower runs counted too."""


class HurtUser(Documented):
    user: str
    jobs: int
    hurt: int
    wait_change_s: float
    later_s: float


class Counts(Documented):
    compared: int
    hurt: int
    gained: int
    lost: int
    """Ran in the baseline only."""


class WhatIfAnswer(Documented):
    baseline: BaselineAnswer
    variant: VariantAnswer
    curves: Curves
    hurt: list[HurtJob]
    hurt_users: list[HurtUser]
    counts: Counts
    assumptions: list[str]
    remarks: list[str]
    seconds: float
    share: str
    """What a link to this question has behind `#/whatif?s=`."""
