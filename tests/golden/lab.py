"""Parts of the worked examples: a machine of four nodes and a way to write jobs down.

In the charts a column is a second (or what the chart says), a row a node, a letter a job. Nodes
draw 100 W idle and 300 W active, so a busy node-second costs 200 J above the idle machine.
"""

from __future__ import annotations

import numpy as np

from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass
from wattline.model.run import Run
from wattline.results.verify.judge import verify

NODE = NodeClass(power_w_idle=100.0, power_w_active=300.0)
IDLE_W, BUSY_W = 400.0, 200.0
"""The idle machine, and what a busy node draws above idle."""


def table(*rows: tuple, **columns) -> JobTable:
    """Jobs as (submission, nodes, run time) or (submission, nodes, run time, requested time)."""
    return JobTable.build(
        submit_s=[row[0] for row in rows],
        procs=[row[1] for row in rows],
        run_s=[row[2] for row in rows],
        requested_s=[row[-1] if len(row) > 3 else row[2] for row in rows],
        **columns,
    )


def play(jobs: JobTable, policy, machine: Machine | None = None, **rules) -> Run:
    """Simulate, and let the independent checker agree."""
    run = simulate(jobs, machine or Machine.uniform(4, NODE), policy, Rules(**rules))
    assert verify(run).sentences == []
    return run


def spans(run: Run) -> list[tuple[float, float]]:
    """Start and end of every job."""
    return list(zip(run.schedule.start_s.tolist(), run.schedule.end_s.tolist(), strict=True))


def joules(run: Run) -> list[float]:
    return run.schedule.energy_j.tolist()


def idle_and_busy_j(run: Run) -> float:
    """The machine's energy by hand: idle for the whole span, and the busy node-seconds."""
    held_s = np.nansum((run.schedule.end_s - run.schedule.start_s) * run.schedule.nodes)
    return float(IDLE_W * (run.end_s - run.start_s) + BUSY_W * held_s)
