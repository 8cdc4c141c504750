"""The mode of a controller that runs is changed: no job is lost or started twice, the cap holds."""

from __future__ import annotations

import json
import math
import re
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from wattline.cli.main import main
from wattline.controller import serving as serving_module
from wattline.controller.configuration import SiteConfig
from wattline.controller.controller import Controller
from wattline.controller.lease import age_s
from wattline.controller.modes import FILE, mode_at_start, open_modes, read_mode
from wattline.controller.orders import DONE, ORDERS, OrderOutcome
from wattline.controller.serving import serving
from wattline.controller.status import ahead, read_status
from wattline.controller.watching import Watcher
from wattline.live.slurm.client import Seen, Slurm
from wattline.live.slurm.commands import Commands, SlurmError
from wattline.live.slurm.reading import SlurmJob, SlurmNode

NAMES = [f"n{number}" for number in range(1, 5)]
SITE = """nodes = "n[1-4]"
node_idle_w = 90
node_active_w = 300
cap = 900
folder = "controller"
licences = true
lease = "2s"
"""


@dataclass(frozen=True)
class Licences(Commands):
    """Slurm's licences and the reservation of them, by the commands that the net runs."""

    total: int = 1200
    told: list[tuple[str, ...]] = field(default_factory=list)

    def run(self, *command: str) -> str:
        self.told.append(command)
        if command[1:3] == ("show", "licenses"):
            return f"LicenseName=watts Total={self.total}" if self.total else ""
        return ""

    def allowed(self) -> int:
        taken = next((word.rpartition(":")[2] for words in reversed(self.told) for word in words
                      if word.startswith("Licenses=watts:")), "0")
        return self.total - int(taken)


@dataclass(frozen=True)
class OneSlurm(Slurm):
    """A Slurm of one file: it starts what is not held, and keeps what it is told."""

    commands: Licences = field(default_factory=Licences)
    jobs: dict[str, SlurmJob] = field(default_factory=dict)
    starts: list[str] = field(default_factory=list)
    slow_s: list[float] = field(default_factory=list)

    def submit(self, label: str, nodes: int = 1, **more: Any) -> None:
        self.jobs[label] = replace(SlurmJob(
            label, int(label), 0, "PENDING", nodes, nodes, 600.0, math.nan, math.nan, time.time(),
            partition="batch", user="ann", comment="wattline"), **more)

    def run(self, label: str, *nodes: str) -> None:
        self.starts.append(label)
        self.jobs[label] = replace(self.jobs[label], state="RUNNING", node_list=nodes, priority=9,
                                   start_s=time.time())

    def look(self) -> Seen:
        return Seen(time.time(), tuple(self.jobs.values()),
                    tuple(SlurmNode(name, ("idle",), 1) for name in NAMES))

    def job(self, label: str) -> SlurmJob | None:
        return self.jobs.get(label)

    def start(self, label: str, nodes: Any, **more: Any) -> None:
        if not self.jobs[label].held:
            raise SlurmError(f"job {label} is not held")
        if more.get("licence") is not None:
            self.license(self.jobs[label], more["licence"])
        self.run(label, *nodes)

    def license(self, job: SlurmJob, watts: int) -> None:
        self._there(job.label)
        self.jobs[job.label] = replace(self.jobs[job.label], licenses={"watts": watts})

    def release(self, label: str, *, anywhere: bool = True) -> None:
        for pause_s in self.slow_s:
            time.sleep(pause_s)
        self._there(label)
        self.jobs[label] = replace(self.jobs[label], priority=9, reason="Licenses")

    def _there(self, label: str) -> None:
        if label not in self.jobs:
            raise SlurmError(f"scontrol {label} failed: Invalid job id specified")

    def withdraw(self, label: str) -> None:
        self.jobs[label] = replace(self.jobs[label], priority=0, reason="JobHeldUser")

    def explain(self, label: str, comment: str) -> None:
        self.jobs[label] = replace(self.jobs[label], admin_comment=comment)


def ordered(here: Controller, site: SiteConfig, kind: str = "set_mode", **fields: Any
            ) -> OrderOutcome:
    """Give an order, let a cycle take it, and say what came of it."""
    name = f"{time.time_ns():020d}.json"
    (Path(site.folder) / ORDERS / name).write_text(json.dumps({"kind": kind, **fields}))
    here.cycle()
    for place in (DONE, "refused"):
        found = Path(site.folder) / place / name
        if found.exists():
            return OrderOutcome(**json.loads(found.read_text())["outcome"])
    raise AssertionError("no answer")


