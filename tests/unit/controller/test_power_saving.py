"""Nodes that Slurm's own power saving has switched off, or that boot or shut down by it."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from tests.unit.controller.fakes import FakeFleet
from tests.unit.controller.test_modes import NAMES, SITE, OneSlurm

from wattline.controller.configuration import SiteConfig, read_configuration
from wattline.controller.controller import Controller
from wattline.controller.keeping_cap import CapKeeper
from wattline.controller.metering import Meters
from wattline.controller.resting import cap_now_w
from wattline.controller.serving import serving
from wattline.controller.showing import read_machine
from wattline.controller.status import read_status
from wattline.live.slurm.client import Seen
from wattline.live.slurm.commands import SlurmError
from wattline.live.slurm.reading import NODE_FORMAT, SEPARATOR, SlurmNode, node_states, read_nodes


@dataclass(frozen=True)
class SavingSlurm(OneSlurm):
    """With nodes that are off, and come on when they are told to."""

    states: dict[str, str] = field(default_factory=lambda: dict.fromkeys(NAMES, "idle"))
    orders: list[tuple[str, ...]] = field(default_factory=list)
    refuses: list[str] = field(default_factory=list)

    def look(self) -> Seen:
        nodes = tuple(SlurmNode(name, node_states(said), 1) for name, said in self.states.items())
        return replace(super().look(), nodes=nodes)

    def power(self, nodes: list[str], on: bool) -> None:
        if self.refuses:
            raise SlurmError(self.refuses[0])
        assert on
        self.orders.append(tuple(nodes))
        self.states.update(dict.fromkeys(nodes, "idle#*"))


@contextmanager
def going(folder: Path, states: str, cap: int = 900, more: str = "", policy: str = ""
          ) -> Iterator[tuple[SavingSlurm, Controller, SiteConfig]]:
    """A controller of four nodes in these states, idle 90 W, busy or booting 300 W, off 10 W."""
    file = folder / "site.toml"
    file.write_text(SITE.replace("cap = 900", f"cap = {cap}\nnode_off_w = 10\n{more}") + policy)
    slurm = SavingSlurm(states=dict(zip(NAMES, states.split(), strict=True)))
    site = read_configuration(file)
    with serving(site, act=True, slurm=slurm) as here:
        yield slurm, here, site


@pytest.mark.parametrize(("said", "power"), [
    ("idle", "on"), ("IDLE", "on"), ("idle~", "off"), ("idle+powered_down", "off"),
    ("IDLE+CLOUD+POWERED_DOWN", "off"), ("idle#", "booting"), ("idle#*", "booting"),
    ("allocated+not_responding+powering_up", "booting"),
    ("allocated+powered_down", "booting"), ("mixed~", "booting"),
    ("idle%", "halting"), ("idle+powering_down", "halting"), ("idle!", "halting"),
    ("mixed+power_down", "halting"), ("down*", "on")])
def test_a_state_of_a_node_is_a_base_and_flags(said: str, power: str) -> None:
    cells = ("n1", said, "4", "batch*", "up", "")
    node, = read_nodes(SEPARATOR.join(cells) + "\n")
    assert NODE_FORMAT.count(SEPARATOR) == len(cells) - 1
    assert node.power == power


def test_off_nodes_leave_their_watts_to_others_and_are_shown_so(tmp_path: Path) -> None:
    with going(tmp_path, "idle idle~ idle~ idle~") as (slurm, here, site):
        here.cycle()
        assert here.books.power_w == pytest.approx(90 + 3 * 10)
        said = read_status(Path(site.folder))
        assert said["idle_w"] == pytest.approx(90 + 3 * 10)
        assert said["nodes"] == {"units": 4, "free": 1, "off": 3, "changing": 0, "down": 0,
                                 "reserved": 0}
        shown = read_machine(Path(site.folder))
        assert shown is not None
        assert shown["nodes"]["state"] == ["idle", "off", "off", "off"]
        assert slurm.orders == []


def test_a_node_boots_before_its_job_starts_and_its_power_is_held(tmp_path: Path) -> None:
    """Two jobs of 100 W and 90 W idle: what boots draws 300 W first, 290 W more than when off."""
    with going(tmp_path, "idle idle~ idle~ idle~", cap=690) as (slurm, here, site):
        slurm.submit("1", nodes=2, priority=0, licenses={"watts": 200})
        slurm.submit("2", nodes=2, priority=0, licenses={"watts": 200})
        here.cycle()
        here.cycle()
        assert slurm.orders == [("n2",)], "690 W have room for one that boots beside 120 W"
        assert cap_now_w(here.books) == pytest.approx(690 - 290)
        assert slurm.starts == []
        time.sleep(1.1)  # it is written about once per second
        here.cycle()
        assert read_machine(Path(site.folder))["nodes"]["state"][1] == "waking"
        slurm.states["n2"] = "idle"
        here.cycle()
        assert slurm.starts == ["1"]
        assert here.books.power_w == pytest.approx(200 + 2 * 10)
        here.cycle()
        assert slurm.orders == [("n2",), ("n3",)], "470 W are not enough to boot two at once"


def test_the_first_job_is_given_nodes_in_turn_where_watts_are_short(tmp_path: Path) -> None:
    with going(tmp_path, "idle~ idle~ idle~ idle~", cap=560) as (slurm, here, _):
        slurm.submit("1", nodes=4, priority=0, licenses={"watts": 480})
        for node in NAMES:
            here.cycle()
            here.cycle()
            assert slurm.orders[-1] == (node,)
            assert here.books.power_w <= cap_now_w(here.books)
            slurm.states[node] = "idle"
            if len(slurm.orders) == 3:
                break
        here.cycle()
        here.cycle()
        assert slurm.orders[-1] == ("n3",), "270 W + 10 W leave no 290 W for the last"


def test_nodes_that_are_on_come_first_and_nothing_is_woken_for_a_held_queue(
    tmp_path: Path,
) -> None:
    with going(tmp_path, "idle~ idle idle~ idle") as (slurm, here, _):
        slurm.submit("1", nodes=2, priority=0, licenses={"watts": 400})
        here.cycle()
        assert slurm.jobs["1"].node_list == ("n2", "n4")
        assert slurm.orders == []


def test_what_shuts_down_takes_no_job_and_draws_as_before(tmp_path: Path) -> None:
    with going(tmp_path, "idle% idle! idle idle") as (slurm, here, _):
        slurm.submit("1", nodes=2, priority=0, licenses={"watts": 200})
        here.cycle()
        assert slurm.jobs["1"].node_list == ("n3", "n4")
        assert here.books.power_w + (900 - cap_now_w(here.books)) == pytest.approx(200 + 2 * 90)
        assert slurm.orders == []


def test_a_job_that_slurm_has_started_on_a_node_that_boots_counts_with_what_that_draws(
    tmp_path: Path,
) -> None:
    with going(tmp_path, "idle idle~ idle~ idle~") as (slurm, here, _):
        here.cycle()
        slurm.submit("1", comment="", licenses={"watts": 120})
        slurm.run("1", "n2")
        slurm.jobs["1"] = replace(slurm.jobs["1"], state="CONFIGURING")
        slurm.states["n2"] = "allocated#*"
        for _ in range(2):
            here.cycle()
        assert here.books.power_w == pytest.approx(90 + 120 + 2 * 10)
        assert 900 - cap_now_w(here.books) == pytest.approx(300 - 120)
        slurm.states["n2"] = "allocated"
        slurm.jobs["1"] = replace(slurm.jobs["1"], state="RUNNING")
        here.cycle()
        assert cap_now_w(here.books) == pytest.approx(900)
        assert here.books.power_w == pytest.approx(90 + 120 + 2 * 10)


def test_an_order_that_slurm_refuses_is_said_once_and_given_again_later(tmp_path: Path) -> None:
    with going(tmp_path, "idle~ idle~ idle~ idle~") as (slurm, here, _):
        slurm.refuses.append("scontrol update failed: Access/permission denied")
        slurm.submit("1", nodes=1, priority=0, licenses={"watts": 120})
        said = [line for _ in range(4) for line in here.cycle().remarks]
        assert sum("nodes that jobs wait for stay off" in line for line in said) == 1
        assert cap_now_w(here.books) == pytest.approx(900)
        slurm.refuses.clear()
        now_s = time.time()
        here.clock = lambda: now_s + 31.0
        here.cycle()
        here.cycle()
        assert slurm.orders == [("n1",)]


def test_the_policys_own_switching_is_not_slurms(tmp_path: Path) -> None:
    """Its books count by themselves what it has switched off or on."""
    with going(tmp_path, "idle~ idle~ idle idle") as (slurm, here, _):
        here.watcher.off = {"n1"}
        here.watcher.switched(["n2"], on=True)
        here.cycle()
        assert here.watcher.sleeping.off == set()
        slurm.states["n2"] = "idle#"
        here.cycle()
        assert here.watcher.sleeping.booting == set()
        slurm.states["n2"] = "idle"
        here.cycle()
        slurm.states["n2"] = "idle~"
        here.cycle()
        assert here.watcher.sleeping.off == {"n2"}


def test_meters_know_what_is_off_and_what_boots(tmp_path: Path) -> None:
    with going(tmp_path, "idle idle~ idle# idle~") as (_, here, _site):
        here.cycle()
        fleet = FakeFleet({"n1": 95.0}, now_s=100.0)
        meters = Meters(fleet, here.watcher, lambda: 0.0, lambda: 0.0, node_idle_w=90.0)
        meters.hear(100.0)
        assert meters.machine_w(100.0) == pytest.approx(95 + 2 * 10 + 300)
        assert meters.silent(100.0) == set()
        assert meters.left_out(100.0) == []
        keeper = CapKeeper(fleet, here.slurm, here.watcher, meters, lambda: math.inf, {}, 90.0,
                           90.0)
        assert keeper._rest({}, 100.0) == pytest.approx(95 + 2 * 10 + 300)
