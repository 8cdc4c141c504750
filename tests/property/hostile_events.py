"""Books under events that nobody would send: double, late, contradictory, about unknown jobs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from tests.support.choices import planned
from tests.support.regulated import MACHINE as CONTRACT_MACHINE
from tests.support.regulated import regulated
from tests.support.workloads import compose

from wattline.books import (
    Books,
    Cancelled,
    CapChanged,
    Changed,
    Ended,
    JournalWriter,
    Measured,
    NodesDown,
    NodesUp,
    NotStarted,
    Paced,
    ReservationRemoved,
    Reserved,
    Stalled,
    Started,
    Submitted,
    Terms,
)
from wattline.books.journal import read_journal
from wattline.books.replay import replay
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass
from wattline.model.reservation import Reservation
from wattline.model.views.build import power_view
from wattline.policies.admission.adaptive_setup import Strategy, adaptive
from wattline.policies.admission.block import Block
from wattline.policies.admission.dvfs import Dvfs
from wattline.policies.admission.wait import Wait
from wattline.policies.backfill.conservative import Conservative
from wattline.policies.contract import Composition
from wattline.policies.control import nodes_of
from wattline.policies.order.wfp import Wfp
from wattline.policies.placement.bounded import Bounded
from wattline.policies.placement.bounded_setup import bounded
from wattline.policies.placement.first_fit import FirstFit
from wattline.policies.state import BEGUN, NODE_OFF, OVER, QUEUED, RUNNING
from wattline.testing.liveness import stuck

UNITS = 12
HUGE = 10**400
NODE = NodeClass(power_w_idle=90.0, power_w_active=300.0, power_w_off=5.0, boot_s=9.0,
                 shutdown_s=4.0, boot_power_w=120.0, shutdown_power_w=100.0)
MACHINE = Machine.uniform(UNITS, NODE, nodes_per_rack=4)
LEVELS = Dvfs(np.array([0.5, 1.0]), np.array([0.6, 1.0]), latency_s=1.0)

SUCH = JobTable.build(submit_s=[0.0], run_s=[10.0], procs=[1])



class Under(NamedTuple):
    """A policy for the books, and what they are kept for."""

    policy: Composition
    terms: Terms
    machine: Machine = MACHINE
    applications: tuple[str, ...] = ("",)
    """Of the jobs that are submitted."""
    sizes: tuple[int, ...] = ()
    """Their units, where those of an application are all alike."""

    def open(self) -> Books:
        return Books.open(self.machine, self.policy, self.terms, cap_w=3600.0, cap_w_max=3600.0)


def planned_case(case: str, *applications: str) -> Under:
    made = planned(case)
    return Under(made.policy, made.rules.terms, made.machine, applications or ("",))


POLICIES: dict[str, Any] = {
    "easy": lambda: Under(compose(), Terms()),
    "conservative-block": lambda: Under(
        compose(backfill=Conservative(), admission=Block()), Terms()),
    "wait": lambda: Under(compose(admission=Wait(20.0, 3)), Terms()),
    "wfp-dvfs-nodes": lambda: Under(compose(order=Wfp(), admission=LEVELS, placement=FirstFit()),
                               Terms(choose_nodes=True)),
    "bounded": lambda: Under(compose(placement=bounded(power_view(
        MACHINE, limits_w={"rack0": 800.0}), MACHINE)), Terms(choose_nodes=True)),
    "adaptive": lambda: Under(compose(admission=adaptive(MACHINE)), Terms()),
    "shut-nodes": lambda: Under(compose(
        admission=adaptive(MACHINE, strategy=Strategy.SHUT, jobs=SUCH), placement=FirstFit()),
        Terms(choose_nodes=True)),
    "reserved": lambda: Under(compose(), Terms(reservations=(Reservation(30.0, 40.0, nodes=5),))),
    "budget": lambda: planned_case("power.budget, mix"),
    "energy-share": lambda: planned_case("order.energy-share"),
    "lending": lambda: planned_case("power.lending", "BT-MZ", "SPhot"),
    "claims": lambda: planned_case("placement.claims", "EP.A", "CG.A"),
    "network": lambda: planned_case("placement.low-stall-router"),
    "contract": lambda: Under(regulated("qoscap"), Terms(), CONTRACT_MACHINE, ("small", "large"),
                              (1, 3)),
}


TAKING_OVER = (("easy", "conservative-block", "wait", "adaptive", "reserved"),
               ("wfp-dvfs-nodes", "bounded", "shut-nodes"))
"""Of each of these, another takes over in the last quarter: not the same one with every seed,
and each after one of the others with the first."""
LIVELY = (*TAKING_OVER[0], "wfp-dvfs-nodes", "shut-nodes", "energy-share", "network")
"""Under these whatever fits starts: no bound, budget, class of node or target holds it back."""


def next_name(name: str, seed: int) -> str | None:
    for group in TAKING_OVER:
        if name in group:
            others = [other for other in group if other != name]
            return others[(seed + group.index(name)) % len(others)]
    return None


def next_policy(name: str, seed: int) -> Composition:
    found: Under = POLICIES[next_name(name, seed)]()
    return found.policy


def stream(
    random: np.random.Generator, now_s: float, books: Books, under: Under
) -> tuple[Any, list[Any]]:
    """A time, now and then in the past or none, and up to six events, sensible or not."""
    time_s = now_s + float(random.integers(0, 8))
    if random.random() < 0.05:
        time_s = random.choice(np.array([now_s - 5.0, "soon", None, HUGE], dtype=object))
    return time_s, [event(random, books, under) for _ in range(random.integers(0, 7))]


def event(random: np.random.Generator, books: Books, under: Under) -> Any:
    applications = under.applications
    kind = int(random.integers(0, len(applications)))
    about: dict[str, Any] = {} if random.random() < 0.1 else {
        "work_s": float(random.integers(1, 30)),
        **({"application": applications[kind], "codes": {"application": kind}}
           if applications[kind] else {})}
    known = [each.job for each in books.roll.jobs]
    job = int(random.choice(known)) if known and random.random() < 0.8 else 999
    new = int(random.integers(0, 1000))
    if random.random() < 0.4:
        units = under.sizes[kind] if under.sizes else int(random.integers(1, 9))
        return Submitted(new, units, float(random.integers(1, 40)),
                         after=job if random.random() < 0.2 else None, **about)
    if random.random() < 0.3:
        return Ended(job, bool(random.random() < 0.8))
    node = int(random.integers(-1, UNITS + 2))
    named = bool(books.state.nodes.size)
    nodes = tuple(int(n) for n in random.permutation(UNITS)[: random.integers(1, 4)])
    outage = {"nodes": (node, *nodes)} if named else {"units": node}
    name = str(random.choice(["a", "b", "dawn", ""]))
    watts = float(random.choice([-1.0, 0.0, 250.0, 900.0, np.nan, np.inf]))
    return random.choice(np.array([
        Ended(job), Ended(job, False), Started(job, nodes), Started(job), NotStarted(job, 3.0),
        NotStarted(job, -1.0), NodesDown(**outage), NodesUp(**outage), CapChanged(watts),
        CapChanged(3600.0), CapChanged(2000.0), Measured(watts, job), Measured(watts),
        Paced(job, float(random.choice([0.0, 0.5, 1.0])), watts),
        Submitted(new, int(random.integers(0, UNITS + 3)), 9.0), Submitted(job, 3, 20.0),
        Submitted(new, 2, float("nan")),
        Reserved(name, books.now_s + float(random.integers(-5, 20)),
                 float(random.integers(-1, 30)), units=int(random.integers(-1, UNITS + 2))),
        Reserved(name, books.now_s + float(random.integers(0, 20)), float(random.integers(1, 30)),
                 units=int(random.integers(0, 4)), watts=float(random.choice([0.0, 400.0]))),
        Reserved(name, books.now_s, 20.0, watts=watts), ReservationRemoved(name),
        Cancelled(job), Changed(job, float(random.integers(1, 60))), Changed(job, -2.0),
        "no event at all", *beyond_bounds(job, new, name),
    ], dtype=object))


def beyond_bounds(job: int, new: int, name: str) -> list[Any]:
    """Values that no array can hold, or no machine have."""
    return [
        Submitted(new, 1, 9.0, procs=2**70), Submitted(new, 1, HUGE), Submitted(new, 1, 1e300),
        Submitted(new, 1, 9.0, watts=HUGE), Submitted(new, 1, 9.0, watts=1e308),
        Submitted(new, 1, 9.0, logged={"x": HUGE}), Submitted(new, 1, 9.0, gres={"gpu": HUGE}),
        Submitted(new, 1, 9.0, logged={1: 1.0, "x": 2.0}), Stalled({10**30: 2.0}),
        CapChanged(True), CapChanged(HUGE), Changed(job, HUGE), Measured(1e308, job),
        Measured(1e308), Paced(job, 1e-300, 9.0), Reserved(name, 0.0, HUGE, units=1),
    ]


def idle_units_w(books: Books) -> float:
    """Return what units draw that are on and run nothing."""
    state, clock = books.state, books.state.clock[0]
    running = state.running[: clock.running]
    if len(state.kinds) == 1:
        busy = int(state.live.units[running].sum())
        return float((clock.units - busy - clock.off - clock.down - clock.changing) * clock.idle_w)
    idle = (state.node_down == 0) & (state.nodes.power == 0)
    for row in running:
        idle[list(nodes_of(state, int(row)))] = False
    return float(state.kinds.idle_w[state.nodes.kind[idle]].sum())


def bounds_left_w(books: Books, placement: Bounded) -> np.ndarray:
    """Return what each bound has left beside the jobs that run, by what these draw now."""
    state = books.state
    left_w = np.array(placement.whole_w, dtype=np.float64)
    for row in state.running[: state.clock[0].running]:
        live = state.live[row]
        each_w = max(live.power_w - live.idle_w, 0.0) / live.units
        for node in nodes_of(state, int(row)):
            counted = slice(placement.first[node], placement.first[node + 1])
            np.subtract.at(left_w, placement.bound[counted], each_w * placement.part[counted])
    return left_w


def wrong(books: Books) -> list[str]:
    """Return what does not add up in the books."""
    state, clock = books.state, books.state.clock[0]
    live = state.live[: len(books.roll)]
    running = state.running[: clock.running]
    busy = int(live.units[running].sum())
    held = busy + clock.free + clock.off + clock.changing + clock.reserved + clock.down
    found = []
    least = min(clock.free, clock.reserved, clock.down, clock.owed, clock.down_owed)
    if held != clock.units or least < 0 or clock.down + clock.down_owed > clock.units:
        found.append(f"{held} units of {clock.units}")
    broken = (((state.node_down == 1) & (state.node_free == 1)).any() if state.nodes.size
              else clock.down_owed > 0)
    if clock.free > 0 and broken:
        found.append("units that are out of order can be given to jobs")
    if sorted(running) != sorted(np.flatnonzero(live.state == RUNNING)):
        found.append("the list of running jobs")
    begun = state.windows[state.windows.stage == BEGUN]
    if clock.reserved + clock.owed != begun.units.sum():
        found.append(f"{clock.reserved} units reserved and {clock.owed} owed")
    if not np.isclose(clock.cap_w, books.record.meter[0].told_cap_w - begun.watts.sum()):
        found.append(f"a cap of {clock.cap_w} W")
    if clock.windows != ((state.windows.stage != OVER) & (state.windows.units > 0)).sum():
        found.append(f"{clock.windows} windows")
    queue = state.queue.job[clock.queue_first: clock.queue_last]
    if sorted(queue) != sorted(np.flatnonzero(live.state == QUEUED)):
        found.append("the queue")
    idle_w = idle_units_w(books) + clock.changing_w
    power_w = idle_w + (clock.off + clock.down) * clock.off_w + live.power_w[running].sum()
    if abs(power_w + clock.rest_w - clock.power_w) > 1e-6 * (1.0 + clock.power_w):
        found.append(f"power {clock.power_w} where parts give {power_w + clock.rest_w}")
    if state.nodes.size:
        taken = int((state.node_free == 0).sum()) - int(state.node_out.sum())
        taken -= int((state.nodes.power != 0).sum())
        switched = [int((state.nodes.power == NODE_OFF).sum()), int((state.nodes.power > 0).sum())]
        if switched != [clock.off, clock.changing]:
            found.append(f"{switched} nodes off and changing of {clock.off} and {clock.changing}")
        if taken != busy:
            found.append(f"{taken} nodes taken by jobs of {busy}")
    placement = books.policy.placement
    if isinstance(placement, Bounded):
        left_w, room_w = bounds_left_w(books, placement), placement.memory.room_w
        if not np.allclose(left_w, room_w, rtol=1e-6, atol=1e-6):
            found.append(f"bounds have {room_w} W left where jobs leave {left_w} W")
    if not clock.energy_j >= 0 or not np.isfinite(clock.power_w):
        found.append("energy or power")
    return found


def hostile(name: str, seeds: int, steps: int) -> dict[str, Any]:
    """Return what went wrong, and how many events were taken and refused."""
    problems: list[str] = []
    taken = refused = decisions = 0
    reasons: set[str] = set()
    for seed in range(seeds):
        random = np.random.default_rng(seed)
        under = POLICIES[name]()
        books, unsaved = under.open(), None
        lines: list[str] = []
        books.keep_journal(JournalWriter(lines.append))
        for step in range(steps):
            time_s, events = stream(random, books.now_s, books, under)
            decided = books.step(time_s, events)
            decisions += len(decided)
            if unsaved is not None and unsaved.step(time_s, events) != decided:
                problems.append(f"seed {seed}, step {step}: saved books decide otherwise")
            taken += len(events) - len(books.refused)
            refused += len(books.refused)
            reasons |= {each.reason.split("'")[0] for each in books.refused}
            problems += [f"seed {seed}, step {step}: {each}" for each in wrong(books)]
            if step == 3 * steps // 4 and next_name(name, seed):
                books = books.with_policy(next_policy(name, seed))
                unsaved = unsaved.with_policy(next_policy(name, seed))
            if step == steps // 2:
                again = POLICIES[name]()
                unsaved = books.copy()
                loaded = Books.load(books.save(), again.machine, again.policy, again.terms)
                loaded.journal, books = books.journal, loaded
            if problems:
                return {"problems": problems[:3]}
        told = read_journal("".join(lines), "journal").entries()
        repeated = replay(POLICIES[name]().open(), told,
                          lambda said, seed=seed: next_policy(name, seed))
        if not repeated.equal:
            return {"problems": [f"seed {seed}: the journal replays otherwise: {repeated}"]}
        if (next_name(name, seed) or name) in LIVELY:
            problems += [f"seed {seed}: {each}" for each in stuck(books)]
        if problems:
            return {"problems": problems[:3]}
    return {"problems": [], "taken": taken, "refused": refused, "decisions": decisions,
            "reasons": sorted(reasons)}
