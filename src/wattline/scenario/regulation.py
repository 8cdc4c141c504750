"""The scenario of a regulation contract, as a TOML file or as flags of the command line."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import numpy as np
from pydantic import Field, StrictBool, ValidationError, field_validator

from wattline.grid.curtailment import Curtailment
from wattline.grid.dayahead import HOUR_S
from wattline.grid.market import Prices
from wattline.grid.signals import generate, hours, load_signal, window
from wattline.grid.workloads import JobType, Workload, poisson_jobs, workload
from wattline.model.errors import InputError
from wattline.model.fields import MOST_S, Number, Section, Whole
from wattline.model.machine import MOST_NODES, MOST_POWER_W
from wattline.model.mistakes import first_mistake
from wattline.model.nearest import did_you_mean
from wattline.model.reading import read_toml
from wattline.model.signal import Signal
from wattline.model.units import parse_duration, parse_power
from wattline.policies.declaration import REGULATION
from wattline.policies.registry import places
from wattline.scenario.choosing import CHECKING, PLANNING
from wattline.scenario.logs import log_case
from wattline.scenario.regulated import Case, after_warmup, mislabelled

BiddingName = Literal["auto", "descent", "closed_form", "exhaustive", "heuristic", "range",
                      "adaptive", "empirical", "dayahead"]  # fmt: skip
BIDDING: tuple[str, ...] = get_args(BiddingName)
OF_WORKLOADS = ("workload", "types", "standby_type", "utilisation", "level", "burst", "mislabelled")
"""Fields that a log leaves no room for."""
CHECK_HOURS = 10
"""That a chosen bid is tried on where nothing else is asked for."""
MOST_ROUNDS = 100_000
Steps = Number | list[tuple[Number, Number]]


Servers = Annotated[Whole, Field(ge=1, le=MOST_NODES)]
Positive = Annotated[Number, Field(gt=0, le=MOST_S)]
Time = str | Number
"""As people write it; read where it is used."""


class TypeFields(Section):
    """A job type of the user's own."""

    name: str
    servers: Servers
    time_s_min: Positive
    power_w_max: Positive
    time_s_max: Positive
    power_w_min: Positive
    threshold: Positive


class SignalFields(Section):
    """Statistics of a signal to generate."""

    std: Number = 0.4
    mean: Number = 0.0
    correlation_s: Number = 150.0
    step_s: Number = 4.0


class PriceFields(Section):
    """Prices a kWh: a number, or steps [time_s, price]."""

    energy: Steps = 0.1
    reserve: Steps = 0.1
    error: Steps = 0.1
    currency: str = ""
    """For people: what costs are printed in."""


class CurtailmentFields(Section):
    start: Time
    share: Number = 0.25
    duration: Time = "3h"
    notice: Time = "10m"


class RegulationScenario(Section):
    """Every field is also a flag of `wattline regulate` and `wattline bid`, or has one to match."""

    workload: str = ""
    types: list[TypeFields] = Field(default_factory=list)
    standby_type: TypeFields | None = None
    servers: Servers | None = None
    power_w_idle: Number | None = Field(default=None, ge=0, le=MOST_POWER_W)
    utilisation: Number | None = Field(default=None, gt=0, le=1)
    level: Literal["tight", "medium", "loose"] = "medium"
    burst: Number = Field(default=1.0, ge=1, le=1e6)
    below_idle: StrictBool = False
    log: str = ""
    log_start: Time = 0.0
    duration: Time = "1h"
    warmup: Time = 0.0
    cycle_s: Number = Field(default=1.0, ge=0.01, le=MOST_S)
    seed: Whole = Field(default=1, ge=0)
    signal: str | SignalFields = SignalFields()
    signal_start: Time = 0.0
    prices: PriceFields = PriceFields()
    policy: str = "aqa"
    bidding: BiddingName = "auto"
    bid: tuple[Number, Number] | None = None
    weights: list[Number] = Field(default_factory=list)
    standby: StrictBool = False
    preempt: StrictBool = False
    feedback: StrictBool = False
    mislabelled: Number = Field(default=0.0, ge=0, le=1)
    curtailment: CurtailmentFields | None = None
    rounds: Whole = Field(default=400, ge=1, le=MOST_ROUNDS)
    forecast: Whole = Field(default=0, ge=0, le=MOST_ROUNDS)
    hold: Number = Field(default=0.0, ge=0, le=1)
    check: Whole | None = Field(default=None, ge=0, le=MOST_ROUNDS)

    @field_validator("policy")
    @classmethod
    def _installed(cls, policy: str) -> str:
        known = places()[REGULATION]
        if policy not in known:
            raise ValueError(f"there is no '{policy}'; there are: {', '.join(known)}"
                             + did_you_mean(policy, known))
        return policy

    @property
    def duration_s(self) -> float:
        return seconds(self.duration)

    @property
    def warmup_s(self) -> float:
        return seconds(self.warmup)


