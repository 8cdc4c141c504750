"""Caps that a policy puts on nodes are a job's: they end with it, and outlast the controller."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.controller.fakes import FakeFleet
from tests.unit.controller.test_modes import OneSlurm

from wattline.controller.configuration import Policies, SiteConfig
from wattline.controller.controller import Controller
from wattline.controller.job_caps import FILE, JobCaps, kept_caps
from wattline.controller.serving import serving
from wattline.controller.told import Told
from wattline.controller.watching import Watcher
from wattline.live.slurm.commands import SlurmError
from wattline.live.slurm.reading import SlurmJob

DVFS = Policies(power={"name": "adaptive", "strategy": "dvfs"})


class Killed(Exception):
    """A controller ends in the middle: it saves nothing."""


@dataclass(frozen=True)
class Starting(OneSlurm):
    """Writes licences on jobs as Slurm's client does."""

    def start(self, label: str, nodes: Any, **more: Any) -> None:
        job = self.jobs[label]
        watts = more.get("watts" if job.licenses else "licence")
        super().start(label, nodes, **{**more, "licence": watts})


@pytest.fixture
def slowing(site: SiteConfig) -> SiteConfig:
    """Two jobs of 600 W: the second fits under the cap only if it runs slower."""
    return site.model_copy(update={"cap": 1000.0, "policy": DVFS})


@pytest.fixture
def two() -> Starting:
    made = Starting()
    for label in ("1", "2"):
        made.submit(label, nodes=2, submit_s=float(label))
    return made


@contextmanager
def at_work(site: SiteConfig, slurm: OneSlurm, *, killed: bool = False
            ) -> Iterator[tuple[Controller, FakeFleet]]:
    fleet = FakeFleet()
    if not killed:
        with serving(site, act=True, slurm=slurm, fleet=fleet) as here:
            yield here, fleet
        return
    with suppress(Killed), serving(site, act=True, slurm=slurm, fleet=fleet) as here:
        yield here, fleet
        raise Killed


def slowed(fleet: FakeFleet) -> dict[str, float]:
    """Return what nodes were told last."""
    return {node: cap_w for node, cap_w in fleet.caps_w.items() if math.isfinite(cap_w)}


def begun(here: Controller, fleet: FakeFleet) -> dict[str, float]:
    here.cycle()
    here.cycle()
    return slowed(fleet)


@pytest.mark.parametrize("end", ["COMPLETING", "COMPLETED", "CANCELLED", "gone", "SUSPENDED"])
def test_caps_are_taken_back_in_the_cycle_that_sees_the_end(
    slowing: SiteConfig, two: Starting, end: str
) -> None:
    with at_work(slowing, two) as (here, fleet):
        caps = begun(here, fleet)
        assert set(caps) == set(two.jobs["2"].node_list)
        assert max(caps.values()) < 300.0
        if end == "gone":
            del two.jobs["2"]
        else:
            two.jobs["2"] = replace(two.jobs["2"], state=end)
        cycle = here.cycle()
        assert slowed(fleet) == {}
        # The other job is not slowed for one that ends.
        assert not [line for line in (*cycle.remarks, *here.notes) if "lowered" in line]
        kept = kept_caps(Path(slowing.folder), ["n1", "n2", "n3", "n4"])
        assert bool(kept) == (end in ("COMPLETING", "SUSPENDED"))
        if end == "SUSPENDED":
            two.jobs["2"] = replace(two.jobs["2"], state="RUNNING")
            here.cycle()
            assert slowed(fleet) == caps


@pytest.mark.parametrize("own_watts", [{}, {"watts": 600}])
@pytest.mark.parametrize("killed", [False, True])
def test_a_job_that_is_queued_again_is_decided_booked_and_capped_anew(
    slowing: SiteConfig, two: Starting, killed: bool, own_watts: dict[str, int]
) -> None:
    for label in ("1", "2"):
        two.jobs[label] = replace(two.jobs[label], licenses=own_watts)
    with at_work(slowing, two, killed=killed) as (here, fleet):
        caps = begun(here, fleet)
        booked_w = here.books.power_w
        first = two.jobs["2"].licenses
        two.jobs["2"] = replace(two.jobs["2"], state="PENDING", node_list=(), restarts=1,
                                priority=9)
        if not killed:
            second_life(here, fleet, two, caps, booked_w)
            assert two.jobs["2"].licenses == first
    if killed:
        with at_work(slowing, two) as (here, fleet):
            second_life(here, fleet, two, caps, booked_w)
            assert two.jobs["2"].licenses == first
    # Of two that claim 600 W each under 1,000 W the slowed one lends the rest, until a stop.
    assert first == {"watts": 348}
    assert two.jobs["2"].licenses == (own_watts or first)


