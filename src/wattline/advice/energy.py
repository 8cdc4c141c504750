"""Joules for a period: where they cost least, and what comes of a log under such a budget."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wattline.advice.budget import BudgetRuns, compare, figures
from wattline.analysis.budget import budget_lines
from wattline.model.errors import InputError, warn
from wattline.model.jobs import JobTable
from wattline.model.local_time import zone_of
from wattline.model.machine import Machine
from wattline.model.progress import Advance, silent
from wattline.model.run_clock import NoDates, RunClock
from wattline.model.shown import Shown
from wattline.model.signal import Signal
from wattline.model.units import counted, parse_duration, parse_energy
from wattline.physics.budget import EnergyBudget, cost_of
from wattline.physics.budget import plan as plan_of
from wattline.policies.admission.adaptive_setup import Strategy
from wattline.scenario import objects
from wattline.scenario.machines import machine_for, machine_from, machine_words
from wattline.traces import Trace, generate, read
from wattline.traces.dated_tariffs import Read, rate_beside
from wattline.traces.rates import carbon_from, end_note, is_flat, price_from
from wattline.traces.tariffs import currency_of

if TYPE_CHECKING:
    import pandas as pd


class Slot(NamedTuple):
    """A time in which a plan has one power."""

    start_s: float
    end_s: float
    power_w: float


@dataclass(frozen=True, repr=False)
class EnergyPlan(Shown):
    """The power of each slot, and what it costs beside a flat one of the same joules.

    >>> import wattline as wl
    >>> machine = wl.Machine(nodes=10, node_idle_w=90, node_active_w=300)
    >>> plan = wl.plan_energy("48kWh", machine=machine, period="1d")
    >>> round(plan.flat_w), len(plan.slots)
    (2000, 24)
    """

    budget_j: float
    planned_j: float
    currency: str | None
    cost: float | None
    cost_flat: float | None
    carbon_g: float | None
    carbon_g_flat: float | None
    machine: str
    slots: tuple[Slot, ...]
    flat_w: float
    remarks: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        found = asdict(self) | {"slots": [slot._asdict() for slot in self.slots]}
        return {name: value for name, value in found.items() if name not in ("flat_w", "remarks")}

    def to_pandas(self) -> pd.DataFrame:
        """A row per slot."""
        import pandas as pd

        return pd.DataFrame(list(self.slots), columns=Slot._fields)


@dataclass(frozen=True, eq=False, repr=False)
class BudgetTrial(Shown):
    """The same jobs without a limit, under the constant cap, and under the budget.

    >>> import wattline as wl
    >>> machine = wl.Machine(nodes=10, node_idle_w=90, node_active_w=300)
    >>> list(wl.try_budget("48kWh", machine=machine, period="1d", jobs=20).runs)
    ['no limit', 'constant cap', 'budget']
    """

    budget: EnergyBudget
    comparison: BudgetRuns
    runs: dict[str, dict[str, Any]]
    """Of each: energy, cost, carbon, waiting, and how each period kept to the budget."""
    currency: str | None
    machine: str
    remarks: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {"budget_j": self.budget.energy_j, "period_s": self.budget.end_s,
                "cap_w": self.budget.mean_w, "periods": self.comparison.periods,
                "currency": self.currency, "machine": self.machine, "runs": self.runs}

    def to_pandas(self) -> pd.DataFrame:
        """A row per limit."""
        import pandas as pd

        rows = {name: {key: value for key, value in row.items() if key != "budget"}
                for name, row in self.runs.items()}
        return pd.DataFrame.from_dict(rows, orient="index")


class _Asked(NamedTuple):
    budget: EnergyBudget
    price: Signal | None
    carbon: Signal | None
    names: tuple[str, str]
    """What price and carbon were called."""
    laid: tuple[str, ...] = ()
    """How tables were put beside the time of the period."""

    def ends(self, until_s: float, told_s: float = 0.0) -> tuple[str, ...]:
        """A line for each table that ends before a time, unless that was said for another."""
        notes = (end_note(name, rate, until_s, told_s)
                 for name, rate in zip(self.names, (self.price, self.carbon), strict=True))
        return tuple(note for note in notes if note)


def plan_energy(
    energy: float | str, *, machine: Machine | objects.Machine, period: float | str = "7d",
    price: float | str | None = None, carbon: float | str | None = None, start: str = "",
    zone: str = "", carbon_weight: float = 0.0,
) -> EnergyPlan:
    """Plan the power of each slot so that the joules of a period are spent where they cost least.

    `price` (of a kWh) and `carbon` (grams per kWh) are one figure or a table, in which the period
    begins at the date `start`, else at the first row; dates without an offset are of `zone`
    ("Europe/Berlin", "local"), else of UTC. `carbon_weight` is 0 for the price alone and 1 for
    carbon alone.

    >>> import wattline as wl
    >>> machine = wl.Machine(nodes=10, node_idle_w=90, node_active_w=300)
    >>> plan = wl.plan_energy("48kWh", machine=machine, period="1d", price="0.2EUR")
    >>> round(plan.planned_j / 3.6e6, 6), round(plan.cost, 6), plan.currency
    (48.0, 9.6, 'EUR')
    """
    known = machine_from(machine)
    asked = _asked(energy, period, price, carbon, start, carbon_weight, None, zone_of(zone).info)
    budget = asked.budget
    found = plan_of(budget, known.power_w_idle, known.power_w_max)
    ends = [*found.time_s[1:].tolist(), budget.end_s]
    remarks = (*asked.laid, *asked.ends(budget.end_s))
    warn(remarks)
    return EnergyPlan(
        budget.energy_j, found.integral(budget.start_s, budget.end_s), currency_of(asked.price),
        _cost(found, asked.price, budget), _flat(asked.price, budget),
        _cost(found, asked.carbon, budget), _flat(asked.carbon, budget), machine_words(known),
        tuple(Slot(float(t), float(e), float(p))
              for t, e, p in zip(found.time_s, ends, found.value, strict=True)),
        budget.mean_w, remarks)


def try_budget(
    energy: float | str, *, machine: Machine | objects.Machine,
    trace: Trace | JobTable | str | Path | None = None, jobs: int = 1000, seed: int = 1,
    period: float | str = "7d", price: float | str | None = None,
    carbon: float | str | None = None, start: str = "", zone: str = "",
    carbon_weight: float = 0.0, strategy: str = "dvfs", progress: Advance = silent,
) -> BudgetTrial:
    """Run jobs under an energy budget, and beside it under a constant cap of the same energy.

    Sizes of `trace` are cores; a size that the `machine` lacks is that of the log's header. Without
    a log so many `jobs` are generated. `strategy` is what nodes do to draw less: idle, shut, dvfs
    or mix. Tables of prices and carbon are read by the dates of the log; where these have none in
    common, they begin with the first submission, or at `start`. Times without an offset, in the log
    too, are of `zone` ("Europe/Berlin", "local"), else of UTC.

    >>> import wattline as wl
    >>> machine = wl.Machine(nodes=10, node_idle_w=90, node_active_w=300)
    >>> found = wl.try_budget("48kWh", machine=machine, period="1d", jobs=20)
    >>> float(found.to_pandas()["excess_j"]["budget"])
    0.0
    """
    table, log, known, remarks = _jobs(trace, jobs, seed, machine, zone)
    asked = _asked(energy, period, price, carbon, start, carbon_weight, log, zone_of(zone).info)
    budget = asked.budget
    budget.checked(known.power_w_idle, known.power_w_max)
    how = Strategy.parse(strategy)
    progress(0.1)
    found = compare(table, known, budget, strategy=how)
    length_s = max(run.end_s for run in found.runs.values()) - found.budget.start_s
    later = asked.ends(length_s, budget.end_s) if length_s > budget.end_s else ()
    said = (*asked.laid, *asked.ends(budget.end_s), *remarks, *later,
            *budget_lines(found.runs["budget"]))
    warn(said)
    return BudgetTrial(budget, found, figures(found, asked.price, asked.carbon),
                       currency_of(asked.price), machine_words(known), said)


def _asked(
    energy: float | str, period: float | str, price: float | str | None,
    carbon: float | str | None, start: str, carbon_weight: float, log: RunClock | None,
    zone: tzinfo,
) -> _Asked:
    cents, of_cents = _rate(price, price_from, start, log, zone)
    grams, of_grams = _rate(carbon, carbon_from, start, log, zone)
    weight = carbon_weight if cents is not None else 1.0
    if weight > 0 and grams is None and cents is not None:
        raise InputError("--carbon-weight is above 0, but there is no --carbon")
    joules = parse_energy(energy) if isinstance(energy, str) else float(energy)
    period_s = parse_duration(period) if isinstance(period, str) else float(period)
    budget = EnergyBudget(joules, 0.0, period_s, cost_of(cents, grams, weight))
    return _Asked(budget, cents, grams, (str(price), str(carbon)), (*of_cents, *of_grams))


def _rate(
    given: float | str | None, read: Read, start: str, log: RunClock | None, zone: tzinfo
) -> tuple[Signal | None, tuple[str, ...]]:
    """What was given from the beginning of the period on, and how a table was put there."""
    if given in (None, ""):
        return None, ()
    text = str(given)
    if log is not None and not start:
        return rate_beside(text, read, log, "--start DATE")
    found = read(text, start=start, zone=zone)
    return found, () if start or is_flat(found) or not _has_dates(text, read) else (
        f"{text}: its first row is taken for the beginning; --start DATE says otherwise",)


def _has_dates(text: str, read: Read) -> bool:
    try:
        read(text, unix=True)
    except NoDates:
        return False
    return True


def _jobs(
    trace: Trace | JobTable | str | Path | None, count: int, seed: int,
    given: Machine | objects.Machine, zone: str,
) -> tuple[JobTable, RunClock | None, Machine, tuple[str, ...]]:
    """The log's jobs and dates, or generated ones whose sizes are nodes; their machine; and what
    was assumed of it and dropped."""
    if trace is None:
        machine = machine_from(given)
        made = generate("lublin", seed=seed, jobs=count, nodes=machine.node_count).jobs
        sizes = made.procs * machine.class_of(0).cores
        return made.with_columns(procs=sizes), None, machine, ()
    if isinstance(trace, JobTable):
        return trace, _dates(trace, None, zone_of(zone).info), machine_from(given), ()
    log = trace if isinstance(trace, Trace) else read(Path(trace), zone=zone)
    machine, lines = machine_for(given, log)
    if not isinstance(trace, Trace):
        log, dropped = _fitting(Path(trace), log, machine, zone)
        lines += dropped
    return log.jobs, _dates(log.jobs, log.unix_start_s, zone_of(zone).info), machine, lines


def _fitting(
    path: Path, log: Trace, machine: Machine, zone: str
) -> tuple[Trace, tuple[str, ...]]:
    """The log without jobs that are larger than the machine, and how many those are."""
    if int(log.jobs.procs.max(initial=0)) <= machine.core_count:
        return log, ()
    log = read(path, machine_procs=machine.core_count, zone=zone)
    dropped = log.cleaning.count("too_large")
    return log, (
        f"{dropped:,} job{'' if dropped == 1 else 's'} of the log dropped: larger than "
        f"{machine.node_count:,} nodes of {counted(machine.class_of(0).cores, 'core')} "
        "(--nodes, --cores)",)


def _dates(jobs: JobTable, unix_start_s: float | None, zone: tzinfo) -> RunClock | None:
    if not len(jobs):
        return None
    return RunClock.of(float(jobs.submit_s[0]), float(jobs.submit_s[-1]), unix_start_s, zone)


def _cost(plan: Signal, tariff: Signal | None, budget: EnergyBudget) -> float | None:
    """What a plan costs: the integral of power times tariff, exact for two step functions."""
    if tariff is None:
        return None
    inner = np.concatenate((plan.time_s, tariff.time_s))
    inner = inner[(inner > budget.start_s) & (inner < budget.end_s)]
    edges = np.unique(np.concatenate(([budget.start_s], inner, [budget.end_s])))
    return float(np.sum(plan.sample(edges[:-1]) * tariff.sample(edges[:-1]) * np.diff(edges)))


def _flat(tariff: Signal | None, budget: EnergyBudget) -> float | None:
    if tariff is None:
        return None
    return budget.mean_w * tariff.integral(budget.start_s, budget.end_s)
