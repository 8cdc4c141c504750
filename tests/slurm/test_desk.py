"""The desk of a controller that runs beside a real Slurm: all by the commands that people type."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.slurm.bedside import LONG_S, PATIENCE_S, runs, slurm, submit, until
from tests.support.commands import ok
from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.running import replays

SITE = """nodes = "n[0001-0006]"
node_idle_w = 90
node_active_w = 300
cap = 1300
slurm_conf = "{bed}/etc/slurm.conf"
folder = "controller"
"""


def wattline(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "wattline", *words], capture_output=True,
                          text=True, check=False, timeout=PATIENCE_S)


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Return what a command prints; in this process, which has loaded all that it needs."""

    return partial(ok, capsys)


@pytest.fixture
def config(bed: Bed, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """A controller that acts, in a process of its own."""
    slurm(bed, "scancel", "-u", "root")
    until(lambda: not slurm(bed, "squeue", "-h"))
    site = tmp_path / "site.toml"
    site.write_text(SITE.format(bed=bed.folder))
    process = subprocess.Popen([sys.executable, "-m", "wattline", "controller", "--config",
                                str(site), "--act"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        until((tmp_path / "controller" / "status.json").exists)
        yield "--config", str(site)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=PATIENCE_S)
        slurm(bed, "scancel", "-u", "root")


def test_an_operator_lowers_raises_and_reserves_the_cap(
    bed: Bed, config: tuple[str, str], tmp_path: Path, said: Callable[..., str]
) -> None:
    """Six idle nodes draw 540 W; under 800 W one of them can have a job of 300 W, and not two."""
    assert said("power", "set", "--live", *config, "--cap", "800W").startswith("the cap is 800 W")
    first = submit(bed, LONG_S, 250, "-H", "-N", "1", "-t", "20", "-L", "watts:300", "--comment",
                   "wattline")
    until(lambda: runs(bed, first))
    second = submit(bed, LONG_S, 250, "-H", "-N", "1", "-t", "20", "-L", "watts:300", "--comment",
                    "wattline")
    until(lambda: "watts" in said("controller", "explain", second, *config))
    why = json.loads(said("controller", "explain", second, *config, "--json"))
    assert (why["reason"], why["figures"]["adds_w"], why["figures"]["left_w"]) == (
        "watts", 210.0, 50.0)
    said("power", "reserve", "--live", *config, "--start", "1h", "--duration", "1h", "--watts",
         "100W", "--name", "noon")
    shown = said("power", "show", "--live", *config)
    assert "CurrentWatts=750 PowerCap=800" in shown
    assert "Reservation=noon" in shown
    said("power", "set", "--live", *config, "--cap", "1300W")
    until(lambda: runs(bed, second))
    until(lambda: "it runs" in said("controller", "explain", second, *config))  # its next look
    journal, = (tmp_path / "controller").glob("*.journal")
    text = journal.read_text()
    assert '["capchanged",{"watts":800.0}]' in text
    assert '["reserved"' in text
    assert replays(journal)


def test_a_job_that_nobody_knows_and_a_controller_that_is_gone(tmp_path: Path) -> None:
    site = tmp_path / "site.toml"
    site.write_text(SITE.format(bed=tmp_path))
    gone = wattline("controller", "explain", "1", "--config", str(site))
    assert gone.returncode == 1
    assert gone.stderr.count("\n") == 1
    assert "no controller runs in" in gone.stderr
