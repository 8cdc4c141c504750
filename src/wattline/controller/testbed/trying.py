"""A workload tried on a bed that is made for it and gone afterwards."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from wattline.controller.testbed.bed import bring_up, take_down
from wattline.controller.testbed.conditions import (
    Conditions,
    as_measured,
    check,
    never_starting,
)
from wattline.controller.testbed.layout import Bed, NodePower, lay_out
from wattline.controller.testbed.progress import BedProgress, Tell, untold
from wattline.controller.testbed.running import BedRun, run_workload
from wattline.controller.testbed.simulated import BesideSimulation, Setup, beside_simulation
from wattline.controller.testbed.workload import BedJob, faster, jobs_of
from wattline.model.cap_value import read_cap_value
from wattline.model.errors import InputError, WattlineError
from wattline.model.progress import Advance, silent
from wattline.model.shown import Shown
from wattline.model.units import counted
from wattline.scenario.remarks import cleaned
from wattline.traces import Trace, read, trace_of


@dataclass(frozen=True, repr=False)
class TriedRun(Shown):
    """What became of a workload, beside a simulation of the same submissions.

    >>> import wattline as wl
    >>> jobs = wl.generate("lublin", seed=1, jobs=3, nodes=4)
    >>> wl.try_workload(jobs, nodes=4, cap="1kW").beside  # doctest: +SKIP
    BesideSimulation(...)  # a real Slurm on this machine has run them
    """

    run: BedRun
    beside: BesideSimulation | None
    """None where no job completed, and of runs with faults, another cap or Slurm deciding."""
    caps: tuple[tuple[float, float], ...] = ()
    """From when on, and how many watts."""

    def to_dict(self) -> dict[str, Any]:
        beside = None if self.beside is None else asdict(self.beside)
        return {**self.run.to_dict(), "simulated": beside}

    def plot(self, path: str | Path) -> Path:
        """Draw what the machine drew, below its cap (.png, .svg, .pdf)."""
        from wattline.controller.testbed.curve_plot import draw_curve

        return draw_curve(self.run.power_w, self.caps, Path(path))


USUAL: dict[str, Any] = {"power": "watts", "placement": "first-fit"}


def try_workload(
    workload: str | Path | Any, *, nodes: int, cap: float | str, scenario: str | Path | None = None,
    mode: str = "decide", lower_cap_to: float | str | None = None, at_s: float = 0.0,
    when_short: str = "", faults: int | None = None, journal: str | Path | None = None,
    folder: Path | None = None, power: NodePower | None = None, speed: float = 1.0,
    node_w: tuple[float, float] | None = None, column_map: str | Path | None = None,
    progress: Advance = silent, tell: Tell = untold,
) -> TriedRun:
    """Run jobs on a real Slurm with emulated power, under the policies of a scenario.

    Times are real: a log of an hour takes an hour. The bed comes down again whatever happens;
    `folder` is where it lies meanwhile, and `journal` a file that is left of it. In the mode
    `guard` Slurm starts the jobs, under watts as licences. `lower_cap_to` is another cap, from
    `at_s` seconds on; `when_short` what may be done to jobs where caps of nodes are not enough
    (`suspend` or `requeue`); `faults` the seed of what goes wrong. `speed` divides all times of
    the log; `node_w` is what a node draws with jobs that do not say it: of one of the whole
    machine, and of one on a single node. `column_map` is of a table with columns of its own;
    `tell` is told in figures how far it is.

    >>> import wattline as wl
    >>> jobs = wl.generate("lublin", seed=1, jobs=3, nodes=4)
    >>> wl.try_workload(jobs, nodes=0, cap="1kW")
    Traceback (most recent call last):
        ...
    wattline.model.errors.InputError: a bed has from 1 to 1024 nodes, not 0
    """
    rated_w = nodes * (power or NodePower()).active_w
    conditions = Conditions(
        read_cap_value(cap).watts(rated_w), mode, None if scenario is None else Path(scenario),
        USUAL, None if lower_cap_to is None else read_cap_value(lower_cap_to).watts(rated_w), at_s,
        when_short, faults)
    kept = None if journal is None else Path(journal)
    if kept is not None and not kept.parent.is_dir():
        raise InputError(f"{kept}: there is no folder {kept.parent}")
    place = folder or Path(tempfile.mkdtemp(prefix="bed")) / "b"
    trace = _trace(workload, column_map)
    try:
        # What no such bed can run is refused before one is made.
        planned = lay_out(place, nodes, power=power)
        check(conditions, planned)
        asked = jobs_of(faster(trace.jobs, speed), planned, node_w, trace.logged)
        asked, unmeasured = as_measured(conditions, planned, asked, speed)
        never = never_starting(conditions, planned, asked)
        tell(BedProgress(f"bringing up a bed of {nodes} nodes{_said_of(never, conditions)}"))
        bed = bring_up(place, nodes, power=power)
        try:
            found = run_workload(bed, asked, conditions, journal=kept,
                                 tell=_both(progress, tell), never=never)
        finally:
            tell(BedProgress("taking the bed down"))
            take_down(place)
    finally:
        if folder is None:
            shutil.rmtree(place.parent, ignore_errors=True)
    found = replace(found, remarks=(*cleaned(trace), *unmeasured, *found.remarks))
    if any(job.sizes for job in asked):
        said = ("not compared with a simulation: there jobs run for the time of their "
                "configuration, and here a cap slows them down as the emulated nodes do")
        return TriedRun(replace(found, remarks=(*found.remarks, said)), None,
                        tuple(conditions.caps()))
    if _is_foretold(conditions):
        tell(BedProgress("simulating the same submissions, to compare"))
    return _tried(found, asked, conditions, bed)


def _said_of(never: Mapping[int, float], conditions: Conditions) -> str:
    """They may be over before a lowered cap comes, so that they are no mistake."""
    if not never:
        return ""
    first = ", ".join(str(number) for number in sorted(never)[:10])
    return (f"; under {conditions.last_w:,.0f} W {counted(len(never), 'job')} can never start: "
            f"{first}{', ...' if len(never) > 10 else ''}")


def _both(progress: Advance, tell: Tell) -> Tell:
    def told(at: BedProgress) -> None:
        progress(at.fraction)
        tell(at)

    return told


def _tried(
    found: BedRun, asked: list[BedJob], conditions: Conditions, bed: Bed
) -> TriedRun:
    """The run beside its simulation; what hinders that must not cost what the run has found."""
    caps = tuple(conditions.caps())
    try:
        return TriedRun(found, _beside(found, asked, conditions, bed.nodes, bed.power), caps)
    except WattlineError as error:
        said = f"the run could not be compared with a simulation: {error}"
        return TriedRun(replace(found, remarks=(*found.remarks, said)), None, caps)


def _beside(
    found: BedRun, asked: list[BedJob], conditions: Conditions, nodes: int, power: NodePower
) -> BesideSimulation | None:
    if not _is_foretold(conditions) or not found.seen:
        return None
    policies = USUAL if conditions.scenario is None else {}
    return beside_simulation(found, asked, Setup(nodes, power, conditions.cap_w, policies,
                                                 conditions.scenario))


def _is_foretold(conditions: Conditions) -> bool:
    """Only a machine that is left alone and decided here can be."""
    return (conditions.mode == "decide" and conditions.lower_to_w is None
            and conditions.faults is None)


def _trace(workload: Any, column_map: str | Path | None) -> Trace:
    if isinstance(workload, (str, Path)):
        return read(workload, column_map=column_map)
    return trace_of(workload, column_map=None if column_map is None else str(column_map))