def seconds(value: str | float) -> float:
    return parse_duration(value) if isinstance(value, str) else float(value)


def read_scenario(path: Path | None, flags: dict[str, Any]) -> RegulationScenario:
    """The file's fields, overridden by the flags that were given."""
    fields: dict[str, Any] = {}
    where = "scenario"
    if path is not None:
        where = str(path)
        fields = read_toml(path)
        if not fields:
            raise InputError(f"{path}: it is empty; begin with `workload`, `[[types]]` or `log`")
        if isinstance(fields.get("signal"), str) and not Path(fields["signal"]).is_absolute():
            fields["signal"] = str(path.parent / fields["signal"])
        if fields.get("log") and not Path(fields["log"]).is_absolute():
            fields["log"] = str(path.parent / fields["log"])
    given = {name: value for name, value in flags.items() if value is not None}
    if "bidding" in given:
        fields.pop("bid", None)  # the flag asks for a choice instead of the file's bid
    fields.update(given)
    try:
        return RegulationScenario.model_validate(fields)
    except ValidationError as error:
        raise InputError(f"{where}: {first_mistake(error, RegulationScenario)}") from None


def bid_fields(text: str) -> dict[str, Any]:
    """What a bid as people write it sets: `auto`, a method, or `P,R` in watts."""
    parts = text.split(",")
    if text in BIDDING:
        return {"bidding": text}
    if len(parts) != 2:
        raise InputError(f"--bid is '{text}'; write auto, a method, or P,R like 8400,3400; "
                         f"the methods of bidding are {', '.join(BIDDING[1:])}")
    return {"bid": (parse_power(parts[0]), parse_power(parts[1]))}


def workload_of(scenario: RegulationScenario) -> Workload:
    """The workload: shipped by name, or of the user's own types."""
    if scenario.types:
        if scenario.workload or scenario.servers is None or scenario.power_w_idle is None:
            raise InputError(
                "own types need `servers` and `power_w_idle`, and no `workload` beside them"
            )
        found = Workload(
            "own", tuple(JobType(**t.model_dump()) for t in scenario.types), scenario.servers,
            scenario.power_w_idle, scenario.utilisation or 0.5,
        )  # fmt: skip
    else:
        found = workload(scenario.workload or "W4", scenario.servers)
        changes: dict[str, Any] = {}
        if scenario.utilisation is not None:
            changes["utilisation"] = scenario.utilisation
        if scenario.power_w_idle is not None:
            changes["power_w_idle"] = scenario.power_w_idle
        found = _replaced(found, **changes)
    if scenario.standby_type is not None:
        fields = scenario.standby_type.model_dump() | {"threshold": float("inf")}
        found = _replaced(found, standby=JobType(**fields))
    found = _replaced(found, burst=scenario.burst, below_idle=scenario.below_idle)
    if scenario.level != "medium":
        found = found.at_level(scenario.level)
    return found.with_standby() if scenario.standby else _replaced(found, standby=None)


def _replaced(found: Workload, **changes: Any) -> Workload:
    from dataclasses import replace

    return replace(found, **changes)


def case_of(scenario: RegulationScenario, *, choose_nodes: bool = False) -> Case:
    """The case that the scenario describes: jobs drawn, signal read, prices laid out."""
    rng = np.random.default_rng(scenario.seed)
    duration_s = scenario.duration_s + scenario.warmup_s
    if not 0 < scenario.duration_s <= MOST_S or not 0 <= scenario.warmup_s <= MOST_S:
        raise InputError("duration must be above 0 and warmup not negative")
    signal = _signal(scenario, rng)
    prices = _prices(scenario)
    limit, base = None, None
    if scenario.log:
        _refuse_beside_log(scenario)
        base = log_case(
            Path(scenario.log), servers=scenario.servers, start_s=seconds(scenario.log_start),
            duration_s=duration_s, power_w_idle=scenario.power_w_idle, seed=scenario.seed,
            standby=scenario.standby,
        )  # fmt: skip
        load = _replaced(base.workload, below_idle=scenario.below_idle)
        jobs, truth = base.jobs, None
    else:
        load = workload_of(scenario)
        jobs = poisson_jobs(load, duration_s, rng)
        truth = None
        if scenario.mislabelled > 0:
            jobs, truth = mislabelled(jobs, len(load.types), scenario.mislabelled, rng)
    if scenario.curtailment is not None:
        limit = event_of(scenario).limit_w(load.power_w_mean, float("inf"))
    return Case(
        workload=load, jobs=jobs, signal=signal, prices=prices, policy=scenario.policy,
        duration_s=duration_s, warmup_s=scenario.warmup_s, cycle_s=scenario.cycle_s,
        preempt=scenario.preempt, feedback=scenario.feedback,
        adaptive=scenario.bidding == "adaptive", limit_w=limit, truth=truth,
        choose_nodes=choose_nodes, mean_quality=bool(scenario.log), own_times=bool(scenario.log),
    )  # fmt: skip


