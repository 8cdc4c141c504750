"""Programmes of grid operators as data: what the signal means, who judges, what is paid.

A programme is a TOML file, shipped (`wattline.grid/programmes`) or one's own. Whatever its rule, it
gives a score between 0 and 1, and the least score with which the contract is kept.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field, ValidationError, model_validator

from wattline.grid.curtailment import Curtailment, load_before, load_of_days
from wattline.grid.market import WS_PER_KWH, Contract, Period, Product, overlay
from wattline.grid.scoring import pjm_score
from wattline.model.errors import InputError
from wattline.model.fields import Fraction, Number, Seconds, Section, Watts, Whole
from wattline.model.mistakes import first_mistake
from wattline.model.nearest import did_you_mean
from wattline.model.reading import parse_toml, read_text
from wattline.model.signal import FloatArray, Signal

SHIPPED = ("pjm-regd", "fcr", "afrr-up", "afrr-down", "emergency")
MOST_BYTES = 100_000
SHORTEST_S = 0.1
"""Between two samples or settlements: no meter tells faster, and fewer fill the memory."""
WS_PER_MWH = 1000.0 * WS_PER_KWH


class SignalTerms(Section):
    """What a file's values mean.

    `load` asks for more of it where positive, `generation` for more generation, so for less load.
    An `activation` is a share of the reserve, from 0 to 1, in the direction that is offered.

    Of kind `frequency` they are deviations from the nominal frequency in Hz, which a droop turns
    into a level: load rises with the frequency, to its full extent at `full_hz`; within the
    deadband nothing is asked for.
    """

    kind: Literal["level", "frequency"] = "level"
    sign: Literal["load", "generation", "activation"] = "load"
    product: Product = "symmetric"
    full_hz: Number = Field(0.2, gt=0)
    deadband_hz: Number = Field(0.0, ge=0)

    @model_validator(mode="after")
    def _one_direction(self) -> SignalTerms:
        if self.sign == "activation" and self.product == "symmetric":
            raise ValueError('sign = "activation" needs a product "up" or "down": a share of the '
                             "reserve has no direction of its own")
        if self.deadband_hz >= self.full_hz:
            raise ValueError(f"deadband_hz is {self.deadband_hz:g} and full_hz {self.full_hz:g}: "
                             "the deadband must end below the full extent")
        return self


class JudgedTerms(Section):
    rule: Literal["error", "pjm", "band", "limit"]
    least: Fraction = Field(ge=0, le=1)
    width: Fraction = Field(0.3, gt=0)
    """Of the reserve: the error up to which the power lies in the band."""
    sample_s: Seconds = Field(10.0, ge=SHORTEST_S)


class PaymentTerms(Section):
    currency: str = ""
    capability_per_mwh: Number = 0.0
    performance_per_mwh: Number = 0.0
    mileage_of_slow_signal_per_h: Number | None = Field(None, gt=0)
    """What the mileage is divided by; without it performance is not paid by mileage."""
    forfeited_below: Fraction = Field(0.0, ge=0, le=1)
    """A score below it earns nothing."""
    penalty_per_mwh: Number = Field(0.0, ge=0)
    """Charged for what the score lacks of one."""


class CurtailmentTerms(Section):
    start: Seconds = Field(ge=0)
    share: Fraction = Field(gt=0, lt=1)
    duration: Seconds = Field(gt=0)
    notice: Seconds = Field(ge=0)


class BaselineTerms(Section):
    """From what a curtailment's reduction is counted, by what the meter told.

    `mean` is the workload's mean power; `before` the load in the `window` before the event was
    heard of; `days` that at the event's hours on the `highest` of so many `days` before it, and
    where there are fewer than these the load before.
    """

    rule: Literal["mean", "before", "days"] = "mean"
    window: Seconds = Field(3600.0, gt=0)
    days: Whole = Field(10, ge=1, le=366)
    highest: Whole = Field(5, ge=1, le=366)

    @model_validator(mode="after")
    def _enough_days(self) -> BaselineTerms:
        if self.highest > self.days:
            raise ValueError(f"highest is {self.highest}, of {self.days} days")
        return self

    def counted_w(
        self, told_w: Signal, event: Curtailment, mean_w: float, first_s: float
    ) -> tuple[float, str]:
        """The baseline by what was told since `first_s`, and how it was found, in words."""
        if self.rule == "mean":
            return mean_w, "the mean of the workload"
        if self.rule == "days":
            found = load_of_days(told_w, event, self.days, self.highest, first_s)
            if found is not None:
                return found, (f"the load of these hours on the highest {self.highest} of "
                               f"{self.days} days")
        before_w = load_before(told_w, event, self.window, first_s)
        return before_w, f"the load in {self.window / 60:g} min before it was heard of"


class OtherTerms(Section):
    minimum_w: Watts = Field(0.0, ge=0)
    settlement_s: Seconds = Field(3600.0, ge=SHORTEST_S)
    product_s: Seconds = Field(3600.0, ge=60.0)
    """Length of what is offered: one bid holds for so long."""
    telemetry_s: Seconds = Field(4.0, ge=SHORTEST_S)
    penalty: str = ""
    baseline: str = ""


class Programme(Section):
    """The whole file."""

    title: str
    source: str
    date: str
    simplified: str
    signal: SignalTerms = SignalTerms()
    judged: JudgedTerms
    payment: PaymentTerms = PaymentTerms()
    curtailment: CurtailmentTerms | None = None
    baseline: BaselineTerms = BaselineTerms()
    terms: OtherTerms = OtherTerms()

    @model_validator(mode="after")
    def _something_to_limit(self) -> Programme:
        if self.judged.rule == "limit" and self.curtailment is None:
            raise ValueError('rule = "limit" judges a curtailment: give [curtailment], or a rule '
                             '"error", "pjm" or "band"')
        return self

    def level(self, given: Signal) -> Signal:
        """The level that a load is to follow, P + level x R, from the values of a file."""
        value, terms = given.value, self.signal
        if terms.kind == "frequency":
            asked = np.where(np.abs(value) > terms.deadband_hz, value, 0.0)
            value = np.clip(asked / terms.full_hz, -1.0, 1.0)
        if terms.sign == "activation":
            _check_activation(self.title, given.time_s, value)
        if terms.sign == "generation" or (terms.sign, terms.product) == ("activation", "up"):
            value = 0.0 - value
        return Signal(given.time_s, self._offered(value), given.unit)

    def drawn(self, level: Signal) -> Signal:
        """A drawn level, of which only the offered direction is called."""
        return Signal(level.time_s, self._offered(level.value), level.unit)

    def _offered(self, level: FloatArray) -> FloatArray:
        if self.signal.product == "up":
            return np.minimum(level, 0.0)
        return np.maximum(level, 0.0) if self.signal.product == "down" else level

    def score(
        self, actual_w: Signal, contract: Contract, level: Signal, start_s: float, end_s: float
    ) -> float:
        """How well the power followed, between 0 and 1; NaN where nothing is offered."""
        if self.judged.rule == "pjm":
            return self._sampled_score(actual_w, contract, level, start_s, end_s)
        edges, (actual, average, reserve, wanted) = overlay(
            (actual_w, contract.average_w, contract.reserve_w, level), start_s, end_s)
        offered = reserve > 0
        if not np.any(offered):
            return float("nan")
        span_s = np.diff(edges)[offered]
        error = np.abs(actual - average - wanted * reserve)[offered] / reserve[offered]
        return float(span_s @ (error <= self.judged.width) / span_s.sum())

    def _sampled_score(
        self, actual_w: Signal, contract: Contract, level: Signal, start_s: float, end_s: float
    ) -> float:
        """PJM's, over the samples at which something is offered."""
        times_s = np.arange(start_s, end_s, self.judged.sample_s)
        times_s = times_s[contract.reserve_w.sample(times_s) > 0]
        if times_s.size == 0:
            return float("nan")
        above_w = actual_w.sample(times_s) - contract.average_w.sample(times_s)
        response = above_w / contract.reserve_w.sample(times_s)
        return pjm_score(level.sample(times_s), response, self.judged.sample_s)

    def periods(
        self, actual_w: Signal, contract: Contract, level: Signal, start_s: float, end_s: float
    ) -> tuple[Period, ...]:
        """Score and credit of each settlement period, judged by what telemetry told.

        What was asked for is taken at the same moments: it moves between two samples too.
        """
        told_w = self.told_w(actual_w, start_s, end_s)
        then = Contract(*(Signal(told_w.time_s, each.sample(told_w.time_s), "W")
                          for each in (contract.average_w, contract.reserve_w)))
        asked = Signal(told_w.time_s, level.sample(told_w.time_s), level.unit)
        found = []
        for first_s in np.arange(start_s, end_s, self.terms.settlement_s):
            last_s = min(float(first_s) + self.terms.settlement_s, end_s)
            score = self.score(told_w, then, asked, float(first_s), last_s)
            if np.isnan(score):
                continue
            mwh = contract.reserve_w.integral(float(first_s), last_s) / WS_PER_MWH
            edges, (here,) = overlay((level,), float(first_s), last_s)
            credit = self.credit(mwh, score, Signal(edges[:-1], here), (last_s - first_s) / 3600.0)
            found.append(Period(float(first_s), last_s, mwh, score, credit))
        return tuple(found)

    def told_w(self, actual_w: Signal, start_s: float, end_s: float) -> Signal:
        """The power as telemetry tells it: a sample holds until the next."""
        times_s = np.arange(start_s, end_s, self.terms.telemetry_s)
        return Signal(times_s, actual_w.sample(times_s), "W")

    def reductions(
        self, told_w: Signal, event: Curtailment, baseline_w: float
    ) -> tuple[Period, ...]:
        """What was promised and counted in each settlement period of an event, and its credit.

        The score is the counted reduction over the promised one; more than that is not paid.
        """
        promised_w = event.share * baseline_w
        found = []
        for first_s in np.arange(event.start_s, event.end_s, self.terms.settlement_s):
            last_s = min(float(first_s) + self.terms.settlement_s, event.end_s)
            span_s = last_s - float(first_s)
            counted_w = baseline_w - told_w.integral(float(first_s), last_s) / span_s
            score = min(1.0, max(0.0, counted_w / promised_w))
            mwh = promised_w * span_s / WS_PER_MWH
            credit = self.credit(mwh, score, Signal.constant(0.0), span_s / 3600.0)
            found.append(Period(float(first_s), last_s, mwh, score, credit))
        return tuple(found)

    def credit(self, reserve_mwh: float, score: float, level: Signal, hours: float) -> float:
        """What is paid for this reserve over the contract, less penalties."""
        pay = self.payment
        charged = reserve_mwh * (1.0 - score) * pay.penalty_per_mwh
        if score < pay.forfeited_below:
            return -charged
        ratio = 1.0
        if pay.mileage_of_slow_signal_per_h is not None:
            moved = float(np.abs(np.diff(level.value)).sum()) / hours
            ratio = moved / pay.mileage_of_slow_signal_per_h
        per_mwh = pay.capability_per_mwh + ratio * pay.performance_per_mwh
        return reserve_mwh * score * per_mwh - charged


def _check_activation(title: str, time_s: FloatArray, value: FloatArray) -> None:
    """Refuse a set point that also calls the other direction: which half is meant is not known."""
    below = np.flatnonzero(value < 0)
    if below.size:
        first = int(below[0])
        raise InputError(
            f"{title}: the set point is a share of the reserve, 0 to 1; it is {value[first]:.6g} "
            f"at {time_s[first]:.6g} s. A set point of both directions needs a programme file of "
            'your own, with sign = "generation" or "load"'
        )


@lru_cache
def programme(name: str) -> Programme:
    """A shipped programme by name, or one's own file."""
    if name in SHIPPED:
        place = files("wattline.grid") / "programmes" / f"{name}.toml"
        text = place.read_text(encoding="utf-8")
    elif Path(name).suffix == ".toml":
        text = read_text(name, MOST_BYTES)
    else:
        raise InputError(f"there is no programme '{name}'; there are: {', '.join(SHIPPED)}, or a "
                         "file .toml" + did_you_mean(name, SHIPPED))
    try:
        return Programme.model_validate(parse_toml(text, name))
    except ValidationError as error:
        raise InputError(f"{name}: {first_mistake(error, Programme)}") from None
