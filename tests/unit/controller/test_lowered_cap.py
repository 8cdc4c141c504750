"""A cap that is lowered below what the first job of the queue needs: said where people look."""

from __future__ import annotations

import pytest
from tests.unit.controller.test_modes import OneSlurm, ordered

from wattline.controller.configuration import SiteConfig
from wattline.controller.serving import serving

NEVER = ("does not fit under the cap of 600 W even on an empty machine, which would draw 780 W "
         "with it")


def under(site: SiteConfig, power: str) -> SiteConfig:
    return site.model_copy(update={"policy": site.policy.model_copy(update={"power": power})})


@pytest.mark.parametrize("behind", [0, 1, 3])
@pytest.mark.parametrize("lowered_first", [True, False])
def test_the_order_the_answer_and_the_output_say_who_waits_for_a_higher_cap(
    slurm: OneSlurm, site: SiteConfig, lowered_first: bool, behind: int
) -> None:
    """Four nodes draw 360 W idle, two of them busy 420 W more; others keep all nodes at first."""
    said: list[str] = []
    site = under(site, "block")
    with serving(site, act=True) as here:
        here.listeners = (*here.listeners, lambda cycle: said.extend(cycle.remarks))
        if lowered_first:
            ordered(here, site, "set_cap", watts=600.0)
        slurm.submit("9", nodes=4, comment="", licenses={"watts": 400})
        slurm.run("9", "n1", "n2", "n3", "n4")
        slurm.submit("1", nodes=2, submit_s=1.0)
        for number in range(behind):
            slurm.submit(f"{2 + number}", submit_s=2.0 + number)
        here.cycle()
        if not lowered_first:
            answer = ordered(here, site, "set_cap", watts=600.0)
            assert any(f"job 1: it {NEVER}" in line for line in answer.result["remarks"])
        for _ in range(3):
            here.cycle()
        assert [line for line in said if NEVER in line and "job 1 waits" in line] == [
            line for line in said if "waits for a higher cap" in line]
        assert sum("waits for a higher cap" in line for line in said) == 1
        assert NEVER in ordered(here, site, "explain", job="1").said
        slurm.jobs.pop("9")
        here.cycle()
        assert slurm.starts == ["9"]
        if behind:
            assert f"{behind} job" in ordered(here, site, "explain", job="1").said
            assert "does not fit under the cap" in ordered(here, site, "explain", job="2").said
        ordered(here, site, "set_cap", watts=900.0)
        here.cycle()
        assert "1" in slurm.starts
        assert sum("waits for a higher cap" in line for line in said) == 1


@pytest.mark.parametrize("lowered_first", [True, False])
def test_under_the_usual_policy_it_is_set_aside_and_others_start(
    slurm: OneSlurm, site: SiteConfig, lowered_first: bool
) -> None:
    said: list[str] = []
    assert site.policy.power == "watts"
    with serving(site, act=True) as here:
        here.listeners = (*here.listeners, lambda cycle: said.extend(cycle.remarks))
        if lowered_first:
            ordered(here, site, "set_cap", watts=600.0)
        slurm.submit("9", nodes=4, comment="", licenses={"watts": 400})
        slurm.run("9", "n1", "n2", "n3", "n4")
        slurm.submit("1", nodes=2, submit_s=1.0)
        slurm.submit("2", submit_s=2.0)
        here.cycle()
        if not lowered_first:
            answer = ordered(here, site, "set_cap", watts=600.0)
            assert any(f"job 1: it {NEVER}" in line for line in answer.result["remarks"])
        for _ in range(3):
            here.cycle()
        assert sum("job 1 waits for a higher cap" in line for line in said) == 1
        found = ordered(here, site, "explain", job="1")
        assert found.result["reason"] == "set aside"
        assert "nobody waits behind it" in found.said
        slurm.jobs.pop("9")
        here.cycle()
        here.cycle()
        assert "2" in slurm.starts
        assert "1" not in slurm.starts
        ordered(here, site, "set_cap", watts=900.0)
        slurm.jobs.pop("2")
        here.cycle()
        here.cycle()
        assert "1" in slurm.starts
