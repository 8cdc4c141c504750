"""Random cases of a busy machine, in small whole figures: ties and exact fits are common."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from tests.support.definitions.world import Case, Outage, Reading
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass, NodeGroup
from wattline.model.reservation import Reservation
from wattline.model.signal import Signal

IDLE_W, ACTIVE_W = 100.0, 300.0
WATTS = (50.0, 99.5, 100.0, 100.5, 150.0, 200.0, 200.0, 300.0, 300.0, 300.0, 500.0)
"""Of a busy unit: below, at, just above and far above what it draws idle."""
MOST_JOBS = 24


def busy_cases(told: bool = False) -> st.SearchStrategy[Case]:
    """With `told`, power is measured while jobs run, and units break and are repaired.

    Figures come from a seed: drawn one by one, they would mostly be small, and nobody would wait.
    """
    return st.builds(case, st.integers(0, 2**32 - 1), st.integers(1, MOST_JOBS), st.just(told))


def case(seed: int, most_jobs: int, told: bool) -> Case:
    """The first jobs of a seed's machine, and all that happens to it."""
    random = np.random.default_rng(seed)
    scarce_watts = random.random() < 0.5  # else units are what jobs wait for
    units = int(random.integers(8, 17) if scarce_watts else random.integers(2, 11))
    procs = random.integers(1, 5 if scarce_watts else units + 1, MOST_JOBS)
    run_s = np.where(random.random(MOST_JOBS) < 0.1, 0, random.integers(1, 16, MOST_JOBS))
    run_s = np.where(random.random(MOST_JOBS) < 0.4 * scarce_watts, 5 * run_s, run_s)
    more_s = random.choice([0, 0, 0, 0, 0, 0, 1, 5, 12, -3], MOST_JOBS)
    table = JobTable.build(
        submit_s=np.append(0, np.cumsum(random.integers(0, random.integers(2, 6),
                                                        MOST_JOBS - 1))),
        procs=procs, run_s=run_s, requested_s=np.maximum(run_s + more_s, 0),
        power_w=procs * random.choice(WATTS, MOST_JOBS))
    machine = Machine.uniform(units, NodeClass(power_w_idle=IDLE_W, power_w_active=ACTIVE_W))
    jobs = table.take(np.arange(most_jobs))
    return Case(jobs, machine, _cap_w(random, units, scarce_watts),
                tuple(_windows(random, units)),
                str(random.choice(["extend", "kill"])),
                tuple(_told(random, jobs, units)) if told else ())


def _cap_w(random: np.random.Generator, units: int, scarce: bool) -> Signal:
    """Steps that leave jobs from nothing to all that they could draw."""
    def watts() -> float:
        return units * IDLE_W + 50.0 * random.integers(0, 4 * units + 1)

    steps = [(float(random.integers(1, 60)), watts()) for _ in range(random.integers(0, 4))]
    first_w = units * IDLE_W + 50.0 * random.integers(units, (2 if scarce else 4) * units + 1)
    return Signal.from_steps([(0.0, first_w), *steps], "W")


def _windows(random: np.random.Generator, units: int) -> list[Reservation]:
    """In half of the cases one or two, of units, of watts or of both."""
    found, left = [], units
    for number in range(max(int(random.integers(-1, 3)), 0)):
        kind = random.integers(3)
        nodes = int(random.integers(0, left + 1)) if kind != 1 else 0
        watts = 50.0 * random.integers(0, 2 * units + 1) if kind != 0 else 0.0
        if nodes or watts:
            left -= nodes
            found.append(Reservation(float(random.integers(1, 60)), float(random.integers(1, 16)),
                                     nodes=nodes, watts=float(watts), name=f"w{number}"))
    return found


def _told(random: np.random.Generator, jobs: JobTable, units: int) -> list[Outage | Reading]:
    """Readings and, in half of the cases, units that break; all are repaired in the end."""
    found: list[Outage | Reading] = [
        Reading(float(jobs.submit_s[job]) + float(random.integers(1, 12)), job,
                float(jobs.procs[job] * random.choice(WATTS)))
        for job in random.integers(0, len(jobs), random.integers(0, 20)).tolist()]
    broken = 0
    for time_s in sorted(set(random.integers(0, 60, max(random.integers(-3, 5), 0)).tolist())):
        change = int(random.integers(-broken, units // 2 - broken + 1))
        if change:
            found.append(Outage(float(time_s), change))
            broken += change
    return [*found, Outage(80.0, -broken)] if broken else found


def case_on_classes(seed: int, most_jobs: int) -> Case:
    """The same on two or three classes of node, numbered in any order; half of the jobs draw what
    their nodes do, and no nodes are reserved."""
    drawn, random = case(seed, most_jobs, False), np.random.default_rng((seed, 2))
    counts = np.array([1, 1, 0])  # two classes at least
    counts += random.multinomial(drawn.machine.node_count - 2, [0.4, 0.3, 0.3])
    machine = Machine(tuple(
        NodeGroup(NodeClass(f"c{number}", power_w_idle=float(random.choice([50.0, 100.0, 150.0])),
                            power_w_active=float(random.choice([200.0, 300.0, 450.0])),
                            speed=float(random.choice([0.5, 1.0, 1.0, 2.0]))), int(count))
        for number, count in enumerate(counts) if count))
    more_w = machine.power_w_idle - drawn.machine.power_w_idle
    assert drawn.cap_w is not None
    own_w = np.where(random.random(len(drawn.jobs)) < 0.5, np.nan, drawn.jobs.power_w)
    return Case(drawn.jobs.with_columns(power_w=own_w), machine,
                Signal(drawn.cap_w.time_s, drawn.cap_w.value + more_w, "W"),
                tuple(replace(each, nodes=0) for each in drawn.reservations if each.watts),
                drawn.overrun)


def cases_on_classes() -> st.SearchStrategy[Case]:
    return st.builds(case_on_classes, st.integers(0, 2**32 - 1), st.integers(1, MOST_JOBS))
