"""Nodes that Slurm's own power saving switches off and on (SuspendProgram, ResumeProgram)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.slurm.bedside import LONG_S, OURS, runs, slurm, submit, until
from tests.slurm.test_serving import cycles, drawn_w, site
from wattline.controller.resting import cap_now_w, resting_w
from wattline.controller.serving import serving
from wattline.controller.status import read_status
from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.running import replays


def states(bed: Bed) -> dict[str, str]:
    said = slurm(bed, "sinfo", "-h", "-N", "-O", "NodeList:20,StateComplete:60")
    return dict(line.split() for line in said.splitlines())


@pytest.fixture
def asleep(bed: Bed) -> Iterator[list[str]]:
    """Four of six nodes, which Slurm has switched off; all are on again afterwards."""
    names = bed.names[2:]
    slurm(bed, "scontrol", "update", f"NodeName={','.join(names)}", "State=POWER_DOWN")
    until(lambda: all("powered_down" in states(bed)[name] for name in names))
    until(lambda: drawn_w(bed) == 2 * bed.power.idle_w + 4 * bed.power.off_w)
    yield names
    slurm(bed, "scancel", "-p", "batch")
    until(lambda: not slurm(bed, "squeue", "-h"))
    off = [name for name, said in states(bed).items() if "powered_down" in said]
    if off:
        slurm(bed, "scontrol", "update", f"NodeName={','.join(off)}", "State=POWER_UP")
    until(lambda: set(states(bed).values()) == {"idle"})


def test_watts_of_nodes_that_are_off_are_for_others_and_nodes_boot_before_a_job_starts(
    bed: Bed, tmp_path: Path, asleep: list[str]
) -> None:
    """200 W are drawn. Under 900 W there is room for two jobs of 300 W on nodes that are on, beside
    540 W of six idle nodes for one."""
    more = f"cap_file = \"cap\"\nnode_off_w = {bed.power.off_w:g}\n"
    (tmp_path / "cap").write_text("900")
    config = site(bed, tmp_path, more)
    with serving(config, act=True) as here:
        cycles(here, lambda: abs(here.books.power_w - 200.0) < 1.0)
        shown = read_status(tmp_path / "controller")
        assert (shown["nodes"]["off"], shown["nodes"]["down"]) == (4, 0)
        assert shown["not_measured"] == []
        assert shown["idle_w"] == pytest.approx(200.0)
        cycles(here, lambda: read_status(tmp_path / "controller")["measured_w"] is not None)
        assert read_status(tmp_path / "controller")["measured_w"] == pytest.approx(200.0, abs=12)
        here.cycle()
        on = [submit(bed, LONG_S, 300, *OURS, "-N", "1", "-t", "20", "-L", "watts:300")
              for _ in range(2)]
        cycles(here, lambda: all(runs(bed, job) for job in on))
        assert all("powered_down" in states(bed)[name] for name in asleep)
        # 620 W now. A third is given 280 W only: it waits, and no node is switched on for it.
        third = submit(bed, LONG_S, 300, *OURS, "-N", "1", "-t", "20", "-L", "watts:300")
        for _ in range(4):
            here.cycle()
        assert all("powered_down" in states(bed)[name] for name in asleep)
        (tmp_path / "cap").write_text("1300")
        said: list[str] = []
        most_w = [0.0]

        def begun() -> bool:
            most_w[0] = max(most_w[0], here.books.power_w + resting_w(here.books))
            assert here.books.power_w <= cap_now_w(here.books) + 0.5
            return runs(bed, third)

        said += cycles(here, begun)
        assert most_w[0] == pytest.approx(620.0 + 295.0, abs=20.0), "held as it boots"
        assert sum("powered_down" in each for each in states(bed).values()) == 3
        cycles(here, lambda: resting_w(here.books) == 0.0)
        assert here.books.power_w == pytest.approx(915.0, abs=30.0)
        assert drawn_w(bed) <= 1300.0
        assert [line for line in said if "no reading" in line] == []
    journal, = (tmp_path / "controller").glob("*.journal")
    assert replays(journal)
