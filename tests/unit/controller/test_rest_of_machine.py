"""Power that nobody accounts for is told to the books as it is, whatever else happens in that
moment."""

from __future__ import annotations

import time

import pytest
from tests.unit.controller.fakes import FakeFleet
from tests.unit.controller.test_modes import NAMES, OneSlurm

from wattline.controller.configuration import SiteConfig
from wattline.controller.serving import serving


@pytest.mark.parametrize("ends", [True, False])
def test_a_job_that_comes_or_goes_with_it_is_no_part_of_it(
    slurm: OneSlurm, site: SiteConfig, ends: bool
) -> None:
    """Something draws 100 W on a free node, until the very look that shows a job's end or start."""
    now_s, fleet = [time.time()], FakeFleet(dict.fromkeys(NAMES, 90.0))
    with serving(site, act=True, clock=lambda: now_s[0], slurm=slurm, fleet=fleet) as here:

        def cycles(count: int) -> None:
            for _ in range(count):
                now_s[0] += 1.0
                fleet.now_s = now_s[0]
                here.cycle()

        def rest_w() -> float:
            return float(here.books.state.clock[0].rest_w)

        slurm.submit("1", comment="", licenses={"watts": 300})
        if ends:
            slurm.run("1", "n1")
            fleet.power_w["n1"] = 300.0
        fleet.power_w["n4"] = 190.0
        cycles(8)
        assert rest_w() == pytest.approx(100.0)
        fleet.power_w["n4"] = 90.0
        if ends:
            slurm.jobs.pop("1")
        else:
            slurm.run("1", "n1")
        cycles(1)
        assert rest_w() <= 100.0 + 1e-6, "the power of a job that has ended is nobody's"
        fleet.power_w["n1"] = 90.0 if ends else 300.0
        cycles(6)
        assert rest_w() == pytest.approx(0.0)
        assert here.books.power_w == pytest.approx(360.0 if ends else 570.0)
