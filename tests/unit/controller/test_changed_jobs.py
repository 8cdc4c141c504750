"""Waiting jobs that users or operators change: decided upon as they are now, never as before."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.controller.test_modes import OneSlurm

import wattline as wl
from wattline.books.encoding import encode
from wattline.books.waiting import waiting_rows
from wattline.controller.answers import explained
from wattline.controller.configuration import SiteConfig
from wattline.controller.controller import Controller
from wattline.controller.serving import serving
from wattline.controller.watching import Watcher
from wattline.controller.writings import Written, written
from wattline.live.slurm.client import AsksOtherwise, Seen, Slurm
from wattline.live.slurm.commands import Commands
from wattline.live.slurm.reading import SlurmJob, SlurmNode

LATER_S = 4e9
LICENSED = {"watts": 600}


class Killed(Exception):
    """A controller ends in the middle: it saves nothing."""


@dataclass(frozen=True)
class Changing(OneSlurm):
    """Writes on jobs as Slurm's client does, and starts them only where they may."""

    stuck: set[str] = field(default_factory=set)
    """Labels of jobs that do not start when they are told to."""
    orders: list[tuple[str, int]] = field(default_factory=list)
    """Return which jobs were told to start, on how many nodes."""

    def change(self, label: str, **asked: Any) -> None:
        self.jobs[label] = replace(self.jobs[label], **asked)

    def start(self, label: str, nodes: Any, *, as_seen: SlurmJob | None = None, **more: Any
              ) -> None:
        assert as_seen is not None
        changed = self.jobs[label].asks_otherwise(as_seen)
        if changed:
            raise AsksOtherwise(f"job {label} was changed meanwhile ({', '.join(changed)})")
        self.orders.append((label, len(nodes)))
        if not more.get("own"):
            self.change(label, required_nodes=tuple(nodes))
        self.change(label, nodes=len(nodes), most_nodes=len(nodes))
        if more.get("licence") is not None:
            self.license(self.jobs[label], more["licence"])
        if label in self.stuck:
            self.change(label, priority=9, reason="Resources")
        else:
            self.run(label, *nodes)

    def release(self, label: str, *, anywhere: bool = False) -> None:
        super().release(label)
        self.orders.append((label, 0))


@pytest.fixture
def wide(site: SiteConfig) -> SiteConfig:
    """All four nodes fit under the cap."""
    return site.model_copy(update={"cap": 2000.0, "licences": False, "partitions": ("batch",)})


@pytest.fixture
def changing(monkeypatch: pytest.MonkeyPatch) -> Changing:
    made = Changing()
    made.submit("9", nodes=2, submit_s=1.0)
    made.run("9", "n1", "n2")
    made.starts.clear()
    return made


def asked(here: Controller, site: SiteConfig, label: str) -> Mapping[str, Any]:
    return explained(here, site, {"job": label}).result


def replays(site: SiteConfig) -> bool:
    found = [wl.replay(path) for path in Path(site.folder).glob("*.journal")]
    return all(each.equal for each in found) and bool(found)


CHANGES: dict[str, tuple[dict[str, Any], int]] = {
    "fewer nodes": ({"nodes": 2, "most_nodes": 2}, 2), "one node": ({"nodes": 1}, 1),
    "watts": ({"nodes": 2, "licenses": {"watts": 500}}, 2),
    "name": ({"nodes": 2, "name": "other", "account": "physics"}, 2),
    "nodes by name": ({"nodes": 1, "required_nodes": ("n4",)}, 1)}


@pytest.mark.parametrize("killed", [False, True])
@pytest.mark.parametrize("change", list(CHANGES))
def test_a_job_that_waits_starts_with_what_it_asks_for_now(
    wide: SiteConfig, changing: Changing, change: str, killed: bool
) -> None:
    """Three nodes are not free; after the change it is started at once, also by a controller that
    was not there when it was changed."""
    fields, nodes = CHANGES[change]
    changing.submit("1", nodes=3, licenses={"watts": 900})
    with (pytest.raises(Killed) if killed else nullcontext(),
          serving(wide, act=True, slurm=changing) as here):
        here.cycle()
        assert "it asks for 3" in explained(here, wide, {"job": "1"}).said
        changing.change("1", **fields)
        if killed:
            data = encode(here.books)
            raise Killed
        here.cycle()
    if killed:
        with serving(wide, act=True, slurm=changing) as here:
            assert encode(here.books) == data
            here.cycle()
    assert changing.orders == [("1", nodes)]
    job = changing.jobs["1"]
    assert job.state == "RUNNING"
    assert set(job.node_list) <= {"n3", "n4"}
    assert fields.get("required_nodes", ()) <= job.node_list
    with serving(wide, act=True, slurm=changing) as here:
        here.cycle()
        watts = {told.label: told.watts for told in here.watcher.told.values()}
        assert watts == {"9": 600.0, "1": fields.get("licenses", {"watts": 900})["watts"]}
    assert replays(wide)