def _refuse_beside_log(scenario: RegulationScenario) -> None:
    """A log brings its jobs: refuse what describes those of a workload, rather than ignore it."""
    for name in OF_WORKLOADS:
        if getattr(scenario, name) != RegulationScenario.model_fields[name].get_default(
            call_default_factory=True
        ):
            raise InputError(f"a log brings its own jobs: leave `{name}` out, or leave out `log`")


def event_of(scenario: RegulationScenario) -> Curtailment:
    """The curtailment event of a scenario that has one; its start counts from the contract's."""
    fields = scenario.curtailment
    assert fields is not None
    event = Curtailment(
        scenario.warmup_s + seconds(fields.start), fields.share, seconds(fields.duration),
        seconds(fields.notice),
    )  # fmt: skip
    if event.end_s > scenario.duration_s + scenario.warmup_s:
        raise InputError(
            f"the curtailment ends at {event.end_s:.6g} s, after the scenario's end; raise duration"
        )
    return event


def _signal(scenario: RegulationScenario, rng: np.random.Generator) -> Signal:
    """The signal of the contract; in the warm-up before it the cluster follows the average."""
    if isinstance(scenario.signal, str):
        whole = load_signal(scenario.signal)
        start_s = float(whole.time_s[0]) + seconds(scenario.signal_start)
        signal = window(whole, start_s, scenario.duration_s)
    else:
        signal = generate(rng, scenario.duration_s, **scenario.signal.model_dump())
    if scenario.warmup_s == 0:
        return signal
    return after_warmup(signal, scenario.warmup_s)


def other_signals(
    scenario: RegulationScenario, count: int, *, stream: int = PLANNING
) -> list[Signal]:
    """Signals of other hours, for planning or checking: nobody knows the contract's own before.

    Of a file, its whole spans beside that of the contract (for checking from the last one on);
    otherwise drawn anew. Where a bid is both planned and checked on a file's spans, the last ones,
    at most half of them, are kept for the check.
    """
    span_s = min(scenario.duration_s, HOUR_S)
    if not isinstance(scenario.signal, str):
        fields = scenario.signal.model_dump()
        streams = [np.random.default_rng((scenario.seed, stream, 1, n)) for n in range(count)]
        return [generate(rng, span_s, **fields) for rng in streams]
    whole = load_signal(scenario.signal)
    start_s = seconds(scenario.signal_start)
    found = [signal for number, signal in enumerate(hours(whole, span_s))
             if abs(number * span_s - start_s) >= span_s]  # fmt: skip
    kept = _kept_for_check(scenario, len(found))
    if kept == 0:
        return found if stream == PLANNING else found[::-1]
    return found[:-kept] if stream == PLANNING else found[-kept:][::-1]


def _kept_for_check(scenario: RegulationScenario, spans: int) -> int:
    """How many of a file's spans are not planned on, because the bid is checked on them."""
    if scenario.forecast == 0:
        return 0
    return min(CHECK_HOURS if scenario.check is None else scenario.check, spans // 2)


def planned_on_checked(scenario: RegulationScenario) -> bool:
    """Whether the check has the forecast's signal, because the file holds one other span only."""
    if scenario.forecast == 0 or not isinstance(scenario.signal, str):
        return False
    planned, checked = (other_signals(scenario, 1, stream=s) for s in (PLANNING, CHECKING))
    return len(planned) == len(checked) == 1 and bool(
        np.array_equal(planned[0].value, checked[0].value)
    )


def planning_of(scenario: RegulationScenario) -> dict[str, Any]:
    """What `choose` is told: the forecast, and the hours' signals for it."""
    if scenario.hold > 0 and scenario.forecast < 1:
        raise InputError("hold is a share of forecast hours: give forecast (--forecast HOURS) too")
    return {"forecast": scenario.forecast, "hold": scenario.hold, "seed": scenario.seed,
            "signals": other_signals(scenario, scenario.forecast) if scenario.forecast else []}


def _prices(scenario: RegulationScenario) -> Prices:
    """The prices; their times count from the contract's start, as the signal's do."""
    names = ("energy", "reserve", "error")
    return Prices(*(_steps(n, getattr(scenario.prices, n), scenario.warmup_s) for n in names))


def _steps(name: str, value: Steps, warmup_s: float) -> Signal:
    if not isinstance(value, list):
        value = [(0.0, value)]
    if not value:
        raise InputError(f"the {name} price needs at least one step")
    times = [time_s for time_s, _ in value]
    if times[0] != 0:
        raise InputError(f"the first step of the {name} price is at {times[0]:.6g} s, must be at 0")
    for earlier, later in pairwise(times):
        if not later > earlier:
            raise InputError(
                f"the {name} price steps at {later:.6g} s after {earlier:.6g} s; times must rise"
            )
    if not all(math.isfinite(price) for _, price in value):
        raise InputError(f"the {name} price is not a finite number")
    return Signal.from_steps([(warmup_s + time_s, price) for time_s, price in value])
