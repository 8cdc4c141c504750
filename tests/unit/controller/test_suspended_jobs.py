"""A suspended job draws nothing: its watts are free, and a resume is admitted like a start."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import pytest
from tests.unit.controller.fakes import FakeFleet
from tests.unit.controller.test_modes import Licences, OneSlurm

from wattline.books import CapChanged
from wattline.controller.answers import explained
from wattline.controller.asking import LONGEST_S
from wattline.controller.configuration import SiteConfig
from wattline.controller.controller import Controller
from wattline.controller.serving import serving


@dataclass(frozen=True)
class Suspending(OneSlurm):
    """Suspends and resumes jobs, and ends them as much later; it changes no licences of those that
    are suspended."""

    def suspend(self, label: str) -> None:
        self._state(label, "SUSPENDED")

    def resume(self, label: str, later_s: float = 5.0) -> None:
        job = self.jobs[label]
        self._state(label, "RUNNING", end_s=job.start_s + job.limit_s + later_s)

    def finish(self, label: str) -> None:
        del self.jobs[label]

    def license(self, job: Any, watts: int) -> None:
        assert self.jobs[job.label].state != "SUSPENDED", "Slurm refuses that"
        super().license(job, watts)

    def _state(self, label: str, state: str, **more: Any) -> None:
        self.jobs[label] = replace(self.jobs[label], state=state, **more)


def cycled(here: Controller, times: int = 4) -> list[str]:
    return [line for _ in range(times) for line in here.cycle().remarks]


def state(slurm: OneSlurm, *labels: str) -> list[str]:
    return [slurm.jobs[label].state for label in labels]


def sentence(here: Controller, site: SiteConfig, label: str) -> str:
    return explained(here, site, {"job": label}).said


@pytest.fixture
def busy() -> Suspending:
    """Of four nodes that draw 90 W idle, job 1 has two; under 900 W a third of 300 W waits."""
    made = Suspending(commands=Licences({}, total=3000))
    made.submit("1", nodes=2, licenses={"watts": 600})
    made.submit("2", nodes=1, licenses={"watts": 300}, submit_s=time.time() + 1)
    return made


@pytest.mark.parametrize("agents", [False, True])
@pytest.mark.parametrize("mode", ["decide", "guard"])
def test_watts_of_a_suspended_job_are_free_for_others(
    site: SiteConfig, busy: Suspending, agents: bool, mode: str
) -> None:
    site = site.model_copy(update={"licences": mode == "guard"})
    if mode == "guard":
        for label in ("1", "2"):
            busy.jobs[label] = replace(busy.jobs[label], priority=9, comment="")
        busy.run("1", "n1", "n2")
    with serving(site, act=True, mode=mode, slurm=busy, fleet=FakeFleet() if agents else None
                 ) as here:
        cycled(here)
        assert here.books.power_w == 780.0
        before = busy.commands.allowed()
        assert state(busy, "1", "2") == ["RUNNING", "PENDING"]
        busy.suspend("1")
        said = cycled(here)
        assert any("420 W of it are free" in line for line in said)
        if mode == "guard":
            assert here.books.power_w == 360.0
            # Beside the 600 that Slurm leaves the job, as on a machine without it.
            assert (before, busy.commands.allowed()) == (771, 600 + 771)
            return
        assert state(busy, "1", "2") == ["SUSPENDED", "RUNNING"]
        assert here.books.power_w == 360.0 + 210.0
        assert "count with 180 W, and 420 W are free" in sentence(here, site, "1")


@pytest.mark.parametrize("restart", [False, True])
def test_a_resume_without_room_is_taken_back_until_there_is(
    site: SiteConfig, busy: Suspending, restart: bool
) -> None:
    with serving(site, act=True, slurm=busy) as here:
        cycled(here)
        busy.suspend("1")
        cycled(here)
        if not restart:
            again(here, site, busy)
    if restart:
        with serving(site, act=True, slurm=busy) as here:
            again(here, site, busy)


def again(here: Controller, site: SiteConfig, busy: Suspending) -> None:
    busy.resume("1")
    said = cycled(here)
    assert state(busy, "1", "2") == ["SUSPENDED", "RUNNING"]
    assert any("no room for it: it is suspended again" in line for line in said)
    assert "which are kept for it" in sentence(here, site, "1")
    busy.submit("3", licenses={"watts": 250}, submit_s=time.time() + 2)
    cycled(here)
    assert state(busy, "3") == ["PENDING"], "what was resumed goes first"
    assert "600 W are kept for 1, suspended" in sentence(here, site, "3")
    busy.finish("2")
    cycled(here)
    assert state(busy, "1") == ["RUNNING"]
    assert here.books.power_w == 780.0
    busy.suspend("1")
    cycled(here)
    assert state(busy, "1", "3") == ["SUSPENDED", "RUNNING"], "this time it was not for the cap"


def test_nodes_are_lowered_before_a_resume_is_taken_back(
    site: SiteConfig, busy: Suspending
) -> None:
    fleet = FakeFleet()
    with serving(site, act=True, slurm=busy, fleet=fleet) as here:
        cycled(here)
        busy.suspend("1")
        cycled(here)
        busy.resume("1")
        said = cycled(here)
        assert state(busy, "1", "2") == ["RUNNING", "RUNNING"]
        assert any("caps of 3 nodes lowered" in line for line in said)
        lowered_w = [watts for watts in fleet.caps_w.values() if watts < 300.0]
        assert sum(lowered_w) + 90.0 <= 900.0
        assert here.books.power_w == 360.0 + 3 * 210.0


def test_a_job_that_was_suspended_at_a_stop_counts_again_where_it_was_resumed(
    site: SiteConfig, busy: Suspending
) -> None:
    busy.finish("2")
    with serving(site, act=True, slurm=busy) as here:
        cycled(here)
        busy.suspend("1")
        cycled(here)
        assert here.books.power_w == 360.0
    busy.resume("1")
    with serving(site, act=True, slurm=busy) as here:
        cycled(here)
        assert here.books.power_w == 780.0


def test_a_job_that_no_longer_fits_keeps_no_watts_from_others(
    site: SiteConfig, busy: Suspending
) -> None:
    site = site.model_copy(update={"cap": 1200.0})
    with serving(site, act=True, slurm=busy) as here:
        cycled(here)
        here.books.apply(here.now_s(), [CapChanged(900.0)])
        busy.suspend("1")
        busy.explain("1", "wattline: suspended to keep the cap")
        cycled(here)
        assert here.books.power_w == 360.0 + 3 * 210.0, "its watts are kept for it"
        here.books.apply(here.now_s(), [CapChanged(700.0)])
        cycled(here)
        assert here.books.power_w == 360.0 + 210.0
        assert "cannot go on under the cap" in sentence(here, site, "1")


def test_who_waits_for_a_suspended_job_is_not_told_a_time(
    site: SiteConfig, busy: Suspending
) -> None:
    with serving(site, act=True, slurm=busy) as here:
        cycled(here)
        busy.submit("4", nodes=3, licenses={"watts": 500}, submit_s=time.time() + 3)
        busy.suspend("1")
        cycled(here)
        found = explained(here, site, {"job": "4"}).result
        assert found["expected_s"] is None
        assert "not known: 2 nodes are kept for 1, suspended" in found["sentence"]


def test_a_limit_stands_still_while_a_job_is_suspended(site: SiteConfig, busy: Suspending) -> None:
    with serving(site, act=True, slurm=busy) as here:
        cycled(here)
        told = here.watcher.told["1"]
        busy.suspend("1")
        cycled(here)
        assert told.limit_s == LONGEST_S
        busy.finish("2")
        busy.resume("1", later_s=40.0)
        cycled(here)
        assert told.limit_s == pytest.approx(640.0)
        cycled(here)
        assert told.limit_s == pytest.approx(640.0)
