"""A controller's sign of life, by a clock that nobody can set."""

from __future__ import annotations

import json
import math
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.controller.test_modes import OneSlurm

from wattline.controller.configuration import SiteConfig
from wattline.controller.lease import LEASE, age_s, last_cap_w, renew, watchdog, with_licences
from wattline.live.slurm.reading import WATTS, SlurmJob

WAITS = SlurmJob("7", 7, 0, "PENDING", 2, 2, 300.0, math.nan, math.nan, 0.0)


def test_a_lease_ages_whatever_the_time_of_day_does(tmp_path: Path, monkeypatch) -> None:
    assert age_s(tmp_path) == math.inf
    renew(tmp_path, "decide")
    assert age_s(tmp_path) < 5.0
    now_s = time.time()
    monkeypatch.setattr(time, "time", lambda: now_s + 86400.0)
    assert age_s(tmp_path) < 5.0


def test_a_lease_of_before_the_last_boot_or_a_damaged_one_is_none(tmp_path: Path) -> None:
    renew(tmp_path, "decide")
    said = json.loads((tmp_path / LEASE).read_text())
    (tmp_path / LEASE).write_text(json.dumps(said | {"boot": "another"}))
    assert age_s(tmp_path) == math.inf
    (tmp_path / LEASE).write_text("{")
    assert age_s(tmp_path) == math.inf


def test_the_cap_of_a_lease_outlives_the_machine_that_wrote_it(tmp_path: Path) -> None:
    assert last_cap_w(tmp_path) == math.inf
    renew(tmp_path, "decide", 1200.0)
    said = json.loads((tmp_path / LEASE).read_text())
    (tmp_path / LEASE).write_text(json.dumps(said | {"boot": "another"}))
    assert last_cap_w(tmp_path) == 1200.0
    renew(tmp_path, "decide", math.inf)
    assert last_cap_w(tmp_path) == math.inf
    (tmp_path / LEASE).write_text("{")
    assert last_cap_w(tmp_path) == math.inf


@pytest.mark.parametrize(("most", "watts"), [(0, 600), (2, 600), (3, 900), (100, 1200)])
def test_a_job_is_passed_on_with_the_watts_of_all_nodes_that_slurm_may_give_it(
    site: SiteConfig, most: int, watts: int
) -> None:
    """Four nodes of 300 W; of a range Slurm gives as many as are free."""
    job = replace(WAITS, most_nodes=most)
    assert with_licences(site, job).licenses == {WATTS: watts}
    assert with_licences(site, replace(job, licenses={WATTS: 5})).licenses == {WATTS: 5}


@pytest.mark.parametrize(("last_w", "kept_w", "licences"), [
    (600.0, 600.0, 342), (1100.0, 900.0, 771), (math.inf, 900.0, 771), (None, 900.0, 771)])
def test_a_silent_controller_s_jobs_run_under_the_lower_of_its_cap_and_the_site_s(
    site: SiteConfig, slurm: OneSlurm, last_w: float | None, kept_w: float, licences: int
) -> None:
    """An operator had lowered the cap to 600 W, and the site's is 900 W.

    Four idle nodes draw 360 W, which leaves 240 W. Of the 300 licences of the job 90 are drawn by
    its idle node: 0.7 of them are new, so that 240 / 0.7 = 342.8 may be held; under 900 W 771.4.
    """
    folder = Path(site.folder)
    folder.mkdir(parents=True, exist_ok=True)
    if last_w is not None:
        renew(folder, "decide", last_w)
        found = json.loads((folder / LEASE).read_text())
        (folder / LEASE).write_text(json.dumps(found | {"monotonic_s": time.monotonic() - 60.0}))
    slurm.submit("1")
    said: list[str] = []
    watchdog(site.model_copy(update={"lease": 0.01}), slurm, said.append,
             stop=iter([False, True]).__next__)
    assert said == ["the controller was silent for 0.01 s: waiting jobs go to Slurm, with watts as "
                    f"licences under {kept_w:g} W", "job 1 was released"]
    assert slurm.commands.allowed() == licences
    assert (slurm.jobs["1"].licenses, slurm.jobs["1"].held) == ({WATTS: 300}, False)


def test_while_the_lease_is_renewed_the_watchdog_leaves_all_jobs_alone(
    site: SiteConfig, slurm: OneSlurm
) -> None:
    folder = Path(site.folder)
    folder.mkdir(parents=True, exist_ok=True)
    renew(folder, "decide", 600.0)
    slurm.submit("1")
    said: list[str] = []
    watchdog(site.model_copy(update={"lease": 60.0}), slurm, said.append,
             stop=iter([False, True]).__next__)
    assert (said, slurm.commands.told, slurm.jobs["1"].held) == ([], [], True)