def waiting(slurm: OneSlurm) -> dict[str, str]:
    return {label: "held" if job.held else "at Slurm" for label, job in slurm.jobs.items()
            if job.state == "PENDING"}


def test_there_and_back_nothing_is_lost_or_started_twice(site: SiteConfig, slurm: OneSlurm) -> None:
    """Under 900 W two nodes of 300 W beside two idle ones fit; the third job waits."""
    remarks: list[str] = []
    with serving(site, act=True) as here:
        here.listeners = (*here.listeners, lambda cycle: remarks.extend(cycle.remarks))
        for label in ("1", "2", "3"):
            slurm.submit(label)
        here.cycle()
        assert slurm.starts == ["1", "2"]
        ordered(here, site, "set_cap", watts=850.0)
        ordered(here, site, "reserve", name="noon", start_s=time.time() + 3600, duration_s=60.0,
                watts=100.0)
        found = ordered(here, site, mode="guard")
        assert found.said == "guard mode from now on: Slurm starts jobs, under watts as licences"
        assert any(remark.endswith("whatever when_stopped says: 1")
                   for remark in found.result["remarks"])
        assert read_status(Path(site.folder))["mode"] == "guard"
        assert waiting(slurm) == {"3": "held"}, "the licences come first"
        here.cycle()
        assert waiting(slurm) == {"3": "at Slurm"}
        assert read_status(Path(site.folder))["waiting"]["count"] == 1
        assert slurm.jobs["3"].licenses == {"watts": 300}
        # Both jobs were given 300 W as licences at their start, and two nodes are idle.
        assert [slurm.jobs[label].licenses for label in "12"] == [{"watts": 300}] * 2
        assert slurm.commands.allowed() == 850 - 180
        slurm.submit("4")
        here.cycle()
        assert waiting(slurm) == {"3": "at Slurm", "4": "at Slurm"}, "also what is held later"
        assert slurm.starts == ["1", "2"]
        slurm.jobs["1"] = replace(slurm.jobs["1"], state="COMPLETED")
        slurm.run("3", "n3")
        here.cycle()
        assert {str(job.job) for job in here.books.roll.jobs} == {"1", "2", "3", "3~1"}
        assert here.watcher.told["3~1"].running
        found = ordered(here, site, mode="decide")
        here.cycle()
        assert waiting(slurm) == {"4": "held"}
        assert any("job_submit.lua must hold them" in remark for remark in found.result["remarks"])
        here.cycle()
        slurm.jobs["2"] = replace(slurm.jobs["2"], state="COMPLETED")
        here.cycle()
        here.cycle()
        assert slurm.starts == ["1", "2", "3", "4"]
        assert float(here.books.state.clock[0].cap_w) == 850.0
        assert [each["name"] for each in ahead(here.books)] == ["noon"]
        assert not [said for said in remarks if "before" in said or "refused" in said]
    journal, = Path(site.folder).glob("*.journal")
    text = journal.read_text()
    assert text.count('["start","') == 3, "those that Slurm started are no decisions"