def test_a_job_keeps_its_place_whatever_it_asks_for(wide: SiteConfig, changing: Changing) -> None:
    """Jobs that came with it and after it stay behind it; what only the limit changes stays too.
    """
    for label in ("1", "2", "3"):
        changing.submit(label, nodes=3, submit_s=10.0)
    with serving(wide, act=True, slurm=changing) as here:
        here.cycle()
        changing.submit("4", nodes=3, submit_s=20.0)
        here.cycle()
        changing.change("2", nodes=4)
        changing.change("1", limit_s=300.0)
        here.cycle()
        changing.change("9", state="COMPLETED")
        for label, name in (("1", "1"), ("2", "2~1"), ("3", "3"), ("4", "4")):
            here.cycle()
            assert changing.starts[-1] == label
            assert name in here.watcher.told
            changing.change(label, state="COMPLETED")
    assert replays(wide)


@pytest.mark.parametrize(("restarted", "ending"), [(False, False), (True, False), (False, True)])
def test_jobs_that_are_queued_again_keep_their_places(
    wide: SiteConfig, changing: Changing, restarted: bool, ending: bool
) -> None:
    """The last is put aside first: it stays the last, and before what was submitted since. A life
    that is shown while the one before it ends is not told of yet, and the books are saved then."""
    changing.change("9", state="COMPLETED")
    for label in ("1", "2", "3"):
        changing.submit(label, nodes=1, submit_s=10.0)
    with serving(wide, act=True, slurm=changing) as here:
        here.cycle()
        assert changing.starts == ["1", "2", "3"]
        for other, nodes in (("7", 1), ("8", 3)):
            changing.submit(other, nodes=nodes, submit_s=5.0, comment="")
        changing.submit("4", nodes=4, submit_s=11.0)
        here.cycle()
        for label in ("3", "2"):
            if label == "3":  # others start jobs on what is free now
                changing.change("1", state="COMPLETED")
                changing.run("8", "n1", "n3", "n4")
            else:
                changing.run("7", "n2")
            if ending:
                changing.change(label, state="COMPLETING", restarts=1)
                here.cycle()
                here.books.save()
            changing.change(label, state="PENDING", restarts=1, priority=0, node_list=(),
                            submit_s=50.0, reason="JobHeldUser")
            if not restarted:
                here.cycle()
    with serving(wide, act=True, slurm=changing) as here:
        here.cycle()
        changing.submit("5", nodes=1, submit_s=60.0)
        here.cycle()
        queued = [str(here.books.roll.key(row)) for row in waiting_rows(here.books)]
    assert queued == ["2.1", "3.1", "4", "5"]
    assert replays(wide)


@pytest.mark.parametrize(("fields", "reason", "released"), [
    ({"partition": "other"}, "not ours", True), ({"comment": ""}, "held by its user", False),
    ({"comment": "mine"}, "held by its user", False),
    ({"eligible_s": LATER_S}, "begin time", False),
    ({"dependency": "afterok:9(unfulfilled)"}, "dependency", False),
    ({"reason": "JobHeldAdmin"}, "held by an operator", False)])
def test_a_job_that_is_not_ours_any_more_is_let_go_and_may_come_back(
    wide: SiteConfig, changing: Changing, fields: dict[str, Any], reason: str, released: bool
) -> None:
    changing.submit("1", nodes=3)
    before = changing.jobs["1"]
    with serving(wide, act=True, slurm=changing) as here:
        here.cycle()
        changing.change("1", **fields)
        for _ in range(3):
            here.cycle()
        assert list(here.watcher.told) == ["9"]
        assert asked(here, wide, "1")["reason"] == reason
        assert changing.orders == ([("1", 0)] if released else [])
        assert changing.jobs["1"].held == (not released)
        # What Slurm starts is counted; what comes back is decided upon again.
        if released:
            changing.change("1", nodes=1)
            changing.run("1", "n4")
            here.cycle()
            assert here.books.power_w == 360.0 + 3 * 210.0
        else:
            changing.jobs["1"] = replace(before, nodes=1)
            here.cycle()
            assert changing.orders == [("1", 1)]
    assert replays(wide)


