"""How an energy budget stands at a time: of a run, a run folder, or a scenario."""

from __future__ import annotations

from pathlib import Path

from wattline.analysis import rundir
from wattline.analysis.budget_status import EnergyStatus, status_at
from wattline.model.run import Run
from wattline.model.units import parse_duration
from wattline.scenario.build import plan
from wattline.scenario.load import load


def energy_status(run: Run | str | Path, *, at: float | str | None = None) -> EnergyStatus:
    """Say what periods have drawn and promised at a time, and who waits for joules and why.

    `run` is a run, the folder of one, or a scenario's file, which is then simulated. `at` counts
    from the first submission; without it the end of the run is meant.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=20, nodes=10)
    >>> run = wl.simulate(trace, machine=wl.Machine(nodes=10, node_idle_w=90, node_active_w=300),
    ...                   power=wl.Budget(energy="48kWh", period="1d"))
    >>> wl.energy_status(run, at="2h").now.period
    1
    """
    if isinstance(run, Run):
        known: Run = run
    elif Path(run).is_dir():
        known = rundir.read(run)
    else:
        known = plan(load(str(run))).run()
    after_s = parse_duration(at) if isinstance(at, str) else at
    return status_at(known, known.end_s if after_s is None else known.start_s + after_s)
