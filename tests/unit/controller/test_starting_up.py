"""A controller that takes long to start, and caps of nodes whose jobs are over."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from tests.unit.controller.test_modes import OneSlurm

from wattline.controller import serving as serving_module
from wattline.controller.configuration import SiteConfig
from wattline.controller.hands import Hands
from wattline.controller.lease import age_s, holder, last_cap_w, renew, renewing
from wattline.controller.serving import serving
from wattline.controller.told import Told


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


class Nodes:
    """A watcher as far as caps of nodes need it."""

    def __init__(self) -> None:
        self.told: dict[str, Told] = {}

    @property
    def watcher(self) -> Nodes:
        return self

    def node_names(self, numbers: Any) -> list[str]:
        return [f"n{number}" for number in numbers]


@pytest.mark.parametrize("goes", ["ends", "is held again", "is another life"])
@pytest.mark.parametrize("next_there", [False, True])
def test_a_cap_goes_with_its_job_whoever_comes_next(goes: str, next_there: bool) -> None:
    """Two jobs of two nodes each are slowed; one goes, and Slurm may have put another there."""
    here, hands = Nodes(), Hands()
    for number, name in enumerate(("1", "2")):
        told = here.told[name] = Told(name, 2, 60.0, 600.0, (2 * number, 2 * number + 1), True)
        hands._cap_nodes(here, told, 150.0)  # type: ignore[arg-type]
    hands.lift_after_ends(here)  # type: ignore[arg-type]
    assert set(hands.caps_w) == {"n0", "n1", "n2", "n3"}
    if goes == "ends":
        del here.told["1"]
    elif goes == "is held again":
        here.told["1"].running = False
    else:
        here.told["1"] = Told("1", 2, 60.0, 600.0, (0, 1), True)
    if next_there:
        here.told["9"] = Told("9", 2, 60.0, 600.0, (0, 1), True)
    hands.lift_after_ends(here)  # type: ignore[arg-type]
    assert hands.caps_w == {"n2": 150.0, "n3": 150.0}


def test_a_job_that_takes_over_a_slowed_node_in_the_same_cycle_keeps_its_own_cap() -> None:
    here, hands = Nodes(), Hands()
    first = here.told["1"] = Told("1", 1, 60.0, 300.0, (0,), True)
    hands._cap_nodes(here, first, 150.0)  # type: ignore[arg-type]
    del here.told["1"]
    second = here.told["2"] = Told("2", 1, 60.0, 300.0, (0,), True)
    hands._cap_nodes(here, second, 200.0)  # type: ignore[arg-type]
    hands.lift_after_ends(here)  # type: ignore[arg-type]
    assert hands.caps_w == {"n0": 200.0}
