"""Changes in a browser are done on a real Slurm: the cap, and who starts jobs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import tomli_w

from tests.slurm.bedside import LONG_S, OURS, PATIENCE_S, runs, slurm, submit, until
from tests.support.browsers import chromium
from tests.support.serving import Served, served
from wattline.controller.testbed.agents import agents_of
from wattline.controller.testbed.layout import Bed
from wattline.web.security.tokens import add_token

SITE = {"nodes": "n[0001-0006]", "node_idle_w": 90, "node_active_w": 300, "node_least_w": 120,
        "cap": 1300, "folder": "controller", "licences": True,
        "racks": [{"name": "r1", "nodes": "n[0001-0003]"}, {"name": "r2", "nodes": "n[0004-0006]"}],
        "feeds": [{"name": "A", "nodes": "n[0001-0006]", "limit_w": 1400}]}


@pytest.fixture
def token(tmp_path: Path) -> str:
    return add_token(tmp_path / "tokens", "olga", "operator")


@pytest.fixture
def live(bed: Bed, tmp_path: Path, token: str) -> Iterator[Served]:
    """A controller with the agents of all nodes, and a server that asks who comes."""
    site = tmp_path / "site.toml"
    site.write_text(tomli_w.dumps(SITE | {"slurm_conf": f"{bed.folder}/etc/slurm.conf"}
                                  | agents_of(bed)))
    process = subprocess.Popen([sys.executable, "-m", "wattline", "controller", "--config",
                                str(site), "--act"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL,
                               env=os.environ | {"WATTLINE_PLAIN": "1"})  # starts sooner
    try:
        with served("--live", "--config", str(site), "--port", "0", "--tokens",
                    str(tmp_path / "tokens"), log=tmp_path / "server") as server:
            until((tmp_path / "controller" / "machine.json").exists)
            yield server
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=PATIENCE_S)
        slurm(bed, "scancel", "-u", "root")
        if "wattline-cap" in slurm(bed, "scontrol", "-o", "show", "reservation"):
            slurm(bed, "scontrol", "delete", "ReservationName=wattline-cap")


def test_an_operator_lowers_the_cap_in_the_browser_and_sees_the_power_come_down(
    bed: Bed, live: Served, token: str, tmp_path: Path
) -> None:
    """Four nodes at 240 W and two idle ones draw 1,140 W; 900 W is less than that."""
    def now() -> dict[str, float]:
        return dict(httpx.get(f"{live.url}/api/now", timeout=PATIENCE_S,
                              headers={"Authorization": f"Bearer {token}"}).json())

    for _ in range(2):
        submit(bed, LONG_S, 240, *OURS, "-N", "2", "-t", "20", "-L", "watts:480")
    with chromium() as browser:
        page = browser.new_page()
        page.set_default_timeout(1000.0 * PATIENCE_S)
        wrong: list[str] = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(live.url)
        page.get_by_label("Token").fill(token)
        page.get_by_role("button", name="Log in").click()
        power = page.locator('[data-tile="Power"]')
        power.locator(".value").wait_for()
        until(lambda: bool(now()["measured"]) and now()["power_w"] > 1100)
        page.locator('[data-tile="Power"] .value', has_text="1.1").wait_for()
        assert "measured" in power.locator(".more").inner_text()
        assert page.get_by_role("heading", name="By feed").is_visible()
        page.get_by_role("button", name="Change the machine").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("New cap (kW)").fill("0.9")
        dialog.get_by_role("button", name="Show what follows").click()
        consequences = dialog.locator(".consequences")
        consequences.wait_for()
        assert "above it" in consequences.inner_text()
        dialog.get_by_label("I have read this").check()
        dialog.get_by_role("button", name="Confirm").click()
        dialog.locator(".done", has_text="the cap is 900 W from now on").wait_for()
        dialog.get_by_role("button", name="Close").click()
        page.locator('[data-tile="Cap"] .value', has_text="900 W").wait_for()
        page.locator('[data-tile="Power"]:not(.bad) .more', has_text="of the cap").wait_for()
        assert wrong == []
    until(lambda: 800 < now()["power_w"] <= 900)
    lines = [json.loads(line) for line in
             (tmp_path / "controller" / "actions.jsonl").read_text().splitlines()]
    assert [(line["who"], line["outcome"]) for line in lines] == [("olga", "asked"),
                                                                  ("olga", "done")]
    history = httpx.get(f"{live.url}/api/history", timeout=PATIENCE_S,
                        headers={"Authorization": f"Bearer {token}"}).json()
    assert max(filter(None, history["power_w"])) > 1100
    assert history["cap_w"][-1] == 900


def test_an_operator_lets_slurm_start_jobs_in_the_browser(
    bed: Bed, live: Served, token: str, tmp_path: Path
) -> None:
    """Six idle nodes draw 540 W: two jobs of four nodes at 240 W do not fit under 1,300 W."""
    first, second = (submit(bed, LONG_S, 240, *OURS, "-N", "4", "-t", "20", "-L", "watts:960")
                     for _ in range(2))
    until(lambda: runs(bed, first))
    with chromium() as browser:
        page = browser.new_page()
        page.set_default_timeout(1000.0 * PATIENCE_S)
        wrong: list[str] = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(live.url)
        page.get_by_label("Token").fill(token)
        page.get_by_role("button", name="Log in").click()
        page.locator(".when", has_text="decide mode since").wait_for()
        page.get_by_role("button", name="Change the machine").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("What to change").select_option("set_mode")
        assert dialog.get_by_label("Who starts jobs").input_value() == "guard"
        dialog.get_by_role("button", name="Show what follows").click()
        consequences = dialog.locator(".consequences")
        consequences.wait_for()
        assert "licences, whatever when_stopped says: 1" in consequences.inner_text()
        dialog.get_by_label("I have read this").check()
        dialog.get_by_role("button", name="Confirm").click()
        dialog.locator(".done", has_text="guard mode from now on").wait_for()
        dialog.get_by_role("button", name="Close").click()
        page.locator(".when", has_text="guard mode since").wait_for()
        page.set_viewport_size({"width": 375, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
        assert wrong == []
    until(lambda: "held" not in slurm(bed, "squeue", "-h", "-j", second, "-O", "Reason:40").lower())
    assert runs(bed, first)
    lines = [json.loads(line) for line in
             (tmp_path / "controller" / "actions.jsonl").read_text().splitlines()]
    assert [(line["who"], line["action"], line["outcome"]) for line in lines] == [
        ("olga", "set_mode", "asked"), ("olga", "set_mode", "done")]
