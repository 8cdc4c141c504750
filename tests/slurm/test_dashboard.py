"""The dashboard beside a real Slurm: a cap that is changed over HTTP changes what starts."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.slurm.bedside import LONG_S, OURS, PATIENCE_S, runs, slurm, submit, until
from tests.support.serving import Served, served
from wattline.controller.testbed.layout import Bed

SITE = """nodes = "n[0001-0006]"
node_idle_w = 90
node_active_w = 300
cap = 1300
slurm_conf = "{bed}/etc/slurm.conf"
folder = "controller"
"""


@pytest.fixture
def live(bed: Bed, tmp_path: Path) -> Iterator[Served]:
    """A controller that acts and a server beside it, each in a process of its own."""
    site = tmp_path / "site.toml"
    site.write_text(SITE.format(bed=bed.folder))
    process = subprocess.Popen([sys.executable, "-m", "wattline", "controller", "--config",
                                str(site), "--act"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        with served("--live", "--config", str(site), "--port", "0", "--operator", "root",
                    log=tmp_path / "server") as server:
            until((tmp_path / "controller" / "machine.json").exists)
            yield server
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=PATIENCE_S)
        slurm(bed, "scancel", "-u", "root")


def ordered(server: Served, watts: float) -> list[str]:
    """Set the cap as the page does; what was shown before."""
    wanted: dict[str, Any] = {"action": "set_cap", "value": {"watts": watts}}
    shown = httpx.post(f"{server.url}/api/operator/preview", json=wanted, timeout=PATIENCE_S).json()
    done = httpx.post(f"{server.url}/api/operator/apply",
                      json={**wanted, "confirm": shown["confirm"]}, timeout=PATIENCE_S)
    assert done.status_code == 200, done.text
    assert done.json()["said"] == f"the cap is {watts:,.0f} W from now on"
    return list(shown["consequences"])


def test_a_cap_that_is_set_in_the_browser_decides_what_starts(
    bed: Bed, live: Served, tmp_path: Path
) -> None:
    """Six idle nodes draw 540 W; under 800 W one of them can have a job of 300 W, and not two."""
    ordered(live, 800)
    first, second = (submit(bed, LONG_S, 250, *OURS, "-N", "1", "-t", "20", "-L", "watts:300")
                     for _ in range(2))
    until(lambda: runs(bed, first))
    until(lambda: live.get("/api/now").json()["running"] == 1)  # seen, and no longer starting
    until(lambda: live.get("/api/now").json()["queued"] == 1)
    now = live.get("/api/now").json()
    assert (now["power_w"], now["cap_w"], now["running"]) == (750, 800, 1)
    until(lambda: [job["id"] for job in live.get("/api/queue").json()["jobs"]] == [second])
    assert "210" in live.get(f"/api/jobs/{second}").json()["explanation"]
    nodes = live.get("/api/nodes").json()
    assert nodes["job"].count(first) == 1
    consequences = ordered(live, 1300)
    assert consequences[-1].startswith("0 of 1 waiting jobs")
    until(lambda: runs(bed, second))
    until(lambda: live.get("/api/now").json()["running"] == 2)
    until(lambda: any(f"job {second} starts" in said["text"]
                      for said in live.get("/api/now").json()["decisions"]))
    lines = [json.loads(line) for line in
             (tmp_path / "controller" / "actions.jsonl").read_text().splitlines()]
    assert [(line["who"], line["value"]["watts"], line["outcome"]) for line in lines] == [
        ("root", 800, "asked"), ("root", 800, "done"),
        ("root", 1300, "asked"), ("root", 1300, "done")]
    journal, = (tmp_path / "controller").glob("*.journal")
    assert '["capchanged",{"watts":800.0}]' in journal.read_text()
    assert "wattline_power_cap_watts 1300.0" in live.get("/metrics").text
