"""`[contract]`: what is promised to the grid, how it is offered, paid and tried."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StrictBool, field_validator, model_validator

from wattline.grid.event_values import moment_s
from wattline.model.errors import InputError
from wattline.model.fields import MOST_S, FileName, Fraction, Number, Seconds, Section, Watts, Whole
from wattline.model.machine import MOST_NODES
from wattline.model.units import parse_power

BIDDING = ("auto", "descent", "closed_form", "empirical", "exhaustive", "heuristic", "range",
           "adaptive", "dayahead")
"""How a bid is chosen where none is given."""
MOST_ROUNDS = 100_000
WARMUP_S = 1800.0
Steps = Number | tuple[tuple[Number, Number], ...]


class JobTypeSection(Section):
    """A type of jobs: powers are of one node."""

    name: str
    nodes: Whole = Field(ge=1, le=MOST_NODES)
    time_s_min: Seconds = Field(gt=0)
    power_w_max: Watts = Field(gt=0)
    time_s_max: Seconds = Field(gt=0)
    power_w_min: Watts = Field(gt=0)
    threshold: Number = Field(gt=0, le=MOST_S)


class WorkloadParameters(Section):
    """`trace.parameters` of the generator `workload`: jobs of types that arrive at random."""

    name: str | None = None
    types: tuple[JobTypeSection, ...] = ()
    standby_type: JobTypeSection | None = None
    load: Fraction | None = Field(None, gt=0, le=1)
    level: Literal["tight", "medium", "loose"] = "medium"
    burst: Number = Field(1.0, ge=1, le=1e6)
    mislabelled: Fraction = Field(0.0, ge=0, le=1)


class SignalSection(Section):
    """Statistics of a signal to generate."""

    std: Number = 0.4
    mean: Number = 0.0
    correlation_s: Seconds = 150.0
    step_s: Seconds = 4.0


class PriceSection(Section):
    """Prices per kWh: a number, or steps [time_s, price]."""

    energy: Steps = 0.1
    reserve: Steps = 0.1
    error: Steps = 0.1
    currency: str = ""
    """For people: what costs are printed in."""

    @field_validator("energy", "reserve", "error")
    @classmethod
    def _rise_from_zero(cls, steps: Any) -> Any:
        if not isinstance(steps, tuple):
            return steps
        if not steps:
            raise ValueError("needs at least one step")
        times = [time_s for time_s, _ in steps]
        if times[0] != 0:
            raise ValueError(f"the first step is at {times[0]:.6g} s, must be at 0")
        for earlier, later in pairwise(times):
            if not later > earlier:
                raise ValueError(f"steps at {later:.6g} s after {earlier:.6g} s; times must rise")
        return steps


class CurtailmentSection(Section):
    """For a while the machine is to draw less than it usually does."""

    start: Seconds = Field(ge=0)
    share: Fraction = Field(0.25, gt=0, lt=1)
    duration: Seconds = Field(10800.0, gt=0)
    notice: Seconds = Field(600.0, ge=0)


def _bid(value: Any) -> Any:
    """A bid as people write it: `auto`, a method, or `P,R` with units of power."""
    if isinstance(value, list | tuple) and len(value) != 2:
        raise ValueError("must be average power and reserve, like [8400, 3400]")
    if not isinstance(value, str) or value in BIDDING:
        return value
    parts = value.split(",")
    if len(parts) != 2:
        raise ValueError(f"is '{value}'; write auto, a method, or P,R like 8400,3400; the methods "
                         f"of bidding are {', '.join(BIDDING[1:])}")
    try:
        return (parse_power(parts[0]), parse_power(parts[1]))
    except InputError as error:
        raise ValueError(str(error)) from None


Offered = Annotated[str | tuple[Watts, Watts], BeforeValidator(_bid)]


class ContractSection(Section):
    """A contract with the grid; the rule that keeps it is `policy.regulation`."""

    duration: Seconds = Field(3600.0, gt=0)
    warmup: Seconds | None = Field(None, ge=0)
    """Before it, in which the cluster fills: neither billed nor judged. Half an hour where nothing
    is said, an hour for bids by the hour."""
    cycle_s: Seconds = Field(1.0, ge=0.01)
    trace_start: Seconds = Field(0.0, ge=0)
    """Where in a log its jobs begin."""
    signal: FileName | SignalSection = SignalSection.unset()
    signal_start: Seconds = Field(0.0, ge=0)
    programme: str | None = None
    """Whose terms hold: a shipped one, or a file; see docs/demand-response.md."""
    prices: PriceSection = PriceSection.unset()
    pue: Number = Field(1.0, ge=1, le=10)
    """Power of the facility over that of its servers: bids and bills are at the meter."""
    meter_noise: Fraction = Field(0.0, ge=0, le=1)
    """Standard deviation of the meter's readings, relative to the power, anew every cycle."""
    latency: Seconds = Field(0.0, ge=0)
    """From a change of the signal till caps and starts follow it."""
    bid: Offered = "auto"
    """How it is chosen, or average power and reserve."""
    weights: tuple[Number, ...] = ()
    start_share: Fraction = Field(1.0, ge=0, le=1)
    """Of a given bid: share of the power range at which starts are planned."""
    standby: StrictBool = False
    below_idle: StrictBool = False
    curtailment: CurtailmentSection | None = None
    events: FileName | None = None
    """Of OpenADR, whose caps and prices are followed."""
    events_begin: str | None = None
    """When the contract begins by the clock of the events, with its zone."""
    events_cap: Watts | None = Field(None, gt=0)
    """What may be drawn without an event; levels of events are shares of it. The machine at full
    power where nothing is said."""
    rounds: Whole = Field(400, ge=1, le=MOST_ROUNDS)
    forecast: Whole = Field(0, ge=0, le=MOST_ROUNDS)
    hold: Fraction = Field(0.0, ge=0, le=1)
    check: Whole | None = Field(None, ge=0, le=MOST_ROUNDS)

    @field_validator("events_begin")
    @classmethod
    def _with_zone(cls, text: str | None) -> str | None:
        if text is not None:
            try:
                moment_s(text)
            except ValueError as error:
                raise ValueError(f"{error}; write it like 2026-07-01T12:00:00Z") from None
        return text

    @model_validator(mode="after")
    def _of_events(self) -> ContractSection:
        for name in ("events_begin", "events_cap"):
            if self.events is None and getattr(self, name) is not None:
                raise ValueError(f"{name} says nothing without events: give the file of events "
                                 f"(--events FILE) too, or leave {name} out")
        return self

    @property
    def warmup_s(self) -> float:
        """A cluster that takes part hour after hour is not empty."""
        if self.warmup is not None:
            return self.warmup
        return 3600.0 if self.bid == "dayahead" else WARMUP_S

    @property
    def facility(self) -> dict[str, float]:
        """What lies between the servers and the grid's meter, for answers."""
        return {"pue": self.pue, "meter_noise": self.meter_noise, "latency_s": self.latency}

    @property
    def given_bid(self) -> tuple[float, float] | None:
        """Average power and reserve, where they are not to be chosen."""
        return None if isinstance(self.bid, str) else self.bid

    @property
    def bidding(self) -> str:
        """How the bid is chosen; `given` where it is not."""
        return self.bid if isinstance(self.bid, str) else "given"
