"""A controller that takes long to start."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from tests.unit.controller.fakes import FakeSlurm
from tests.unit.controller.test_modes import OneSlurm

from wattline.controller import serving as serving_module
from wattline.controller.configuration import SiteConfig, read_configuration
from wattline.controller.lease import age_s, holder, last_cap_w, renew, renewing
from wattline.controller.serving import serving
from wattline.live.slurm.commands import SlurmError
from wattline.model.errors import InputError

pytestmark = pytest.mark.waits


@pytest.mark.parametrize("act", [True, False])
def test_a_start_that_takes_longer_than_the_lease_keeps_it(
    site: SiteConfig, slurm: OneSlurm, monkeypatch: pytest.MonkeyPatch, act: bool
) -> None:
    """A dry run is no controller: nobody may count on it."""
    folder, ages = Path(site.folder), []
    folder.mkdir()
    renew(folder, "decide", 800.0)
    opened = serving_module.open_remembered

    def slow(*given: Any, **more: Any) -> Any:
        for _ in range(30):
            time.sleep(0.02)
            ages.append((age_s(folder), holder(folder), last_cap_w(folder)))
        return opened(*given, **more)

    monkeypatch.setattr(serving_module, "open_remembered", slow)
    with serving(site.model_copy(update={"lease": 0.2}), act=act) as here:
        here.cycle()
        assert (holder(folder) is not None)
    seen_s = [age for age, _, _ in ages[5:]]
    assert (max(seen_s) < 0.2) is act
    assert {cap_w for _, _, cap_w in ages} == {800.0}, "the watchdog keeps to the last cap"
    assert all((pid is None) is act for _, pid, _ in ages[5:]), "it does not decide yet"


def test_a_start_that_hangs_loses_the_lease_and_one_that_fails_stops_renewing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wattline.controller.lease.LONGEST_START_S", 0.1)
    with renewing(tmp_path, "decide", 0.05):
        time.sleep(0.4)
        assert age_s(tmp_path) > 0.2
    monkeypatch.setattr("wattline.controller.lease.LONGEST_START_S", 60.0)
    with pytest.raises(ValueError, match="no"), renewing(tmp_path, "decide", 0.05):
        raise ValueError("no")
    before_s = age_s(tmp_path)
    time.sleep(0.2)
    assert age_s(tmp_path) > before_s + 0.15


class LateSlurm(FakeSlurm):
    """One that is silent when it is first asked for its name."""

    silent = 1

    def cluster_name(self) -> str:
        self.silent -= 1
        if self.silent >= 0:
            raise SlurmError("scontrol show config gave no answer in 15 s")
        return "alpha"


def test_a_slurm_of_another_name_is_refused_and_said_where_it_answers_late(
    site: SiteConfig, tmp_path: Path
) -> None:
    named = read_configuration(_with_name(tmp_path, "beta"))
    slurm = LateSlurm()
    with serving(named, act=False, slurm=slurm) as here:
        said = here.cycle().remarks
        assert [line for line in said if "'beta'" in line and "'alpha'" in line]
        assert not [line for line in here.cycle().remarks if "'alpha'" in line], "once"
    with (pytest.raises(InputError, match="ClusterName is 'alpha'"),
          serving(named, act=False, slurm=slurm)):
        pass
    with serving(read_configuration(_with_name(tmp_path, "alpha")), act=False, slurm=slurm) as here:
        assert not [line for line in here.cycle().remarks if "cluster" in line]


def _with_name(folder: Path, cluster: str) -> Path:
    file = folder / "named.toml"
    file.write_text(f'cluster = "{cluster}"\n{(folder / "site.toml").read_text()}')
    return file
