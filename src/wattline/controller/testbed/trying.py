"""A workload tried on a bed that is made for it and gone afterwards."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wattline.books import Books
from wattline.controller.testbed.bed import bring_up, take_down
from wattline.controller.testbed.layout import NodePower
from wattline.controller.testbed.running import BedRun, run_workload
from wattline.controller.testbed.simulated import BesideSimulation, beside_simulation
from wattline.controller.testbed.workload import jobs_of
from wattline.model.errors import InputError
from wattline.model.progress import Advance, silent
from wattline.model.shown import Shown
from wattline.model.units import parse_power
from wattline.scenario.objects import Machine
from wattline.scenario.opening import open_books
from wattline.traces import Trace, read, trace_of


@dataclass(frozen=True, repr=False)
class TriedRun(Shown):
    """What became of a workload, beside a simulation of the same submissions."""

    run: BedRun
    beside: BesideSimulation | None
    """None where no job completed."""

    def to_dict(self) -> dict[str, Any]:
        beside = None if self.beside is None else vars(self.beside)
        return {**self.run.to_dict(), "simulated": beside}


USUAL: dict[str, Any] = {"power": "block", "placement": "first-fit"}


def try_workload(
    workload: str | Path | Any, *, nodes: int, cap: float | str, scenario: str | Path | None = None,
    journal: str | Path | None = None, folder: Path | None = None,
    power: NodePower | None = None, progress: Advance = silent,
) -> TriedRun:
    """Run jobs on a real Slurm with emulated power, under the policies of a scenario.

    Times are real: a log of an hour takes an hour. The bed comes down again whatever happens;
    `folder` is where it lies meanwhile, and `journal` a file that is left of it.

    >>> import wattline as wl
    >>> jobs = wl.generate("lublin", seed=1, jobs=3, nodes=4)
    >>> wl.try_workload(jobs, nodes=0, cap="1kW")
    Traceback (most recent call last):
        ...
    wattline.model.errors.InputError: a bed has from 1 to 1024 nodes, not 0
    """
    cap_w = parse_power(cap) if isinstance(cap, str) else float(cap)
    place = folder or Path(tempfile.mkdtemp(prefix="bed")) / "b"
    kept = None if journal is None else Path(journal)
    if kept is not None and not kept.parent.is_dir():
        raise InputError(f"{kept}: there is no folder {kept.parent}")
    jobs = _trace(workload).jobs
    bed = bring_up(place, nodes, power=power)
    try:
        asked = jobs_of(jobs, bed)
        found = run_workload(bed, asked, _opener(bed.nodes, bed.power, cap_w, scenario),
                             cap_w=cap_w, say=progress)
        if kept is not None:
            shutil.copy(bed.folder / "journal", kept)
    finally:
        take_down(place)
        if folder is None:
            shutil.rmtree(place.parent, ignore_errors=True)
    policies = {} if scenario is not None else USUAL
    return TriedRun(found, beside_simulation(found, asked, nodes, bed.power, cap_w, policies,
                                             scenario) if found.seen else None)


def _trace(workload: Any) -> Trace:
    return read(workload) if isinstance(workload, (str, Path)) else trace_of(workload)


def _opener(
    nodes: int, power: NodePower, cap_w: float, scenario: str | Path | None
) -> Callable[[float, Callable[[str], None]], Books]:
    machine = Machine(nodes=nodes, node_idle_w=power.idle_w, node_active_w=power.active_w)
    policies: dict[str, Any] = {} if scenario is not None else USUAL

    def opened(begin_s: float, write: Callable[[str], None]) -> Books:
        return open_books(scenario, machine=machine, cap=cap_w, start_s=begin_s, journal=write,
                          **policies)

    return opened