def test_a_release_that_failed_is_tried_again_also_after_a_restart(
    wide: SiteConfig, changing: Changing, monkeypatch: pytest.MonkeyPatch
) -> None:
    changing.submit("1", nodes=3)
    changing.submit("2", nodes=3, partition="other")  # never ours: whoever holds it releases it
    with monkeypatch.context() as patched, serving(wide, act=True, slurm=changing) as here:
        here.cycle()
        patched.setattr(Changing, "release", lambda *given, **more: changing._there("none"))
        changing.change("1", partition="other")
        assert any("Invalid job id" in line for line in here.cycle().remarks)
    assert changing.jobs["1"].held
    with serving(wide, act=True, slurm=changing) as here:
        here.cycle()
    assert not changing.jobs["1"].held
    assert changing.jobs["2"].held


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize("later", [{}, {"nodes": 1, "most_nodes": 1}, {"licenses": {"watts": 450}},
                                   {"required_nodes": ("n4",)}])
def test_what_we_wrote_is_not_taken_for_a_users_change(
    wide: SiteConfig, changing: Changing, later: dict[str, Any], restarted: bool
) -> None:
    """A start that does not happen leaves nodes, their number and licences on the job."""
    site = wide.model_copy(update={"licences": True})
    changing.submit("1", nodes=2)
    changing.stuck.add("1")
    with serving(site, act=True, slurm=changing) as here:
        here.cycle()
        assert changing.jobs["1"].licenses == LICENSED
        assert changing.jobs["1"].required_nodes == ("n3", "n4")
        changing.change("1", priority=0, reason="JobHeldUser")
        if not restarted:
            here.watcher.told["1"].asked_s -= 10.0
            here.cycle()
            changing.change("1", **later)
            here.cycle()
            found = list(here.watcher.told)
    if restarted:
        changing.change("1", **later)
        with serving(site, act=True, slurm=changing) as here:
            here.watcher.told["1"].asked_s -= 10.0
            here.cycle()
            here.cycle()
            found = list(here.watcher.told)
    told = found[-1]
    # Nodes by name are no matter of the books: they are looked at when the job starts.
    assert told == ("1~1" if "nodes" in later or "licenses" in later else "1")
    assert replays(site)


def test_a_job_changed_so_that_it_can_never_run_is_said_and_mended(
    wide: SiteConfig, changing: Changing
) -> None:
    changing.submit("1", nodes=3)
    with serving(wide, act=True, slurm=changing) as here:
        here.cycle()
        for fields, words in (({"nodes": 9}, "9 nodes"),
                              ({"nodes": 3, "licenses": {"watts": 5000}}, "could never")):
            changing.change("1", **fields)
            here.cycle()
            found = asked(here, wide, "1")
            assert found["reason"] == "refused"
            assert words in str(found["sentence"]) + changing.jobs["1"].admin_comment
        changing.change("1", nodes=2, licenses={"watts": 600})
        here.cycle()
        assert changing.orders == [("1", 2)]
    assert replays(wide)


def test_a_job_that_arrives_by_a_change_is_taken_up(wide: SiteConfig, changing: Changing) -> None:
    changing.submit("1", nodes=1, comment="")
    changing.submit("2", nodes=1, partition="other")
    with serving(wide, act=True, slurm=changing) as here:
        here.cycle()
        assert changing.orders == []
        changing.change("1", comment="wattline")
        changing.change("2", partition="batch")
        here.cycle()
        assert changing.orders == [("1", 1), ("2", 1)]


@pytest.mark.parametrize(("said", "counted"), [({}, 300.0), ({"watts": 500}, 500.0)])
def test_watts_that_we_gave_a_job_are_of_the_nodes_that_it_has(
    wide: SiteConfig, changing: Changing, said: dict[str, int], counted: float
) -> None:
    site = wide.model_copy(update={"licences": True})
    changing.submit("1", nodes=2, licenses=said)
    with serving(site, act=True, slurm=changing) as here:
        here.cycle()
        assert changing.jobs["1"].licenses == (said or LICENSED)
        here.cycle()
        changing.change("1", node_list=("n3",), nodes=1)
        here.cycle()
        here.cycle()
        assert here.watcher.told["1~1"].watts == counted


@pytest.mark.parametrize("left", [("n1",), ("n1", "n3", "n4")])
def test_a_running_job_with_other_nodes_goes_on_in_the_books_with_these(
    wide: SiteConfig, changing: Changing, left: tuple[str, ...]
) -> None:
    changing.submit("1", nodes=3)
    with serving(wide, act=True, slurm=changing) as here:
        here.cycle()
        changing.change("9", node_list=left, nodes=len(left))
        said = here.cycle().remarks
        assert sum("the books count it as 9~1" in line for line in said) == 1
        assert here.books.power_w == 360.0 + 210.0 * (
            len(left) + (3 if len(left) == 1 else 0))
        assert changing.orders == ([("1", 3)] if len(left) == 1 else [])
        assert not any("9" in line for line in here.cycle().remarks)
    assert replays(wide)


