"""Decide mode on shared nodes: Slurm's rules under the cap, each decision again from its file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.unit.controller.fakes import FakeSlurm

from wattline.controller.answers import SHARED
from wattline.controller.configuration import read_configuration
from wattline.controller.controller import Cycle
from wattline.controller.hands import Hands
from wattline.controller.sharing.deciding import Decisions, decided
from wattline.controller.sharing.deciding_again import decided_again
from wattline.controller.sharing.parts import read_section
from wattline.controller.sharing.picture import Picture, asked, memory_unread, pictured
from wattline.controller.sharing.starting import SharedStarter
from wattline.controller.sharing.watching import SharedWatcher
from wattline.controller.watching import BACKOFF_S, PATIENCE_S
from wattline.live.slurm.client import AsksOtherwise, Seen
from wattline.live.slurm.commands import SlurmError
from wattline.live.slurm.reading import SlurmJob, SlurmNode
from wattline.live.slurm.wishes import WISH_COLUMNS, Wish, read_wishes

TWIN = """name = "tiny"
[trace]
file = "no.events"
[twin]
slurm_conf = "slurm.conf"
log = "events"
idle_w = 100
cpu_w = 10
gpu_w = 300
"""
CONF = """PriorityType=priority/basic
SelectTypeParameters=CR_Core
GresTypes=gpu
NodeName=n[1-2] CPUs=8 RealMemory=1000
NodeName=g1 CPUs=8 RealMemory=1000 Gres=gpu:2 Feature=cards Weight=9
PartitionName=all Nodes=ALL Default=YES
"""
JOB = SlurmJob("7", 7, 0, "PENDING", 1, 4, 600.0, math.nan, math.nan, 1000.0, partition="all",
               user="ada", account="a", comment="wattline")
WISH = Wish(tasks=4)
NODES = ("g1", "n1", "n2")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "twin.toml").write_text(TWIN)
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "site.toml").write_text('twin = "twin.toml"\ncap = 2000\nlicences = true\n')
    return tmp_path


def picture(*waiting: tuple[SlurmJob, Wish], cap_w: float = 2000.0, drawn_w: float = 0.0,
            running: dict[str, int] | None = None) -> Picture:
    jobs = [pictured(job, wish, {}, 0.0, 1.0) for job, wish in waiting]
    if running:
        jobs.append(pictured(replace(JOB, label="1", cpus=sum(running.values())), WISH, running,
                             1001.0, 1.0))
    return Picture(1010.0, cap_w, drawn_w, (), tuple(jobs))


def starts(place: Path, at: Picture) -> list[tuple[str, tuple[str, ...], float]]:
    found = decided(read_section(str(place / "twin.toml")), at, NODES)
    return [(each.label, each.nodes, each.watts) for each in found.starts]


def test_a_job_shares_a_node_with_one_that_runs(place: Path) -> None:
    assert starts(place, picture((JOB, WISH), running={"n1": 4})) == [("7", ("n1",), 40.0)]
    assert starts(place, picture((JOB, WISH), running={"n1": 6})) != [("7", ("n1",), 40.0)]


def test_cards_and_features_choose_the_node(place: Path) -> None:
    card = replace(WISH, per_node="gres:gpu:1")
    assert starts(place, picture((JOB, card))) == [("7", ("g1",), 40.0 + 300.0)]
    assert starts(place, picture((JOB, replace(WISH, features="cards"))))[0][1] == ("g1",)


def test_the_cap_holds_back_what_would_break_it_as_measured(place: Path) -> None:
    """300 W idle and 40 W of a job that runs; another 40 W fit below 380 W."""
    runs = {"n1": 4}
    assert starts(place, picture((JOB, WISH), cap_w=380.0, running=runs))
    assert not starts(place, picture((JOB, WISH), cap_w=379.0, running=runs))
    assert not starts(place, picture((JOB, WISH), cap_w=380.0, drawn_w=350.0, running=runs))


def test_nodes_that_are_not_of_the_site_take_no_job_and_no_watts(place: Path) -> None:
    section = read_section(str(place / "twin.toml"))
    found = decided(section, picture((JOB, WISH), cap_w=140.0), ["n2"])
    assert [each.nodes for each in found.starts] == [("n2",)]
    assert decided(section, picture((JOB, WISH), cap_w=139.0), ["n2"]).starts == ()


def test_a_job_of_an_unknown_partition_never_starts_and_that_is_said(place: Path) -> None:
    found = decided(read_section(str(place / "twin.toml")),
                    picture((replace(JOB, partition="odd"), WISH)), NODES)
    assert found.starts == ()
    assert any("7" in line for line in found.unfit)


def test_every_decision_is_made_once_more_from_its_file(place: Path) -> None:
    section, file = read_section(str(place / "twin.toml")), place / "decisions.jsonl"
    for cap_w in (2000.0, 345.0):
        at = picture((JOB, WISH), (replace(JOB, label="8"), WISH), cap_w=cap_w)
        Decisions(file).write(at, decided(section, at, NODES).starts)
    made = decided_again(file, section, NODES)
    assert (made.decisions, made.different, made.first_difference) == (3, 0, None)
    file.write_text(file.read_text().replace('["7", ["n1"]]', '["7", ["n2"]]'))
    made = decided_again(file, section, NODES)
    assert (made.decisions, made.different) == (3, 2)
    assert made.first_difference is not None
    assert made.first_difference.journal[0] == "start 7 on n2"
    assert made.first_difference.here[0] == "start 7 on n1"


@pytest.mark.parametrize(("after_s", "until_s", "count"), [
    (0.0, 2000.0, 4), (1010.0, 2000.0, 2), (0.0, 1010.0, 2), (1020.0, 2000.0, 0)])
def test_decisions_of_a_time_are_those_after_it_also_where_a_file_was_put_away(
    place: Path, after_s: float, until_s: float, count: int
) -> None:
    section, file = read_section(str(place / "twin.toml")), place / "decisions.jsonl"
    for time_s in (1010.0, 1020.0):
        at = replace(picture((JOB, WISH), (replace(JOB, label="8"), WISH)), time_s=time_s)
        Decisions(file, 1.0).write(at, decided(section, at, NODES).starts)
    assert file.with_suffix(".before").exists()
    made = decided_again(file, section, NODES, after_s=after_s, until_s=until_s)
    assert (made.decisions, made.different) == (count, 0)


def test_a_line_that_a_kill_has_cut_is_said_and_the_next_is_whole(place: Path) -> None:
    section, file = read_section(str(place / "twin.toml")), place / "decisions.jsonl"
    at = picture((JOB, WISH))
    Decisions(file).write(at, decided(section, at, NODES).starts)
    with file.open("a") as cut:
        cut.write('{"picture": {"time_s": 1')
    Decisions(file).write(at, decided(section, at, NODES).starts)
    made = decided_again(file, section, NODES)
    assert (made.decisions, made.different) == (2, 0)
    assert made.remarks == ("decisions.jsonl: 1 line cannot be read, as after a kill",)


def test_wishes_are_read_from_columns() -> None:
    cells = dict.fromkeys(WISH_COLUMNS, "N/A") | {
        "JobArrayID": "7", "NumTasks": "4", "tres-per-node": "gres:gpu:2", "QOS": "high",
        "EligibleTime": "2026-10-25T02:30:00", "OverSubscribe": "NO"}
    found = read_wishes("".join(cells[name] + "\x1f" for name in WISH_COLUMNS) + "\n")
    assert found["7"] == Wish(tasks=4, per_node="gres:gpu:2", qos="high",
                              eligible_s=1792895400.0, exclusive=True)
    made = asked(pictured(replace(JOB, tres="cpu=4,mem=3G,node=1"), found["7"], {}, 0.0, 1.0), 0.0)
    assert (made.gres_per_node, made.memory_per_node_mb, made.exclusive) == (
        {("gpu", ""): 2}, 3072, True)


@pytest.mark.parametrize(("tres", "unread"), [
    ("cpu=4,mem=3G", ""), ("cpu=4", ""), ("cpu=4,mem=much,node=1", "much")])
def test_memory_that_cannot_be_read_is_known(tres: str, unread: str) -> None:
    assert memory_unread(pictured(replace(JOB, tres=tres), WISH, {}, 0.0, 1.0)) == unread


class Site:
    """A controller as far as a starter needs it, with jobs that wait held."""

    def __init__(self, place: Path) -> None:
        self.site = read_configuration(place / "site.toml")
        assert self.site.parts is not None
        Path(self.site.folder).mkdir(exist_ok=True)
        self.slurm = FakeSlurm()
        self.slurm.wishes = lambda: {  # type: ignore[method-assign]
            job.label: self.wish for job in (*self.watcher.seen, JOB)}
        self.watcher = SharedWatcher(self.site.parts, mark="wattline", decides=False)
        self.cap_w = 1000.0
        self.wish = WISH
        self.controller = SimpleNamespace(
            watcher=self.watcher, slurm=self.slurm, act=True, notes=[],
            books=SimpleNamespace(power_w=300.0), hands=Hands())
        self.starter = SharedStarter(self.controller, self.site, read_section(self.site.twin),
                                     lambda: self.cap_w)

    def look(self, *jobs: SlurmJob, at_s: float, limits: Mapping[str, int] | None = None
             ) -> list[tuple]:
        self.slurm.told.clear()
        nodes = tuple(SlurmNode(name, ("idle",), 8) for name in NODES)
        self.watcher.news(Seen(at_s, jobs, nodes, limits or {}))
        self.starter(Cycle(at_s))
        return self.slurm.told


def test_a_job_is_told_to_start_once_with_its_watts_and_held_again_when_it_does_not(
    place: Path
) -> None:
    here = Site(place)
    assert [call[0] for call in here.look(JOB, at_s=1010.0)] == ["start"]
    assert here.slurm.told[0][-1] == 40
    released = replace(JOB, priority=5)
    assert here.look(released, at_s=1011.0) == []
    assert [call[0] for call in here.look(released, at_s=1011.0 + PATIENCE_S)] == ["withdraw"]
    assert here.look(JOB, at_s=1012.0 + PATIENCE_S) == []  # not at once
    later_s = 1012.0 + PATIENCE_S + BACKOFF_S
    assert [call[0] for call in here.look(JOB, at_s=later_s)] == ["start"]
    running = replace(JOB, state="RUNNING", node_list=("n1",), priority=5, start_s=later_s)
    assert here.look(running, at_s=later_s + 1.0) == []
    assert here.starter.asked == {}


@pytest.mark.parametrize("how", ["late", "refused"])
def test_a_job_whose_start_failed_is_not_said_to_be_held_by_its_user(
    place: Path, how: str
) -> None:
    """It waits for the next try; before, where nothing could be decided, for the next look."""
    here = Site(place)
    if how == "late":
        here.look(JOB, at_s=1010.0)
        here.look(replace(JOB, priority=5), at_s=1011.0 + PATIENCE_S)
    else:
        here.slurm.start = fails
        here.look(JOB, at_s=1010.0)
    here.look(JOB, at_s=1012.0 + PATIENCE_S if how == "late" else 1011.0)
    assert here.starter.why("7") == "back-off"
    here.slurm.wishes = fails
    here.starter.last = None
    here.look(JOB, at_s=1100.0)
    assert here.starter.why("7") == "next"
    assert {"back-off", "next"} <= SHARED.keys()
    here.look(replace(JOB, comment=""), at_s=1101.0)
    assert here.starter.why("7") == ""


def fails(*given: object, **more: object) -> None:
    raise SlurmError("no answer")


def test_one_that_was_told_to_start_is_counted_until_it_runs(place: Path) -> None:
    """300 W idle; 345 W let one of two jobs of 40 W in, also before it is seen to run."""
    here = Site(place)
    here.cap_w = 345.0
    second = replace(JOB, label="8", job_id=8)
    assert [call[1] for call in here.look(JOB, second, at_s=1010.0) if call[0] == "start"] == ["7"]
    assert here.look(replace(JOB, priority=5), second, at_s=1011.0) == []
    assert here.starter.why("8") == "watts"


def test_no_more_tasks_of_an_array_start_than_its_limit(place: Path) -> None:
    here = Site(place)
    first, second = (replace(JOB, label=f"7_{task}", job_id=7 + task) for task in (1, 2))
    started = here.look(second, first, at_s=1010.0, limits={"7": 1})
    assert [call[1] for call in started if call[0] == "start"] == ["7_1"]
    assert here.watcher.obstacles["7_2"].reason == "array limit"
    assert here.look(replace(first, priority=5), second, at_s=1011.0) == []
    running = replace(first, state="RUNNING", node_list=("n1",), priority=5, start_s=1011.0)
    assert here.look(running, second, at_s=1012.0) == []
    over = replace(running, state="COMPLETED", end_s=1013.0)
    started = here.look(over, second, at_s=1014.0)
    assert [call[1] for call in started if call[0] == "start"] == ["7_2"]


def test_one_with_a_begin_time_starts_then_and_parts_are_not_decided_upon(place: Path) -> None:
    here = Site(place)
    later = replace(JOB, eligible_s=1020.0)
    part = replace(JOB, label="9+0", job_id=9)
    assert [call[0] for call in here.look(later, part, at_s=1010.0)] == ["explain"]
    assert here.watcher.obstacles["7"].reason == "begin time"
    assert here.watcher.obstacles["9+0"].reason == "not managed"
    assert here.look(later, part, at_s=1019.0) == []
    assert [call[0] for call in here.look(later, part, at_s=1020.0)] == ["start"]
    assert sum("is not decided upon" in line for line in here.controller.notes) == 1


@pytest.mark.parametrize(("fields", "cpus"), [
    ({"cpus": 2, "tres": "cpu=2,node=1"}, 2), ({"licenses": {"watts": 30}}, 4)])
def test_a_job_that_is_changed_is_decided_upon_anew_at_the_next_look(
    place: Path, fields: dict[str, Any], cpus: int
) -> None:
    """300 W idle and 335 W at most: 40 W are too many for it, 20 or 30 are not."""
    here = Site(place)
    here.cap_w = 335.0
    assert here.look(JOB, at_s=1010.0) == []
    here.wish = replace(here.wish, tasks=cpus)
    call, = here.look(replace(JOB, **fields), at_s=1011.0)
    assert call[:2] == ("start", "7")


def test_a_job_of_a_shared_node_that_was_changed_meanwhile_is_left_alone(place: Path) -> None:
    here = Site(place)
    refused: list[object] = []

    def start(label: str, nodes: object, **more: Any) -> None:
        refused.append(more["as_seen"])
        raise AsksOtherwise(f"job {label} was changed meanwhile (CPUs)")

    here.slurm.start = start
    assert here.look(JOB, at_s=1010.0) == []  # nor is it held again, which others may have done
    assert refused == [JOB]
    assert any("was changed meanwhile (CPUs)" in line for line in here.controller.notes)


@pytest.mark.parametrize(("comment", "told"), [("wattline", [("release", "7", False)]), ("", [])])
def test_one_that_is_moved_to_a_partition_of_slurms_is_let_go(
    place: Path, comment: str, told: list[tuple]
) -> None:
    (place / "site.toml").write_text(
        'twin = "twin.toml"\ncap = 2000\npartitions = ["all"]\n')
    here = Site(place)
    here.cap_w = 305.0
    never = replace(JOB, label="8", job_id=8, partition="other")
    assert here.look(JOB, never, at_s=1010.0) == []
    moved = replace(JOB, partition="other", comment=comment)
    assert here.look(moved, never, at_s=1011.0) == told
    assert here.look(moved, never, at_s=1012.0) == told  # until it is not held any more
    assert here.look(replace(moved, priority=5), never, at_s=1013.0) == []
    assert here.look(moved, never, at_s=1014.0) == []  # its user holds it there


def test_what_is_queued_again_is_tried_in_the_order_in_which_it_came(place: Path) -> None:
    """300 W idle and 345 W: one of 40 W fits. The second was put aside first, and 9 came since."""
    here = Site(place)
    here.cap_w = 345.0
    jobs = [replace(JOB, label=label, job_id=int(label)) for label in ("7", "8")]
    ran = [replace(job, state="RUNNING", node_list=("n1",), start_s=1002.0, priority=5)
           for job in jobs]
    here.look(*ran, at_s=1010.0)
    again = [replace(job, restarts=1, submit_s=submit_s)
             for job, submit_s in zip(jobs, (1030.0, 1020.0), strict=True)]
    since = replace(JOB, label="9", job_id=9, submit_s=1015.0)
    started = here.look(*again, since, at_s=1040.0)
    assert [call[:2] for call in started] == [("start", "7")]
    assert here.starter.last is not None
    assert [job.label for job in here.starter.last.jobs] == ["7", "8", "9"]


def test_a_dry_run_says_what_it_would_start(place: Path) -> None:
    here = Site(place)
    here.starter.prepare()
    here.controller.act = False
    assert here.look(JOB, at_s=1010.0) == []
    assert here.controller.notes == ["would start 7 on n1, 40 W"]
    assert not (Path(here.site.folder) / "decisions.jsonl").exists()


def test_memory_that_counts_as_none_is_said_once(place: Path) -> None:
    here = Site(place)
    here.controller.act = False
    odd = replace(JOB, tres="cpu=4,mem=much,node=1")
    for at_s in (1010.0, 1020.0, 1200.0):
        here.look(odd, at_s=at_s)
    said = [line for line in here.controller.notes if "memory" in line]
    assert said == ["the memory of job 7 cannot be read and counts as none: 'much'"]


def test_a_held_job_starts_once_what_it_depends_on_is_over(place: Path) -> None:
    """Slurm shows the dependency of a held job as unfulfilled however long the other is over."""
    here = Site(place)
    waits = "afterok:7(unfulfilled)"
    here.slurm.wishes = lambda: {  # type: ignore[method-assign]
        "7": WISH, "8": replace(WISH, dependency=waits)}
    second = replace(JOB, label="8", job_id=8, dependency=waits)
    running = replace(JOB, state="RUNNING", node_list=("n1",), priority=5, start_s=1000.0)
    assert here.look(running, second, at_s=1010.0) == []
    done = replace(running, state="COMPLETED", node_list=(), end_s=1020.0)
    assert [call[1] for call in here.look(done, second, at_s=1021.0) if call[0] == "start"] == ["8"]


def test_a_held_job_does_not_start_before_its_time(place: Path) -> None:
    here = Site(place)
    later = replace(JOB, eligible_s=1060.0)
    assert here.look(later, at_s=1010.0) == []
    assert [call[0] for call in here.look(later, at_s=1061.0)] == ["start"]


@pytest.mark.parametrize("nodes", [("x1",), ("x1", "x2")])
def test_a_job_that_runs_on_nodes_elsewhere_takes_none_of_ours(
    place: Path, nodes: tuple[str, ...]
) -> None:
    """It has more CPUs than all nodes here together."""
    here = Site(place)
    runs = replace(JOB, label="3", job_id=3, state="RUNNING", cpus=96, nodes=len(nodes),
                   node_list=nodes, priority=9, start_s=1001.0, comment="")
    assert [call[1] for call in here.look(runs, JOB, at_s=1010.0) if call[0] == "start"] == ["7"]
    assert here.starter.last is not None
    assert [job.label for job in here.starter.last.jobs] == ["7"]
