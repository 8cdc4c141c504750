"""The twin beside five runs of a micro cluster on a real Slurm, as the page on truth records them.

The page has the mean waits of each run, not the starts of single jobs; what it says of the twin is
measured here anew.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest

from tests.shared_data import shared
from wattline.model.errors import WattlineWarning
from wattline.scenario.twin.planning import twin_plan
from wattline.twin.held import simulated_phases
from wattline.twin.judging import JudgedWait
from wattline.twin.make import make_twin
from wattline.twin.real_runs import RealRun

PAGE = Path(__file__).resolve().parents[2] / "docs" / "twin-truth.md"
BEGAN_AFTER_S = (2.4, 53.9)
"""The first and the last of the times from slurmctld's start to the first submission."""
PHASES, FEW_PHASES = 20, 3

Rows = Mapping[str, list[str]]


def table(heading: str) -> Rows:
    """The first table below a heading: its cells by that of the first column."""
    below = PAGE.read_text(encoding="utf-8").split(f"\n## {heading}\n", 1)[1]
    lines = re.search(r"(?:^\|.*\n)+", below, re.MULTILINE)
    assert lines is not None
    rows = [[cell.strip(" `") for cell in line.strip("|").split("|")]
            for line in lines[0].splitlines()[2:]]
    return {row[0]: row[1:] for row in rows}


def site() -> Path:
    return shared("slurm_sites/micro/slurm.conf").parent


def classes() -> dict[str, list[str]]:
    """Jobs of the submissions by what the page groups them by."""
    found: dict[str, list[str]] = {}
    for line in (site() / "jobs500_shrinked.events").read_text(encoding="utf-8").splitlines():
        for group in _groups(line):
            found.setdefault(group, []).append(re.findall(r"jobid_(\d+)", line)[0])
    return found


def _groups(line: str) -> Iterator[str]:
    tasks = int(re.findall(r" -n (\d+)", line)[0])
    special = re.findall(r"--(?:constraint|gres|mem)=\S+", line)
    yield "all"
    yield re.findall(r" -A (\S+)", line)[0]
    yield "1 task" if tasks == 1 else f"{tasks} tasks"
    yield special[0] if special else "ask for nothing special"


def judged(phases: int) -> dict[str, JudgedWait]:
    """The mean waits of each group of jobs beside the recorded ones, over so many phases."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WattlineWarning)
        made = make_twin(
            site() / "slurm.conf", gres=site() / "gres.conf", assoc=site() / "sacctmgr.script",
            topology=site() / "topology.conf", events=site() / "jobs500_shrinked.events")
        twins = list(simulated_phases(twin_plan(made.scenario), *BEGAN_AFTER_S, phases))
    real, jobs = table("Five runs of a micro cluster"), classes()
    assert set(real) == set(jobs)
    return {group: _judged(group, [float(run) for run in runs[:5]], jobs[group], twins)
            for group, (_, *runs) in real.items()}


def _judged(
    group: str, real_s: list[float], jobs: list[str], twins: list[RealRun]
) -> JudgedWait:
    waits_s = [float(np.mean([twin.wait_s[job] for job in jobs])) for twin in twins]
    return JudgedWait("", group, len(jobs), tuple(real_s), sum(waits_s) / len(twins), min(waits_s),
                      max(waits_s))


def test_mean_waits_are_near_the_recorded_ones() -> None:
    """Too few phases to be judged by: of a group of a dozen jobs they do not find the mean."""
    real, found = table("Five runs of a micro cluster"), judged(FEW_PHASES)
    assert abs(found["all"].error) < 0.05, found["all"]
    for group, each in found.items():
        assert abs(each.error) < 0.1, each
        assert each.jobs == int(real[group][0])


@pytest.mark.long
def test_mean_waits_pass_beside_the_recorded_runs_and_are_those_of_the_page() -> None:
    said, found = table("The twin beside them"), judged(PHASES)
    assert set(said) == set(found)
    for group, each in found.items():
        assert each.passes, each
        assert said[group][2] == f"{each.twin_s:.0f}", each
        assert said[group][3] == f"{100.0 * each.error:+.1f} %", each
