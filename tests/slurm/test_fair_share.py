"""Live fair-share by joules, against what the emulator says that jobs drew."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.slurm.bedside import OURS, finish, held_j, runs, slurm, submit, until
from tests.slurm.test_serving import cycles, site
from wattline.controller.answers import fairshare
from wattline.controller.serving import serving
from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.running import replays
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


def test_shares_go_by_meters_and_strangers_have_none(bed: Bed, tmp_path: Path) -> None:
    """Jobs of some seconds that claim 300 W and draw 180 W, too short to be measured for long."""
    shares = tmp_path / "shares.toml"
    shares.write_text(SHARES)
    policy = f'[policy]\norder = {{ name = "energy-share", shares = "{shares}" }}\n'
    config = site(bed, tmp_path, policy)
    users = ("games", "daemon", "mail")
    with serving(config, act=True) as here:
        cycles(here, lambda: here.books.power_w > 0.0)
        jobs = {user: submit(bed, 60, 180, *OURS, f"--uid={user}", "-N", "1", "-t", "5", "-L",
                             "watts:300") for user in users}
        cycles(here, lambda: all(runs(bed, job) for job in jobs.values()))
        done_s = here.now_s() + 8.0
        cycles(here, lambda: here.now_s() >= done_s)
        for job in jobs.values():
            finish(bed, job, 1)
        cycles(here, lambda: not here.watcher.told or not any(
            told.running for told in here.watcher.told.values()))
        until(lambda: all(len(held_j(bed, job)) == 1 for job in jobs.values()))
        found = fairshare(here, config, {}).result
        used_j = {each["name"]: each["usage_j"] for each in found["accounts"]}
        truth_j = {user: held_j(bed, job)[0] for user, job in jobs.items()}
        # Meters show what a node drew up to a second ago, and the claim was 67 % above.
        for user, name in (("games", "games"), ("daemon", "daemon"), ("mail", STRANGERS)):
            assert used_j[name] == pytest.approx(truth_j[user], rel=0.2), user
        assert used_j["p1"] == pytest.approx(used_j["games"] + used_j["daemon"])
        slurm(bed, "scancel", "-p", "batch")
    journal, = (tmp_path / "controller").glob("*.journal")
    assert replays(journal)