def test_licences_rise_after_jobs_are_held_again(
    site: SiteConfig, slurm: OneSlurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slurm would start at once what waits for licences, and the cap would be passed."""
    at_withdrawal: list[int] = []
    withdraw = type(slurm).withdraw

    def withdrawn(slurm: OneSlurm, label: str) -> None:
        at_withdrawal.append(slurm.commands.allowed())
        withdraw(slurm, label)

    monkeypatch.setattr(type(slurm), "withdraw", withdrawn)
    with serving(site, act=True) as here:
        for label in ("1", "2", "3"):
            slurm.submit(label)
        here.cycle()
        ordered(here, site, mode="guard")
        here.cycle()
        assert waiting(slurm) == {"3": "at Slurm"}
        ordered(here, site, mode="decide")
        for _ in range(3):
            here.cycle()
        assert waiting(slurm) == {"3": "held"}
        assert len(at_withdrawal) == 1
        assert at_withdrawal[0] < 900, "the three hold 300 each"
        assert slurm.commands.allowed() == 900


def test_a_killed_controller_goes_on_in_the_mode_with_the_cap(
    site: SiteConfig, slurm: OneSlurm, tmp_path: Path
) -> None:
    """The folder as it is at some moment is what a kill leaves: with the order, before any job
    has been passed on."""
    with serving(site, act=True) as here:
        slurm.submit("1", nodes=2)
        slurm.submit("2", nodes=2)
        here.cycle()
        ordered(here, site, "set_cap", watts=890.0)
        ordered(here, site, mode="guard")
        assert waiting(slurm) == {"2": "held"}
        shutil.copytree(site.folder, tmp_path / "killed")
    other = site.model_copy(update={"folder": str(tmp_path / "killed")})
    with serving(other, act=True) as here:
        assert any("guard mode was ordered and holds" in note for note in here.notes)
        here.cycle()
        assert waiting(slurm) == {"2": "at Slurm"}
        assert float(here.books.state.clock[0].cap_w) == 890.0
        slurm.jobs["1"] = replace(slurm.jobs["1"], state="COMPLETED")
        slurm.run("2", "n1", "n2")
        here.cycle()
        assert here.watcher.told["2~1"].running
        assert not here.books.refused
    with serving(other, act=True) as here:  # another restart, while it runs
        here.cycle()
        assert [told.label for told in here.watcher.told.values()] == ["2"]


def test_a_mode_holds_over_restarts_until_it_is_ordered_back_or_the_command_says_so(
    site: SiteConfig, slurm: OneSlurm
) -> None:
    folder = Path(site.folder)
    with serving(site, act=True) as here:
        here.cycle()
        since_s = read_status(folder)["mode_since_s"]
        found = ordered(here, site, mode="guard")
        assert found.result["mode_since_s"] >= since_s
        assert "it holds over restarts, until decide mode is ordered again" in (
            found.result["remarks"])
    assert mode_at_start(site) == "guard"
    with serving(site, act=True) as here:
        here.cycle()
        said = read_status(folder)
        assert (said["mode"], said["mode_ordered"], said["mode_by"]) == ("guard", True, "order")
        assert said["mode_since_s"] == found.result["mode_since_s"]
        ordered(here, site, mode="decide")
    assert (mode_at_start(site), read_mode(folder).ordered) == ("decide", False)
    with serving(site, act=True) as here:
        ordered(here, site, mode="guard")
    with serving(site, act=True, mode="decide") as here:
        assert "--mode decide holds; that guard mode was ordered is forgotten" in here.notes
        here.cycle()
        again = ordered(here, site, mode="guard")
        assert any("started with --mode decide" in each for each in again.result["remarks"])
        ordered(here, site, mode="decide")
    assert mode_at_start(site) == "decide"


def test_what_waits_at_slurm_is_held_again_after_a_kill_too(
    site: SiteConfig, slurm: OneSlurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed after the mode was written and before the job was held."""
    with serving(site, act=True, mode="guard") as here:
        slurm.submit("1", priority=9)
        slurm.submit("2", priority=9, comment="")
        here.cycle()
        ordered(here, site, mode="guard")
    said = json.loads((Path(site.folder) / FILE).read_text())
    (Path(site.folder) / FILE).write_text(json.dumps(
        {**said, "name": "decide", "ordered": False, "taking_back": True}))
    with serving(site, act=True) as here:
        here.cycle()
        assert waiting(slurm) == {"1": "held", "2": "at Slurm"}
        here.cycle()
        assert not read_mode(Path(site.folder)).taking_back


@pytest.mark.parametrize(("change", "mode", "said"), [
    ({}, "auto", "there is no mode 'auto'; there are: decide, guard"),
    ({}, None, "there is no mode None"),
    ({"licences": False}, "guard", "write licences = true into the site's file"),
])
def test_a_mode_that_cannot_be_is_refused(
    site: SiteConfig, slurm: OneSlurm, change: dict[str, Any], mode: str | None, said: str
) -> None:
    site = site.model_copy(update=change)
    with serving(site, act=True) as here:
        found = ordered(here, site, mode=mode)
        assert not found.ok
        assert said in found.said
        assert read_status(Path(site.folder))["mode"] == "decide"


def test_guard_mode_is_refused_where_slurm_has_no_watts(
    site: SiteConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving_module, "Slurm", lambda commands: OneSlurm(Licences(total=0)))
    with serving(site, act=True) as here:
        found = ordered(here, site, mode="guard")
    assert not found.ok
    assert "slurm.conf needs Licenses=watts:N" in found.said


def test_guard_mode_is_refused_while_the_policy_has_switched_nodes_off(
    site: SiteConfig, slurm: OneSlurm
) -> None:
    with serving(site, act=True) as here:
        here.watcher.off = {"n4"}
        found = ordered(here, site, mode="guard")
        here.watcher.off = set()
    assert not found.ok
    assert "nodes are switched off by the policy (1)" in found.said


def test_a_preview_says_what_follows_and_changes_nothing(
    site: SiteConfig, slurm: OneSlurm
) -> None:
    with serving(site, act=True) as here:
        for label in ("1", "2", "3", "4"):
            slurm.submit(label)
        here.cycle()
        found = ordered(here, site, "preview_mode", mode="guard")
        assert any(remark.startswith("waiting jobs that go to Slurm with their watts as licences")
                   and remark.endswith(": 2") for remark in found.result["remarks"])
        assert found.result["mode"] == "decide"
        here.cycle()
        assert waiting(slurm) == {"3": "held", "4": "held"}


@pytest.mark.waits
def test_many_jobs_do_not_cost_the_lease(site: SiteConfig, slurm: OneSlurm) -> None:
    """Thirty jobs at 0.1 s each would take three seconds, and the lease is two."""
    with serving(site, act=True) as here:
        for number in range(1, 31):
            slurm.submit(str(number), nodes=4, licenses={"watts": 900})
        here.cycle()
        first = len(waiting(slurm))
        ordered(here, site, mode="guard")
        slurm.slow_s.append(0.1)
        ages_s = []
        while any(state == "held" for state in waiting(slurm).values()):
            here.cycle()
            ages_s.append(age_s(Path(site.folder)))
            assert len(ages_s) < 40
    assert first >= 29
    assert len(ages_s) > 3
    assert max(ages_s) < 1.0


def test_a_job_that_is_cancelled_meanwhile_does_not_keep_others(
    site: SiteConfig, slurm: OneSlurm
) -> None:
    with serving(site, act=True) as here:
        for label in ("1", "2", "3", "4"):
            slurm.submit(label)
        here.cycle()
        ordered(here, site, mode="guard")
        taken = slurm.jobs.pop("3")
        here.watcher.seen = (taken, *slurm.jobs.values())
        look: Callable[[], Seen] = slurm.look
        object.__setattr__(slurm, "look", lambda: replace(look(), jobs=(taken, *look().jobs)))
        here.cycle()
        assert waiting(slurm) == {"4": "at Slurm"}
        assert any("Invalid job id" in note for note in here.notes)


def test_a_dry_run_changes_what_it_says_and_remembers_nothing(
    site: SiteConfig, slurm: OneSlurm
) -> None:
    with serving(site, act=False) as here:
        slurm.submit("1")
        found = ordered(here, site, mode="guard")
        assert any("dry run" in remark for remark in found.result["remarks"])
        here.cycle()
        assert waiting(slurm) == {"1": "held"}
    assert not (Path(site.folder) / FILE).exists()


def test_the_command_says_the_mode_and_since_when(
    site: SiteConfig, slurm: OneSlurm, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(site, act=True) as here:
        here.cycle()
        for words in (["--json"], []):
            with pytest.raises(SystemExit) as left:
                main(["controller", "mode", "--config", str(tmp_path / "site.toml"), *words])
            assert not left.value.code
        said = capsys.readouterr().out
    assert '"mode": "decide"' in said
    assert '"mode_by": "file"' in said
    assert re.search("^decide mode since 20.*Z, as the site's file says$", said, re.M)


@pytest.mark.parametrize("licences", [False, True])
def test_guard_mode_without_licences_says_at_the_start_what_that_means(
    site: SiteConfig, licences: bool
) -> None:
    guard = site.model_copy(update={"mode": "guard", "licences": licences})
    made = open_modes(guard, Watcher(NAMES), 0.0, act=False)
    assert any("jobs that are held for the controller stay held" in said
               for said in made.remarks) is not licences
