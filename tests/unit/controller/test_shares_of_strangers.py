"""Live fair-share: who is in no account, sums of accounts, and energy by the meters."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.controller.fakes import FakeFleet
from tests.unit.controller.test_modes import NAMES, SITE, OneSlurm

from wattline.account.fairshare import read_shares
from wattline.controller.answers import fairshare
from wattline.controller.configuration import SiteConfig, read_configuration
from wattline.controller.controller import Controller
from wattline.controller.priorities import SharePriorities
from wattline.controller.serving import serving
from wattline.policies.order.energy_share import STRANGERS

SHARES = """[[account]]
name = "p1"
share = 1
[[account]]
name = "ann"
parent = "p1"
share = 1
[[account]]
name = "bob"
parent = "p1"
share = 1
[[account]]
name = "p2"
share = 1
[[account]]
name = "cat"
parent = "p2"
share = 1
"""
POLICY = '[policy]\norder = {name = "energy-share", shares = "shares.toml"}\n'


@dataclass
class Going:
    here: Controller
    slurm: OneSlurm
    fleet: FakeFleet
    site: SiteConfig
    now_s: list[float] = field(default_factory=lambda: [float(int(time.time()))])

    def runs(self, label: str, user: str, node: str, watts: float, seconds: int) -> None:
        """A job that claims 300 W, and draws so much by its meter for so long."""
        self.slurm.submit(label, user=user, comment="", licenses={"watts": 300})
        self.slurm.run(label, node)
        self.slurm.jobs[label] = _begun(self.slurm.jobs[label], self.now_s[0])
        self.fleet.power_w[node] = watts
        for _ in range(seconds):
            self.cycle()
        self.slurm.jobs.pop(label)
        self.fleet.power_w[node] = 90.0
        self.cycle(0.0)

    def cycle(self, seconds: float = 1.0) -> None:
        self.now_s[0] += seconds
        self.fleet.now_s = self.now_s[0]
        self.here.cycle()

    def accounts(self) -> dict[str, dict[str, Any]]:
        found = fairshare(self.here, self.site, {}).result["accounts"]
        return {each["name"]: each for each in found}


def _begun(job: Any, start_s: float) -> Any:
    return replace(job, start_s=start_s)


@pytest.fixture
def going(tmp_path: Path) -> Iterator[Going]:
    (tmp_path / "shares.toml").write_text(SHARES)
    where = str(tmp_path / "shares.toml")
    (tmp_path / "site.toml").write_text(SITE + POLICY.replace("shares.toml", where))
    site = read_configuration(tmp_path / "site.toml")
    slurm, fleet = OneSlurm(), FakeFleet(dict.fromkeys(NAMES, 90.0))
    now_s = [float(int(time.time()))]
    with serving(site, act=True, clock=lambda: now_s[0], slurm=slurm, fleet=fleet) as here:
        yield Going(here, slurm, fleet, site, now_s)


def test_energy_of_a_user_in_no_account_is_nobodys(going: Going) -> None:
    going.cycle()
    going.runs("1", "mallory", "n1", 300.0, 8)
    accounts = going.accounts()
    used_j = {name: each["usage_j"] for name, each in accounts.items()}
    assert used_j == {"p1": 0.0, "ann": 0.0, "bob": 0.0, "p2": 0.0, "cat": 0.0,
                      STRANGERS: pytest.approx(2400.0, rel=0.01)}
    assert {name: each["factor"] for name, each in accounts.items()} == {
        "p1": 1.0, "ann": 1.0, "bob": 1.0, "p2": 1.0, "cat": 1.0, STRANGERS: 0.0}
    going.slurm.submit("2", user="mallory", priority=0)
    going.cycle()
    remark, = fairshare(going.here, going.site, {}).result["remarks"]
    assert "mallory is in no account" in remark


def test_a_stranger_comes_after_all_who_have_a_share(going: Going) -> None:
    going.cycle()
    going.runs("1", "ann", "n1", 300.0, 5)
    for label, user in (("2", "mallory"), ("3", "ann")):
        going.slurm.submit(label, nodes=4, user=user, priority=0, licenses={"watts": 600})
    going.cycle()
    going.cycle()
    assert going.slurm.starts[-1] == "3"
    first = SharePriorities(going.here, read_shares(Path(going.site.policy.order["shares"])))
    jobs = list(going.slurm.jobs.values())
    assert [job.user for job in first.ordered(jobs, going.now_s[0])] == ["ann", "mallory"]


def test_accounts_are_the_sum_of_those_below_them(going: Going) -> None:
    going.cycle()
    for label, user, seconds in (("1", "ann", 4), ("2", "bob", 6), ("3", "cat", 3)):
        going.runs(label, user, "n1", 300.0, seconds)
    used_j = {name: each["usage_j"] for name, each in going.accounts().items()}
    assert used_j["ann"] == pytest.approx(1200.0, rel=0.01)
    assert used_j["p1"] == pytest.approx(used_j["ann"] + used_j["bob"])
    assert used_j["p2"] == pytest.approx(used_j["cat"])
    assert used_j[STRANGERS] == 0.0


def test_a_short_job_is_charged_with_what_its_meters_say_once(going: Going) -> None:
    """It claims 300 W and draws 150 W for 12 s, too short for the books to count less."""
    going.cycle()
    going.runs("1", "ann", "n1", 150.0, 12)
    assert going.accounts()["ann"]["usage_j"] == pytest.approx(1800.0, rel=0.01)
    for _ in range(3):
        going.cycle()
    assert going.accounts()["ann"]["usage_j"] == pytest.approx(1800.0, rel=0.01)


def test_a_long_job_is_put_right_while_it_runs_and_not_again_at_its_end(going: Going) -> None:
    going.cycle()
    going.slurm.submit("1", user="ann", comment="", licenses={"watts": 300})
    going.slurm.run("1", "n1")
    going.slurm.jobs["1"] = _begun(going.slurm.jobs["1"], going.now_s[0])
    going.fleet.power_w["n1"] = 150.0
    for _ in range(63):
        going.cycle()
    assert going.accounts()["ann"]["usage_j"] == pytest.approx(63 * 150.0, rel=0.03)
    going.slurm.jobs.pop("1")
    going.cycle(0.0)
    assert going.accounts()["ann"]["usage_j"] == pytest.approx(63 * 150.0, rel=0.005)


def test_where_a_node_is_silent_the_claim_counts(going: Going) -> None:
    going.cycle()
    going.fleet.power_w.pop("n2")
    for _ in range(7):  # its last reading counts for some seconds
        going.cycle()
    going.slurm.submit("1", user="ann", comment="", licenses={"watts": 300})
    going.slurm.run("1", "n2")
    going.slurm.jobs["1"] = _begun(going.slurm.jobs["1"], going.now_s[0])
    for _ in range(10):
        going.cycle()
    going.slurm.jobs.pop("1")
    going.cycle(0.0)
    assert going.accounts()["ann"]["usage_j"] > 0.9 * 3000.0
