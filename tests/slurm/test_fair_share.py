"""Live fair-share by joules, against what the emulator says that jobs drew."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from tests.slurm.bedside import LONG_S, OURS, finish, held_j, runs, slurm, stay, submit, until
from tests.slurm.test_serving import cycles, site
from wattline.controller.answers import fairshare
from wattline.controller.serving import serving
from wattline.controller.status import read_status
from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.running import replays
from wattline.live.slurm.client import Slurm
from wattline.policies.order.energy_share import STRANGERS

SHARES = """[[account]]
name = "p1"
share = 1
[[account]]
name = "games"
parent = "p1"
share = 1
[[account]]
name = "daemon"
parent = "p1"
share = 1
"""


CLAIM_W, DRAWN_W = 300.0, 180.0
READ_S = 1.0
"""Nodes report so often."""


def test_shares_go_by_meters_and_strangers_have_none(bed: Bed, tmp_path: Path) -> None:
    """Jobs that claim 300 W and draw 180 W; by their claims they would have used 67 % more.

    Meters and looks at Slurm are late at both ends of a job, by seconds that the run itself shows:
    jobs last for six times as long as the controller was away between two looks, and more.
    """
    shares = tmp_path / "shares.toml"
    shares.write_text(SHARES)
    policy = f'[policy]\norder = {{ name = "energy-share", shares = "{shares}" }}\n'
    config = site(bed, tmp_path, policy)
    users = ("games", "daemon", "mail")
    with serving(config, act=True) as here:
        cycles(here, lambda: read_status(tmp_path / "controller")["measured_w"] is not None)
        jobs = {user: submit(bed, LONG_S, DRAWN_W, *OURS, f"--uid={user}", "-N", "1", "-t", "20",
                             "-L", f"watts:{CLAIM_W:g}") for user in users}
        looked_s: list[float] = []
        here.listeners = (*here.listeners, lambda cycle: looked_s.append(cycle.time_s))
        cycles(here, lambda: all(runs(bed, job) for job in jobs.values()))
        began_s = here.now_s()
        cycles(here, lambda: here.now_s() >= began_s + 6.0 * (READ_S + longest_s(looked_s)))
        for job in jobs.values():
            finish(bed, job, 1, lambda ready: cycles(here, ready))
        cycles(here, lambda: not here.watcher.told or not any(
            told.running for told in here.watcher.told.values()))
        until(lambda: all(len(held_j(bed, job)) == 1 for job in jobs.values()))
        found = fairshare(here, config, {}).result
        used_j = {each["name"]: each["usage_j"] for each in found["accounts"]}
        for user, name in (("games", "games"), ("daemon", "daemon"), ("mail", STRANGERS)):
            true_j, = held_j(bed, jobs[user])
            late_s = READ_S + longest_s(looked_s) + apart_s(bed, here.slurm, jobs[user])
            assert abs(used_j[name] - true_j) <= DRAWN_W * late_s, (user, used_j[name], true_j)
            assert DRAWN_W * late_s < (CLAIM_W / DRAWN_W - 1.0) * true_j, "or claims would pass"
        assert used_j["p1"] == pytest.approx(used_j["games"] + used_j["daemon"])
        slurm(bed, "scancel", "-p", "batch")
    journal, = (tmp_path / "controller").glob("*.journal")
    assert replays(journal)


def longest_s(times_s: list[float]) -> float:
    """The longest time between two looks."""
    return max((after_s - before_s for before_s, after_s in itertools.pairwise(times_s)),
               default=0.0)


def apart_s(bed: Bed, here: Slurm, label: str) -> float:
    """Sum of the seconds by which prolog and epilog differ from the times that Slurm says."""
    job, held = here.job(label), stay(bed, label)
    assert job is not None
    return float(abs(held["start_s"] - job.start_s) + abs(held["end_s"] - job.end_s))
