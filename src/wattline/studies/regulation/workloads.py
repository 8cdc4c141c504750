"""What the evaluation of demand response runs: workloads, policies, hours and their signals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from wattline.demand_response.case import Case, after_warmup
from wattline.grid.signals import generate, hours, load_signal
from wattline.grid.workloads import Workload, poisson_jobs, workload
from wattline.model.errors import InputError
from wattline.model.signal import Signal

HOUR_S = 3600.0


@dataclass(frozen=True)
class Order:
    """What one process is to do: a workload, a policy, which hours."""

    workload: Workload
    policy: str
    name: str
    seed: int
    hours: int
    rounds: int
    signal_file: str = ""
    signal_hour: int = 0
    warmup_s: float = 1800.0
    """Before the hour, at the average power: a cluster that takes part is not empty."""
    forecast: int = 0
    """Hours that the bid is planned on; 0: on the first that it is judged on."""
    hold: float = 0.0
    """Share of these that must meet all constraints, each by itself; 0: all together must."""
    also: tuple[str, ...] = ()
    """Policies that are judged with the same bid, as Tracking-only was with EnergyQARE's."""
    judges_tracking: bool = True
    """False: by QoS alone, as the document judges QoSG (its problem has no tracking constraint)."""


def signal_of(order: Order, number: int) -> Signal:
    """The signal of an hour: from the file, in turn, or drawn with the published statistics."""
    if order.signal_file:
        pieces = _pieces(order.signal_file)
        return pieces[(order.signal_hour + number) % len(pieces)]
    return generate(np.random.default_rng((order.seed, 17, order.signal_hour + number)), HOUR_S)


_PIECES: dict[str, list[Signal]] = {}


def _pieces(path: str) -> list[Signal]:
    if path not in _PIECES:
        whole = load_signal(path)
        _PIECES[path] = list(hours(whole))
        if not _PIECES[path]:
            raise InputError(f"{path}: the signal ends after {whole.time_s[-1]:.6g} s; an hour is "
                             "needed")
    return _PIECES[path]


def case_for(order: Order, number: int) -> Case:
    """Hour `number` of an order: its arrivals and its signal."""
    rng = np.random.default_rng((order.seed, 29, number))
    duration_s = HOUR_S + order.warmup_s
    jobs = poisson_jobs(order.workload, duration_s, rng)
    signal = signal_of(order, number)
    if order.warmup_s > 0:
        signal = after_warmup(signal, order.warmup_s)
    return Case(order.workload, jobs, signal, policy=order.policy, duration_s=duration_s,
                warmup_s=order.warmup_s, judges_tracking=order.judges_tracking)


def each_hour(
    *, seed: int, rounds: int, signal_file: str, names: Iterable[str], warmup_s: float = 1800.0
) -> list[Order]:
    """AQA in every hour of a real signal, with the same arrivals, so that the signal alone differs.
    """
    return [Order(workload(name).with_standby() if name == "W3" else workload(name), "aqa", name,
                  seed, 1, rounds, signal_file, hour, warmup_s)
            for name in names for hour in range(len(_pieces(signal_file)))]


def fourteen(
    *,
    seed: int,
    hours_each: int,
    rounds: int,
    signal_file: str,
    names: Iterable[str],
    standby: bool = False,
    warmup_s: float = 1800.0,
    below_idle: bool = False,
    forecast: int = 0,
    hold: float = 0.0,
) -> list[Order]:
    """W1 to W14 at 35 servers under the three policies; W3 with standby jobs for AQA.

    With `standby`, AQA has them in all workloads; with `below_idle` its bids may ask for targets
    below the idle machine, as the published ones do. With `forecast`, AQA plans on so many other
    hours, of which the share `hold` must be met.
    """
    orders = []
    for name in names:
        load = workload(name)
        orders.append(Order(load, "energyqare", name, seed, hours_each, rounds, signal_file,
                            warmup_s=warmup_s, also=("tracking",)))
        if standby or name == "W3":
            load = load.with_standby()
        orders.append(Order(replace(load, below_idle=below_idle), "aqa", name, seed, hours_each,
                            rounds, signal_file, warmup_s=warmup_s, forecast=forecast,
                            hold=hold))
    return orders


def default_cluster(
    *, seed: int, hours_each: int, rounds: int, signal_file: str, warmup_s: float = 1800.0
) -> list[Order]:
    """The 100-server cluster and its variations under QoSG, and the two baselines."""
    base = workload("MOC")
    bare = replace(base, standby=None)

    def order(name: str, load: Workload, policy: str = "qosg", hour: int = 0) -> Order:
        return Order(load, policy, name, seed, hours_each, rounds, signal_file, hour, warmup_s)

    orders = [
        order("standby jobs", base), order("no standby jobs", bare),
        replace(order("no standby jobs, QoS alone", bare), judges_tracking=False),
        replace(order("baselines", bare, "energyqare"), also=("tracking",)),
    ]
    orders += [order(f"{n} servers", base.scaled(n)) for n in (20, 50, 500, 2500)]
    orders += [order(f"{level} QoS", base.at_level(level)) for level in ("tight", "loose")]
    orders += [order(f"{u:.0%} busy", replace(base, utilisation=u)) for u in (0.25, 0.75)]
    orders += [order(f"signal {h + 1}", base, hour=100 + h) for h in range(4)]
    return orders


def large_cluster(
    *, seed: int, hours_each: int, rounds: int, signal_file: str, warmup_s: float = 1800.0
) -> Order:
    """W1 on 10,000 servers with jobs a hundred times as large."""
    scaled = workload("W1")
    types = tuple(replace(t, servers=100 * t.servers) for t in scaled.types)
    load = replace(scaled, servers=10_000, types=types)
    return Order(load, "aqa", "10,000 servers", seed, hours_each, rounds, signal_file,
                 warmup_s=warmup_s)