@dataclass(frozen=True)
class Recorded(Commands):
    """Notes what scontrol is told."""

    told: list[tuple[str, ...]] = field(default_factory=list)

    def run(self, *command: str) -> str:
        self.told.append(command)
        return ""


HELD = SlurmJob("7", 7, 0, "PENDING", 4, 4, 300.0, math.nan, math.nan, 0.0, "batch",
                most_nodes=4, comment="wattline")


@pytest.mark.parametrize(("fields", "word"), [
    ({"nodes": 1, "most_nodes": 1}, "nodes"), ({"licenses": {"watts": 5}}, "licences"),
    ({"partition": "b"}, "partition"), ({"required_nodes": ("n9",)}, "nodes by name"),
    ({"comment": ""}, "comment"), ({"eligible_s": 9.0}, "begin time"), ({"limit_s": 60.0}, "time"),
    ({"dependency": "afterok:1"}, "dependency"), ({"features": "gpu"}, "features"),
    ({"tres": "mem=1G"}, "resources"), ({"cpus": 9}, "CPUs")])
def test_nothing_is_written_on_a_job_that_was_changed_between_the_look_and_the_order(
    monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any], word: str
) -> None:
    commands = Recorded()
    slurm = Slurm(commands)
    monkeypatch.setattr(Slurm, "job", lambda self, label: replace(HELD, **fields))
    with pytest.raises(AsksOtherwise, match=word):
        slurm.start("7", ["n1", "n2", "n3", "n4"], as_seen=HELD)
    assert commands.told == []


def test_a_number_of_nodes_that_stands_there_is_not_written_again(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = Recorded()
    slurm = Slurm(commands)
    for job, written_too in ((HELD, False), (replace(HELD, nodes=2), True)):
        monkeypatch.setattr(Slurm, "job", lambda self, label, job=job: job)
        slurm.start("7", ["n1", "n2", "n3", "n4"], as_seen=job)
        update = commands.told[-2]
        assert "ReqNodeList=n1,n2,n3,n4" in update
        assert ("NumNodes=4-4" in update) == written_too


def test_a_start_that_met_a_change_is_decided_anew_at_the_next_look(
    wide: SiteConfig, changing: Changing, monkeypatch: pytest.MonkeyPatch
) -> None:
    changing.submit("1", nodes=2)
    before = Changing.start

    def late(self: Changing, label: str, nodes: Any, **more: Any) -> None:
        if self.jobs[label].nodes == 2:
            self.change(label, nodes=1, most_nodes=1)
        before(self, label, nodes, **more)

    monkeypatch.setattr(Changing, "start", late)
    with serving(wide, act=True, slurm=changing) as here:
        said = here.cycle().remarks
        assert any("was changed meanwhile (nodes, nodes at most)" in line for line in said)
        assert changing.orders == []
        here.cycle()
        assert changing.orders == [("1", 1)]
    assert replays(wide)


@pytest.mark.parametrize("molded", [1, 2, 3])
def test_a_range_stays_a_range_after_a_start_of_ours(molded: int) -> None:
    # Compared by what they say: nan is not nan.
    job = replace(HELD, nodes=1, most_nodes=3)
    mine = written(job, None, ("n1", "n2")[:molded], molded, 700)
    now = replace(job, nodes=molded, most_nodes=molded, licenses={"watts": 700, "x": 1},
                  required_nodes=("n2", "n1")[-molded:])
    assert repr(mine.as_asked(now)) == repr(replace(job, licenses={"x": 1}))
    again = written(now, mine, (), molded, None)
    assert again == replace(mine, nodes=now.required_nodes)
    assert repr(again.as_asked(now)) == repr(mine.as_asked(now))
    theirs = replace(now, nodes=4, most_nodes=4, licenses={"watts": 9}, required_nodes=("n3",))
    assert repr(mine.as_asked(theirs)) == repr(theirs)
    assert repr(Written().as_asked(theirs)) == repr(replace(theirs, required_nodes=()))


def test_a_change_is_told_once() -> None:
    watcher = Watcher(["n1", "n2"], node_w=300.0)
    nodes = tuple(SlurmNode(name, ("idle",), 32) for name in ("n1", "n2"))
    one = replace(HELD, nodes=2, most_nodes=2)
    two = replace(one, nodes=1, most_nodes=1)
    told = [[type(event).__name__ for event in watcher.news(Seen(0.0, (job,), nodes)).events]
            for job in (one, one, two, two, replace(two, name="x"))]
    assert told == [["Submitted"], [], ["Cancelled", "Submitted"], [],
                    ["Cancelled", "Submitted"]]
    assert list(watcher.told) == ["7~2"]
