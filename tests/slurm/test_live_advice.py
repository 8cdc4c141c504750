"""A look ahead from the books of a controller beside a real Slurm, and a change of its policy."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.slurm.bedside import LONG_S, OURS, PATIENCE_S, runs, slurm, submit, until
from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.running import replays

SITE = """nodes = "n[0001-0006]"
node_idle_w = 90
node_active_w = 300
cap = 2000
slurm_conf = "{bed}/etc/slurm.conf"
folder = "controller"
"""
PLAIN = {**os.environ, "WATTLINE_PLAIN": "1"}
"""Three jobs need no compiler, and a test should not wait for one."""


def said(*words: str) -> dict[str, Any]:
    done = subprocess.run([sys.executable, "-m", "wattline", *words, "--json"], text=True,
                          capture_output=True, check=False, timeout=PATIENCE_S, env=PLAIN)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.fixture
def config(bed: Bed, tmp_path: Path) -> Iterator[tuple[str, ...]]:
    """A controller that acts, in a process of its own."""
    site = tmp_path / "site.toml"
    site.write_text(SITE.format(bed=bed.folder))
    process = subprocess.Popen([sys.executable, "-m", "wattline", "controller", "--config",
                                str(site), "--act"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL,
                               env=PLAIN | bed.environment)
    try:
        until((tmp_path / "controller" / "status.json").exists)
        yield "--live", "--config", str(site)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=PATIENCE_S)
        slurm(bed, "scancel", "-u", "root")


def waiting(folder: Path) -> list[str]:
    status = json.loads((folder / "status.json").read_text())
    return [each["job"] for each in status["waiting"]["jobs"]]


def test_a_start_is_foretold_and_a_round_of_the_supervisor_changes_the_order(
    bed: Bed, config: tuple[str, ...], tmp_path: Path
) -> None:
    """All six nodes for five minutes, then ten by first come, or one by shortest first."""
    folder = tmp_path / "controller"
    first, long, short = (submit(bed, LONG_S, 250, *OURS, "-N", "6", "-t", minutes)
                          for minutes in ("5", "10", "1"))
    until(lambda: runs(bed, first) and waiting(folder) == [long, short])
    asked_s = time.monotonic()
    now = [said("advise", "start", job, *config, "--samples", "3") for job in (long, short)]
    took_s = time.monotonic() - asked_s
    assert [each["state"] for each in now] == ["waiting", "waiting"]
    assert 0 < now[0]["start_s"]["p50"] <= 300
    # Seconds from now on, and the second was asked some of them later.
    assert 600 - took_s - 1 < now[1]["start_s"]["p50"] - now[0]["start_s"]["p50"] <= 600
    assert "run times are as requested: no job was seen to its end" in now[0]["assumed"]
    done = said("advise", "policy", *config, "--follow", "10m", "--act", "--rounds", "1",
                "--candidates", "sjf", "--samples", "3")
    assert done["changes"] == {"policy.order": "sjf"}
    assert done["done"].startswith("from now on: order sjf")
    assert done["advice"]["best"] == "sjf"
    slurm(bed, "scancel", first)
    until(lambda: runs(bed, short))
    assert not runs(bed, long)
    journal, = folder.glob("*.journal")
    assert '{"policy":' in journal.read_text()
    assert replays(journal)
