"""A job that claims fewer watts than its nodes draw idle makes no room for others."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.controller.test_doctor import cluster
from tests.unit.controller.test_modes import OneSlurm, ordered

from wattline.controller.asking import watts_of_licences
from wattline.controller.configuration import SiteConfig, read_configuration
from wattline.controller.doctor import claims
from wattline.controller.doctor.claims import claim_checks
from wattline.controller.licences import allowed_w
from wattline.controller.node_power import NodePower
from wattline.controller.serving import serving
from wattline.live.slurm.reading import SlurmJob

SIX = NodePower.alike((f"n{number}" for number in range(1, 7)), 90.0, 300.0)
JOB = SlurmJob("7", 7, 0, "PENDING", 2, 2, 300.0, math.nan, math.nan, 0.0)


@pytest.mark.parametrize("runs_on", [(), ("n1", "n2", "n3")])
@pytest.mark.parametrize("said_w", [0, 2, 180, 270, 600])
def test_idle_power_is_the_least_that_counts(said_w: int, runs_on: tuple[str, ...]) -> None:
    job = replace(JOB, licenses={"watts": said_w}, node_list=runs_on)
    watts = watts_of_licences(SIX)
    assert watts(job) == max(said_w, 90.0 * (len(runs_on) or 2))
    assert math.isnan(watts(replace(job, licenses={})))


def test_idle_power_is_that_of_its_nodes_and_the_least_while_it_waits() -> None:
    watts = watts_of_licences(NodePower({"n1": 50.0, "n2": 200.0}, {"n1": 300.0, "n2": 500.0}))
    job = replace(JOB, licenses={"watts": 2})
    assert watts(job) == 100.0
    assert watts(replace(job, node_list=("n1", "n2"))) == 250.0


@pytest.mark.parametrize("claimed_w", [2, 180])
def test_the_books_never_go_below_an_idle_machine(
    slurm: OneSlurm, site: SiteConfig, claimed_w: int
) -> None:
    """Under 700 W: 690 W on two nodes do not fit beside two others, which draw 180 W idle."""
    said: list[str] = []
    with serving(site, act=True) as here:
        here.listeners = (*here.listeners, lambda cycle: said.extend(cycle.remarks))
        ordered(here, site, "set_cap", watts=700.0)
        slurm.submit("1", nodes=2, submit_s=1.0, licenses={"watts": claimed_w})
        slurm.submit("2", nodes=2, submit_s=2.0, licenses={"watts": 690})
        for _ in range(3):
            here.cycle()
        assert slurm.starts == ["1"]
        assert here.books.power_w == 360.0
        less = "it claims 2 W, less than its nodes draw idle: 180 W are counted"
        assert [line for line in said if "claims" in line] == (
            [f"job 1: {less}"] if claimed_w == 2 else [])
        assert (less in ordered(here, site, "explain", job="1").said) == (claimed_w == 2)


def test_licences_are_as_if_it_claimed_what_its_nodes_draw_idle() -> None:
    """Two nodes of it and four idle ones draw 540 W of 1,000, whatever it says."""
    running = replace(JOB, state="RUNNING", node_list=("n1", "n2"), priority=1)
    little, right = (replace(running, licenses={"watts": watts}) for watts in (2, 180))
    more = [allowed_w([job], SIX, 1000.0) - job.licenses["watts"] for job in (little, right)]
    assert more == [460.0, 460.0]


def test_the_doctor_names_such_jobs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text('nodes = "n[1-4]"\nnode_idle_w = 90\nnode_active_w = 300\n'
                                        'cap = 900\nfolder = "controller"\n')
    site = read_configuration(tmp_path / "site.toml")
    slurm = OneSlurm()
    monkeypatch.setattr(claims, "Slurm", lambda commands: slurm)
    slurm.submit("1", nodes=2, licenses={"watts": 180})
    slurm.submit("2", nodes=2)
    assert claim_checks(cluster(), site) == []
    for label in ("3", "4"):
        slurm.submit(label, nodes=2, licenses={"watts": 2})
    slurm.jobs["4"] = replace(slurm.jobs["4"], state="COMPLETED")
    found, = claim_checks(cluster(), site)
    assert not found.ok
    assert not found.must
    assert found.found.endswith("idle: jobs 3")
