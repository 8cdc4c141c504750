"""Declarations of the orders that need nothing but their numbers."""

from __future__ import annotations

from pydantic import Field

from wattline.model.fields import Number, Seconds, Weight
from wattline.policies.declaration import Declaration, Parameters, of_numbers

MOST_EXPONENT = 20.0
"""Of a time in the queue: with more, differences of a second would count for nothing."""


class WfpParameters(Parameters):
    exponent: Number = Field(3.0, ge=0, le=MOST_EXPONENT)


class MultifactorParameters(Parameters):
    age: Weight = 1.0
    size: Weight = 1.0
    share: Weight = 0.0
    age_max_s: Seconds = Field(604800.0, ge=1)


FCFS = Declaration("order", "fcfs", "First come, first served.", of_numbers("order.fcfs", "Fcfs"))
SJF = Declaration("order", "sjf", "Shortest requested time first.", of_numbers("order.sjf", "Sjf"))
LARGEST = Declaration("order", "largest", "Largest job first.",
                      of_numbers("order.largest", "Largest"))
WFP = Declaration(
    "order", "wfp", "Largest size x (queued / requested time)^3 first, as at Argonne.",
    of_numbers("order.wfp", "Wfp"), WfpParameters)
MULTIFACTOR = Declaration(
    "order", "multifactor", "Weighted sum of age, size and share.",
    of_numbers("order.multifactor", "Multifactor"), MultifactorParameters)
