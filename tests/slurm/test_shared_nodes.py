"""Nodes that jobs share, under a cap, on a real Slurm: watts by CPUs, joules by jobs."""

from __future__ import annotations

import itertools
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import tomli_w

import wattline as wl
from tests.slurm.bedside import OURS, finish, runs, slurm, state, submit, truth, until
from tests.slurm.test_serving import cycles
from wattline.controller.configuration import SiteConfig, read_configuration
from wattline.controller.serving import serving
from wattline.controller.testbed.agents import agents_of
from wattline.controller.testbed.layout import Bed

IDLE_W, CPU_W = 90.0, 5.0
TWIN = """name = "bed"
[trace]
file = "none.events"
[twin]
slurm_conf = "{conf}"
log = "events"
idle_w = 90
cpu_w = 5
"""


@pytest.fixture
def shared(bed: Bed) -> Iterator[str]:
    """A partition of two nodes whose jobs may be on one node."""
    slurm(bed, "scontrol", "create", "PartitionName=shared", "Nodes=n[0001-0002]",
          "OverSubscribe=NO", "MaxTime=60")
    yield "shared"
    slurm(bed, "scancel", "-p", "shared")
    until(lambda: not slurm(bed, "squeue", "-h"))
    slurm(bed, "scontrol", "delete", "PartitionName=shared")


def site(bed: Bed, folder: Path, cap_w: float, more: str = "") -> SiteConfig:
    conf = folder / "slurm.conf"
    conf.write_text(bed.configuration.read_text()
                    + "PartitionName=shared Nodes=n[0001-0002] OverSubscribe=NO MaxTime=60\n")
    (folder / "twin.toml").write_text(TWIN.format(conf=conf))
    agents = agents_of(bed)
    broker = tomli_w.dumps({"broker": agents.pop("broker")})
    (folder / "site.toml").write_text(
        f'twin = "twin.toml"\nnodes = "n[0001-0002]"\npartitions = ["shared"]\ncap = {cap_w}\n'
        f'licences = true\nnode_least_w = 120\n{more}'
        f'slurm_conf = "{bed.configuration}"\nfolder = "controller"\n' + tomli_w.dumps(agents)
        + broker)
    return read_configuration(folder / "site.toml")


def asked(bed: Bed, seconds: float, cpus: int, node: str) -> str:
    """A job whose CPUs draw 5 W each, on a node that idles at 90 W; `job.sh` takes both."""
    return submit(bed, seconds, IDLE_W + CPU_W * cpus, *OURS, "-p", "shared", "-w", node, "-n",
                  str(cpus), "-t", "5")


@pytest.mark.parametrize("mode", ["guard", "decide"])
def test_jobs_share_nodes_under_a_cap_and_their_joules_add_up_to_the_meters(
    bed: Bed, tmp_path: Path, shared: str, mode: str
) -> None:
    """Two nodes idle at 180 W. Jobs of 16, 8 and 16 CPUs add 80, 40 and 80 W: 330 W let two in."""
    with serving(site(bed, tmp_path, 330.0, f'mode = "{mode}"\n'), act=True) as here:
        # They end when they are told to: on a busy machine the third takes longer than 8 s to be
        # looked at, and starts where they are over.
        first, second = asked(bed, 240, 16, "n0001"), asked(bed, 240, 8, "n0001")
        cycles(here, lambda: runs(bed, first) and runs(bed, second))
        third = asked(bed, 4, 16, "n0002")
        cycles(here, lambda: here.books.power_w >= 300.0)
        assert here.books.power_w == pytest.approx(180.0 + 80.0 + 40.0)
        looked_s = time.monotonic()
        cycles(here, lambda: time.monotonic() - looked_s > 5.0)
        assert not runs(bed, third), "80 W more would be 380 W"
        for job in (first, second):
            finish(bed, job, 1)
        cycles(here, lambda: state(bed, third) == "COMPLETED")
        cycles(here, lambda: math.isclose(here.books.power_w, 180.0))
    journal, = (tmp_path / "controller").glob("*.journal")
    made = wl.replay(journal)
    assert made.equal
    assert made.decisions == (3 if mode == "decide" else 0), "each start, where we decide"
    store = tmp_path / "controller" / "ledger.db"
    lives = {job: wl.account_job(job, store).lives[-1] for job in (first, second, third)}
    assert {life["source"] for life in lives.values()} == {"series"}
    for job in (first, second):
        assert lives[job]["energy_j"] == pytest.approx(
            part_j(bed, job, {first: 16, second: 8}), rel=0.1)
    assert truth_j(bed, first, second, third) == pytest.approx(
        sum(life["energy_j"] for life in lives.values()), rel=0.03)
    said = [json.loads(line) for line in (bed.logs / "emulator.jsonl").read_text().splitlines()]
    begin_s = min(each["start_s"] for each in said if each.get("held") == first)
    assert max(each["power_w"] for each in said
               if each.get("time_s", 0.0) > begin_s and "power_w" in each) - 4 * IDLE_W <= 330.0


def part_j(bed: Bed, job: str, cpus: dict[str, int]) -> float:
    """Return what a job answers for of a node that it shares with these: by CPUs of those that
    hold it.

    They draw from when their work begins; on a busy machine that is seconds after their prolog.
    """
    lines = [json.loads(line) for line in (bed.logs / "emulator.jsonl").read_text().splitlines()]
    held = {each["held"]: each for each in lines if each.get("held") in cpus}
    works = {label: truth(bed, label) for label in cpus}
    edges = sorted({each[edge] for found in (held, works) for each in found.values()
                    for edge in ("start_s", "end_s")})
    total_j = 0.0
    for at_s, next_s in itertools.pairwise(edges):
        there, at_work = ([label for label, each in found.items()
                           if each["start_s"] <= at_s < each["end_s"]] for found in (held, works))
        if job in there:
            drawn_w = IDLE_W + CPU_W * sum(cpus[label] for label in at_work)
            part = cpus[job] / sum(cpus[label] for label in there)
            total_j += drawn_w * part * (next_s - at_s)
    return total_j


def truth_j(bed: Bed, *jobs: str) -> float:
    """Return what nodes drew while any of these jobs held them, by the emulator's own count."""
    lines = [json.loads(line) for line in (bed.logs / "emulator.jsonl").read_text().splitlines()]
    held = [each for each in lines if each.get("held") in jobs]
    power = {each["time_s"]: each["power_w"] for each in lines if "power_w" in each}
    edges = sorted({*power, *(each[edge] for each in held for edge in ("start_s", "end_s"))})
    total_j, watts = 0.0, math.nan
    for at_s, next_s in itertools.pairwise(edges):
        watts = power.get(at_s, watts)
        busy = {each["node"] for each in held if each["start_s"] <= at_s < each["end_s"]}
        if busy:
            total_j += (watts - (bed.nodes - len(busy)) * IDLE_W) * (next_s - at_s)
    return total_j