def second_life(here: Controller, fleet: FakeFleet, two: Starting, caps: dict[str, float],
                booked_w: float) -> None:
    for _ in range(3):
        here.cycle()
    assert two.jobs["2"].state == "RUNNING"
    assert here.watcher.told["2.1"].watts == 600.0
    assert here.books.power_w == pytest.approx(booked_w)
    assert slowed(fleet) == pytest.approx(caps)


def test_a_later_life_that_has_room_runs_at_full_speed_with_licences_for_it(
    slowing: SiteConfig, two: Starting
) -> None:
    with at_work(slowing, two) as (here, fleet):
        begun(here, fleet)
        assert two.jobs["2"].licenses["watts"] < 600
        del two.jobs["1"]
        two.jobs["2"] = replace(two.jobs["2"], state="PENDING", node_list=(), restarts=1,
                                priority=0)
        for _ in range(3):
            here.cycle()
        assert two.jobs["2"].state == "RUNNING"
        assert two.jobs["2"].licenses["watts"] == 600
        assert slowed(fleet) == {}


@pytest.mark.parametrize("stop", ["killed", "stopped", "books begin anew"])
def test_caps_outlast_the_controller_before_its_first_orders(
    slowing: SiteConfig, two: Starting, stop: str
) -> None:
    with at_work(slowing, two, killed=stop != "stopped") as (here, fleet):
        caps = begun(here, fleet)
    if stop == "books begin anew":
        slowing = slowing.model_copy(update={"node_off_w": 7.0})
    with at_work(slowing, two) as (here, fleet):
        two.jobs["2"] = replace(two.jobs["2"], admin_comment="seen")
        here.cycle()
        assert slowed(fleet) == caps
        assert len(fleet.orders) == 1  # not lifted first
        del two.jobs["2"]
        here.cycle()
        assert slowed(fleet) == {}


def test_a_slurm_that_does_not_answer_at_first_leaves_caps_as_they_were(
    slowing: SiteConfig, two: Starting, monkeypatch: pytest.MonkeyPatch
) -> None:
    with at_work(slowing, two, killed=True) as (here, fleet):
        caps = begun(here, fleet)
    with at_work(slowing, two) as (here, fleet):
        with monkeypatch.context() as patched:
            patched.setattr(Starting, "look", silent)
            assert not here.cycle().looked
        assert slowed(fleet) == caps


def silent(self: Starting) -> Any:
    raise SlurmError("squeue gave no answer in 15 s")


@pytest.mark.parametrize(("runs_on", "expected"), [
    ((2, 3), {"n3": 150.0, "n4": 160.0}), ((1, 2), {"n2": 150.0, "n3": 150.0}),
    ((3,), {"n4": 160.0}), ((), {"n3": 150.0, "n4": 160.0})])
@pytest.mark.parametrize("name", ["7", "7~1"])
def test_caps_lie_where_slurm_lets_the_job_run(
    runs_on: tuple[int, ...], expected: dict[str, float], name: str
) -> None:
    watcher, caps = Watcher(["n1", "n2", "n3", "n4"]), JobCaps()
    caps.put("7", {"n3": 150.0, "n4": 160.0})
    watcher.told[name] = Told("7", 2, 60.0, 600.0, runs_on, True)
    caps.follow(watcher)
    assert caps.nodes_w == expected


def test_nodes_of_a_job_that_ends_want_no_more_than_they_had() -> None:
    watcher, caps = Watcher(["n1", "n2"]), JobCaps()
    row = SlurmJob("7", 7, 0, "COMPLETING", 1, 1, 300.0, math.nan, math.nan, 0.0)
    watcher.told["7"] = Told("7", 1, 60.0, 300.0, (0,), True, row=row)
    caps.put("7", {"n1": 150.0})
    for _ in range(2):
        caps.follow(watcher)
        assert (caps.nodes_w, caps.ending_w) == ({}, {"n1": 150.0})
    del watcher.told["7"]
    caps.follow(watcher)
    assert (caps.nodes_w, caps.ending_w) == ({}, {})


@pytest.mark.parametrize("text", ["", "[]", "7", '{"1": 5}', '{"1": {"n1": "x"}}', "{"])
def test_a_damaged_file_has_no_caps(tmp_path: Path, text: str) -> None:
    assert kept_caps(tmp_path, ["n1"]) == {}
    (tmp_path / FILE).write_text(text)
    assert kept_caps(tmp_path, ["n1"]) == {}


def test_a_node_that_the_site_has_no_more_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(json.dumps({"1": {"n1": 150.0, "n9": 150.0}, "2": {"n9": 99.0}}))
    assert kept_caps(tmp_path, ["n1", "n2"]) == {"1": {"n1": 150.0}}
