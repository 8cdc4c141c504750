"""When a job that waits will start: the distribution over many futures, with joules and cost."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from wattline.advice.futures.arrivals import HINDSIGHT
from wattline.advice.futures.candidates import CURRENT, NamedChanges
from wattline.advice.futures.instants import instant_s
from wattline.advice.futures.live import stand_live
from wattline.advice.futures.policy import planned, refuse_both
from wattline.advice.futures.rates import Clock, Rate, rate_on
from wattline.advice.futures.running import Now, candidate_of, stand_at
from wattline.model.errors import InputError
from wattline.model.signal import FloatArray
from wattline.model.units import counted, parse_duration
from wattline.scenario.in_python import Source
from wattline.scenario.times import clock_of
from wattline.traces.rates import carbon_from, price_from
from wattline.traces.tariffs import currency_of

QUANTILES = {"p10": 0.1, "p50": 0.5, "p90": 0.9}
WITHIN = ("10min", "1h", "6h", "24h")
WAITING, TO_COME = "waiting", "to come"


@dataclass(frozen=True)
class StartAdvice:
    """When a job will start, how much it will use, and what that costs.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=6, jobs=80, nodes=32)
    >>> machine = wl.Machine(nodes=32, node_idle_w=90, node_active_w=300)
    >>> found = wl.advise_start(31, trace, at="60%", samples=3, machine=machine)
    >>> found.start_s["p10"] <= found.start_s["p90"]
    True
    """

    job: int | str
    state: str
    """`waiting`, or in hindsight `to come`: it has not been submitted."""
    at_s: float
    start_s: dict[str, float]
    """Quantiles of the start from `at` on; infinite where it does not start by the horizon."""
    by: dict[str, float | None]
    """The probability of a start within so much time; None where the horizon ends before and some
    draws have not started it by then."""
    energy_j: dict[str, float]
    cost: dict[str, float] | None
    """None without a price, and where a table is asked for a job that starts in no draw."""
    samples: int
    seconds: float
    assumed: tuple[str, ...]
    currency: str | None = None
    """Of the cost, where the price names one."""
    carbon_g: dict[str, float] | None = None

    def to_dict(self) -> dict[str, Any]:
        """What `wattline advise start --json` prints."""
        return {name: getattr(self, name) for name in (
            "job", "state", "at_s", "start_s", "by", "energy_j", "cost", "currency", "carbon_g",
            "samples", "seconds")} | {
            "assumed": list(self.assumed)}


def advise_start(
    job: int | str, scenario: Source | None = None, *, at: float | str | None = None,
    live: str | Path | None = None, history: Source | None = None, horizon: float | str = "7d",
    samples: int = 100, price: float | str | None = None, carbon: float | str | None = None,
    price_start: str = "", arrivals: str = "last-week", seed: int = 1, allow_code: bool = False,
    progress: Callable[[float], None] | None = None, **given: Any,
) -> StartAdvice:
    """The distribution of a pending job's start, of its joules and cost.

    At an instant of a log (`at`) `job` is its number there; live, with the file of a site, the
    number that Slurm gave it. Jobs are run ahead with run times drawn from the history, under the
    policy that is there. `price` is that of a kWh (`0.25`, `"0.25EUR"`) or a table of prices,
    `carbon` grams per kWh or a table: each draw pays for the hours in which it runs. Tables are
    read by their dates where log and table have some in common, else from the first submission
    on, of which `price_start` names the date in them.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=6, jobs=80, nodes=32)
    >>> machine = wl.Machine(nodes=32, node_idle_w=90, node_active_w=300)
    >>> wl.advise_start(31, trace, at="60%", samples=3, machine=machine).samples
    3
    """
    begin_s = time.monotonic()
    if not 1 <= samples <= 100_000:
        raise InputError(f"samples is {samples}, must be 1 to 100,000")
    refuse_both(at, live, history, scenario, given)
    horizon_s = parse_duration(horizon) if isinstance(horizon, str) else float(horizon)
    if not 0 < horizon_s < np.inf:
        raise InputError(f"horizon is {horizon}, must be above 0 and finite")
    if price_start and price is None and carbon is None:
        raise InputError("--price-start goes with --price FILE or --carbon FILE")
    if live is not None:
        stood = stand_live(live, horizon_s, arrivals, history, allow_code=allow_code)
        now, row, state = stood.now, stood.row_of(job), WAITING
        clock = Clock(now.moment.now_s, None)
    else:
        assert at is not None
        ready = planned(scenario, given, allow_code)
        now = stand_at(ready, instant_s(at, ready), horizon_s, arrivals)
        row, state = _row_of(now, job, arrivals)
        now_s = now.moment.now_s
        log = clock_of(ready.scenario, ready.jobs)
        clock = Clock(now_s, replace(log, last_s=max(log.last_s, now_s)))
    money = rate_on(clock, price, price_from, price_start)
    grams = rate_on(clock, carbon, carbon_from, price_start)
    moment = now.moment
    at_s = moment.now_s
    one, _ = candidate_of(now, NamedChanges(CURRENT, {}))
    starts, used = [], []
    watts = float(moment.books.state.jobs.watts[row])
    # Whoever is killed at the limit uses nothing after it.
    most_s = float(moment.jobs.requested_s[row]) if now.rules.overrun == "kill" else math.inf
    draws = now.draws(samples, seed)
    for number, (drawn_s, future) in enumerate(zip(draws, one.runs(draws), strict=True)):
        starts.append(float(future.start_s[row]))
        used.append(min(float(drawn_s[row]), most_s))
        if progress is not None:
            progress((number + 1) / samples)
    start_s, used_s = np.array(starts), np.array(used)
    waits = np.where(np.isnan(start_s), np.inf, start_s - at_s)
    costs, carbon_g = (_priced(rate, start_s, used_s, watts) for rate in (money, grams))
    notes = (note for rate in (money, grams) if rate for note in rate.remarks(start_s, used_s))
    return StartAdvice(
        job, state, at_s, _quantiles(waits),
        {text: _share(waits, parse_duration(text), horizon_s) for text in WITHIN},
        _quantiles(used_s * watts), costs, samples, time.monotonic() - begin_s,
        (*now.assumed, "joules are those of its own size at full power: a cap that slows it, or a "
                       "configuration, changes them", *notes),
        currency_of(money.signal if money else None), carbon_g)


def _priced(
    rate: Rate | None, start_s: FloatArray, used_s: FloatArray, power_w: float
) -> dict[str, float] | None:
    """Quantiles of money or grams, of the draws that have them."""
    if rate is None:
        return None
    found = rate.of_draws(start_s, used_s, power_w)
    known = found[~np.isnan(found)]
    return _quantiles(known) if known.size else None


def _share(waits_s: FloatArray, within_s: float, horizon_s: float) -> float | None:
    """Of what happens after the horizon nothing is known, unless all has happened before."""
    if within_s > horizon_s and not np.isfinite(waits_s).all():
        return None
    return float((waits_s <= within_s).mean())


def _row_of(now: Now, named: int | str, arrivals: str) -> tuple[int, str]:
    """The row of a job that waits at the instant, or comes later, by its number in the log."""
    moment = now.moment
    try:
        job = int(named)
    except ValueError:
        raise InputError(f"'{named}' is no number of a job of the log") from None
    rows = np.flatnonzero((moment.jobs.job_id == job) & moment.waiting)
    if rows.size:
        return int(rows[0]), WAITING
    later = moment.came + np.flatnonzero(moment.jobs.job_id[moment.came:] == job)
    if later.size and arrivals == HINDSIGHT:  # those of last week again are other jobs
        return int(later[0]), TO_COME
    raise InputError(f"job {job} does not wait at {moment.now_s:g} s: {_why_not(now, job)} "
                     f"({counted(int(moment.waiting.sum()), 'job')} waiting then)")


def _why_not(now: Now, job: int) -> str:
    """What a job of the log does that does not wait."""
    moment, whole = now.moment, now.plan.jobs
    submit_s = whole.submit_s[whole.job_id == job]
    if not submit_s.size:
        return "the log has no such job"
    if np.any(moment.jobs.job_id[moment.running] == job):
        return "it runs"
    if submit_s.min() > moment.now_s:
        return (f"it comes at {submit_s.min():g} s, which --arrivals hindsight looks at up to "
                "--horizon")
    return "it is over"


def _quantiles(values: FloatArray) -> dict[str, float]:
    """Without interpolation, which infinite ones would spoil."""
    ordered = np.sort(values)
    found = {name: float(ordered[min(len(ordered) - 1, int(part * len(ordered)))])
             for name, part in QUANTILES.items()}
    finite = ordered[np.isfinite(ordered)]
    return found | {"mean": float(finite.mean()) if len(finite) == len(ordered) else math.inf}
