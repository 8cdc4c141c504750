"""Things that Slurm keeps jobs from, on a real one: reservations, partitions, holds, shared
nodes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.slurm.bedside import LONG_S, OURS, runs, slurm, submit, until
from wattline.controller.answers import explained
from wattline.controller.configuration import SiteConfig, read_configuration
from wattline.controller.controller import Controller
from wattline.controller.resting import resting_w
from wattline.controller.serving import serving
from wattline.controller.testbed.layout import Bed

SITE = """nodes = "n[0001-0006]"
node_idle_w = 90
node_active_w = 300
partitions = ["batch", "night"]
cap = 2000
slurm_conf = "{bed}/etc/slurm.conf"
folder = "controller"
"""


SHARED = """twin = "twin.toml"
nodes = "n[0001-0003]"
partitions = ["shared"]
cap = 2000
licences = true
slurm_conf = "{bed}/etc/slurm.conf"
folder = "controller"
"""
TWIN = """name = "bed"
[trace]
file = "none.events"
[twin]
slurm_conf = "slurm.conf"
log = "events"
idle_w = 90
cpu_w = 5
"""


def configured(bed: Bed, folder: Path) -> SiteConfig:
    file = folder / "site.toml"
    file.write_text(SITE.format(bed=bed.folder))
    return read_configuration(file)


def cycles(here: Controller, done: Callable[[], bool]) -> list[str]:
    """Return what was said until something was so."""
    said: list[str] = []
    until(lambda: bool(said.extend(here.cycle().remarks)) or done())
    return said


def why(here: Controller, site: SiteConfig, label: str) -> str:
    return str(explained(here, site, {"job": label}).result["reason"])


@contextmanager
def made(bed: Bed, kind: str, name: str, *options: str) -> Iterator[None]:
    """A partition or a reservation for the time of a test."""
    slurm(bed, "scontrol", "create", *(["reservation"] if kind == "ReservationName" else []),
          f"{kind}={name}", *options)
    try:
        yield
    finally:
        slurm(bed, "scancel", "-u", "root")
        until(lambda: not slurm(bed, "squeue", "-h"))
        slurm(bed, "scontrol", "delete", f"{kind}={name}")


def nodes_of(bed: Bed, label: str) -> str:
    return slurm(bed, "squeue", "-h", "-j", label, "-o", "%N")


def test_reservations_keep_their_nodes_for_their_own_jobs(bed: Bed, tmp_path: Path) -> None:
    site = configured(bed, tmp_path)
    with (serving(site, act=True) as here,
          made(bed, "ReservationName", "maint", "StartTime=now+10minutes", "Duration=60",
               "Users=root", "Nodes=n[0001-0002]", "Flags=MAINT"),
          made(bed, "ReservationName", "proj", "StartTime=now", "Duration=60", "Users=root",
               "Nodes=n[0005-0006]")):
        long = submit(bed, LONG_S, 200, *OURS, "-N", "1", "-t", "60")
        short = submit(bed, LONG_S, 200, *OURS, "-N", "1", "-t", "20")
        member = submit(bed, LONG_S, 200, *OURS, "-N", "2", "-t", "60", "--reservation=proj")
        later = submit(bed, LONG_S, 200, *OURS, "-N", "1", "-t", "20", "--reservation=maint")
        said = cycles(here, lambda: all(runs(bed, each) for each in (long, short, member)))
        assert nodes_of(bed, long) == "n0003"
        assert nodes_of(bed, short) in ("n0001", "n0002", "n0004")
        assert nodes_of(bed, member) == "n[0005-0006]"
        assert not [line for line in said if "was told to start and did not" in line]
        cycles(here, lambda: member in here.watcher.named and here.watcher.told[member].running)
        assert here.books.power_w >= 4 * 300.0
        assert why(here, site, later) == "reservation"
        assert not runs(bed, later)
        wide = submit(bed, LONG_S, 200, *OURS, "-N", "4", "-t", "60")
        cycles(here, lambda: wide in here.watcher.named)
        assert "maint, proj of Slurm's reservations" in explained(
            here, site, {"job": wide}).result["sentence"]


def test_reservations_keep_their_nodes_where_jobs_share_nodes_too(
    bed: Bed, tmp_path: Path
) -> None:
    parts = ("Nodes=n[0001-0003]", "OverSubscribe=NO", "MaxTime=60")
    (tmp_path / "slurm.conf").write_text(
        f"{bed.configuration.read_text()}PartitionName=shared {' '.join(parts)}\n")
    (tmp_path / "twin.toml").write_text(TWIN)
    (tmp_path / "site.toml").write_text(SHARED.format(bed=bed.folder))
    site = read_configuration(tmp_path / "site.toml")
    asks = (*OURS, "-p", "shared", "-n", "4")
    with (made(bed, "PartitionName", "shared", *parts), serving(site, act=True) as here,
          made(bed, "ReservationName", "maint", "StartTime=now+10minutes", "Duration=60",
               "Users=root", "Nodes=n0001", "Flags=MAINT"),
          made(bed, "ReservationName", "proj", "StartTime=now", "Duration=60", "Users=root",
               "Nodes=n0002")):
        long = submit(bed, LONG_S, 110, *asks, "-t", "60")
        wide = submit(bed, LONG_S, 110, *asks, "-N", "2", "-t", "60")
        member = submit(bed, LONG_S, 110, *asks, "-t", "60", "--reservation=proj")
        later = submit(bed, LONG_S, 110, *asks, "-t", "20", "--reservation=maint")
        said = cycles(here, lambda: runs(bed, long) and runs(bed, member))
        assert (nodes_of(bed, long), nodes_of(bed, member)) == ("n0003", "n0002")
        assert not [line for line in said if "was told to start and did not" in line]
        assert (why(here, site, later), why(here, site, wide)) == ("reservation", "reservation")
        # The books count nothing for a node that takes no jobs but what runs there.
        cycles(here, lambda: math.isclose(here.books.power_w + resting_w(here.books),
                                          3 * 90.0 + 2 * 20.0))
        slurm(bed, "scontrol", "update", "ReservationName=maint", "StartTime=now+90minutes",
              "Duration=60")
        cycles(here, lambda: runs(bed, wide))
        assert nodes_of(bed, wide) == "n[0001,0003]"


def test_a_closed_partition_keeps_nobody_else_waiting(bed: Bed, tmp_path: Path) -> None:
    site = configured(bed, tmp_path)
    with (serving(site, act=True) as here,
          made(bed, "PartitionName", "night", "Nodes=ALL", "State=DOWN", "MaxTime=60",
               "OverSubscribe=EXCLUSIVE")):
        first = submit(bed, LONG_S, 200, *OURS, "-N", "1", "-t", "20")
        shut = submit(bed, LONG_S, 200, *OURS, "-p", "night", "-N", "6", "-t", "20")
        last = submit(bed, LONG_S, 200, *OURS, "-N", "1", "-t", "60")
        cycles(here, lambda: runs(bed, first) and runs(bed, last))
        assert why(here, site, shut) == "partition"
        slurm(bed, "scontrol", "update", "PartitionName=night", "State=UP")
        cycles(here, lambda: why(here, site, shut) == "nodes")
        slurm(bed, "scancel", shut)
        beyond = submit(bed, LONG_S, 200, *OURS, "-p", "night", "-N", "1", "-t", "100")
        cycles(here, lambda: why(here, site, beyond) == "not managed")
        assert "more nodes or time than its partition" in slurm(
            bed, "squeue", "-h", "-j", beyond, "-O", "admin_comment:300")


def test_what_an_operator_queues_again_held_stays_held(bed: Bed, tmp_path: Path) -> None:
    site = configured(bed, tmp_path)
    with serving(site, act=True) as here:
        label = submit(bed, LONG_S, 200, *OURS, "-N", "2", "-t", "20", "--requeue")
        cycles(here, lambda: runs(bed, label))
        here.cycle()
        slurm(bed, "scontrol", "requeuehold", label)
        until(lambda: slurm(bed, "squeue", "-h", "-j", label, "-o", "%T") == "PENDING")
        begun_s = time.monotonic()
        cycles(here, lambda: time.monotonic() - begun_s > 3.0)
        assert slurm(bed, "squeue", "-h", "-j", label, "-O", "State:9,PriorityLong") == "PENDING  0"
        assert why(here, site, label) == "held by an operator"


def test_jobs_that_share_a_node_of_another_partition_leave_the_others_free(
    bed: Bed, tmp_path: Path
) -> None:
    site = configured(bed, tmp_path)
    with (made(bed, "PartitionName", "other", "Nodes=n[0005-0006]", "OverSubscribe=NO"),
          serving(site, act=True) as here):
        others = [submit(bed, LONG_S, 100, "-p", "other", "-w", "n0006", "-n", "2", "-t", "20",
                         "-L", "watts:100") for _ in range(4)]
        until(lambda: all(runs(bed, each) for each in others))
        ours = submit(bed, LONG_S, 200, *OURS, "-N", "5", "-t", "20", "-L", "watts:1000")
        said = cycles(here, lambda: runs(bed, ours))
        assert nodes_of(bed, ours) == "n[0001-0005]"
        assert not [line for line in said if "do not take" in line]
        assert here.books.power_w == 1000.0 + 90.0 + 4 * 10.0
