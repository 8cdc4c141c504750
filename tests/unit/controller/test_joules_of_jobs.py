"""Joules of jobs from what nodes report and Slurm shows, without either of them."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest
from sqlalchemy import select
from tests.support.measured import rows_of
from tests.support.thinned import crossed

from wattline.account.measured.book import MeasuredLedger
from wattline.account.measured.records import Found, Life, LifeKey
from wattline.account.measured.tables import lives, stays
from wattline.account.store import Store
from wattline.controller.joules.commenting import Commenter
from wattline.controller.joules.entering import Writer
from wattline.controller.joules.gathering import Batch, Gathering, Marked
from wattline.controller.joules.keeping import LedgerKeeper
from wattline.controller.joules.matching import Begun, match
from wattline.controller.joules.memory import recalled
from wattline.controller.testbed.joules import joules_of, worst
from wattline.live.fleet import NodeReport
from wattline.live.sensor import Quality
from wattline.live.slurm.commands import SlurmError
from wattline.live.slurm.reading import SlurmJob

T = 1_791_194_400.0
HEAD = ("JobID|JobIDRaw|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|NNodes|AllocCPUS|"
        "NodeList|AllocTRES|ConsumedEnergyRaw|TotalCPU|Suspended\n")


class FakeCommands:
    """Accounting that knows comments, and may be down."""

    def __init__(self) -> None:
        self.comments: dict[str, tuple[str, str]] = {}
        self.sacct, self.down = HEAD, False
        self.end = "2026-10-05T10:00:12"
        self.written: list[str] = []

    def run(self, *command: str) -> str:
        if self.down:
            raise SlurmError("sacct failed: slurmdbd is away")
        if command[0] == "sacctmgr":
            self.written.append(command[-1])
            return ""
        if "-j" not in command:
            return self.sacct
        job = command[command.index("-j") + 1]
        admin, system = self.comments.get(job, ("", ""))
        separator = command[command.index("--delimiter") + 1]
        return separator.join((job, self.end, admin, system)) + "\n"


def job(state: str = "RUNNING", restarts: int = 0, start_s: float = T + 10, **more) -> SlurmJob:
    return SlurmJob("7", 7, restarts, state, 1, 32, 60.0, start_s, more.pop("end_s", math.nan),
                    more.pop("submit_s", T), node_list=("n1",), user="ann", name="a", **more)


def drawn(*at: float, job: str = "") -> list[NodeReport]:
    """A node at 100 W, and at 300 W from 10.5 to 12.5."""
    return [NodeReport("n1", T + each, 0.0, 100.0 * each + 200.0 * min(max(each - 10.5, 0), 2),
                       math.inf, job=job) for each in at]


def gathered() -> Gathering:
    """A job of two seconds, marked at 10.4 and 12.7: 230 + 400 J."""
    found = Gathering("c")
    found.hear(drawn(*range(10)))
    found.look([job("PENDING", start_s=math.nan)], T + 10.0)
    found.hear(drawn(10.4, job="begin 7"))
    found.look([job()], T + 10.5)
    found.hear(drawn(10, 11, 12))
    found.hear(drawn(12.7, job="end 7"))
    found.look([job("COMPLETED", end_s=T + 12)], T + 13.0)
    found.hear(drawn(13, 14, 15))
    return found


@pytest.fixture
def commands():
    return FakeCommands()


@pytest.fixture
def writer(tmp_path, commands):
    with Store(tmp_path / "site.db") as store:
        yield Writer(store, "c", commands, tmp_path)


def life_of(writer: Writer, start_s: float = T + 10):
    with writer.store.session() as session:
        return session.execute(select(lives).where(lives.c.start_s == int(start_s))).one()


def test_a_short_job_has_what_its_node_drew_between_its_marks(writer, commands) -> None:
    writer.enter(gathered().batch({"n1": (5, 17, 0.0)}), T + 20)
    found = life_of(writer)
    assert found.energy_j == pytest.approx(630.0)
    assert (found.label, found.job_id, found.user, found.state) == ("7", 7, "ann", "COMPLETED")
    assert (found.coverage, found.source) == (pytest.approx(1.0), "series")
    assert commands.written == ["AdminComment=energy=630j"]
    assert recalled(writer.folder).seen == {"n1": (5, 17, 0.0)}


def account(*rows: str) -> str:
    """Return what `sacct` says of jobs with half of a node each, from 10:00:10 on."""
    return HEAD + "".join(
        f"{label}|{label}|ann||batch|{state}|2026-10-05T10:00:00|2026-10-05T10:00:10|{end}|{ran}|1|"
        f"16|n1|cpu=16,node=1||{cpu}|00:00:00\n"
        for label, state, end, ran, cpu in (row.split() for row in rows))


ENDED = "7 COMPLETED 2026-10-05T10:00:12 2 00:00:30"
"""Its processor time per second is half of the other's."""


def test_joules_of_a_job_that_shared_its_node_are_written_when_the_others_are_known(
    tmp_path, commands
) -> None:
    """Of 630 J between its marks 230 J are idle power, which goes by cores; the rest goes by
    processor time, which nobody knows while the other runs."""
    found = gathered()
    other = replace(job(), label="8", job_id=8, cpus=16)
    found.hear(drawn(10.4, job="begin 8"))
    found.look([other], T + 11.0)
    found.look([other, replace(job("COMPLETED", end_s=T + 12), cpus=16)], T + 13.5)
    commands.sacct = account(ENDED, "8 RUNNING Unknown 4 00:00:00")
    with Store(tmp_path / "site.db") as store:
        writer = Writer(store, "c", commands, tmp_path, {"idle_w": ["n1=100"]})
        writer.enter(found.batch({}), T + 50)
        assert commands.written == []
        assert life_seven(writer).energy_j == pytest.approx(315.0)  # by cores, until then
        again = Gathering("c")
        again.look([replace(other, state="COMPLETED", end_s=T + 14)], T + 400.0)
        again.hear(drawn(*range(13, 16)))
        again.hear(drawn(14.0, job="end 8"))
        commands.sacct = account(ENDED, "8 COMPLETED 2026-10-05T10:00:14 4 00:02:00")
        writer.enter(again.batch({}), T + 450)
        mine_j = life_seven(writer).energy_j
    assert mine_j == pytest.approx(115.0 + 400.0 * (30 / 2.3) / (30 / 2.3 + 120 / 3.6), rel=1e-3)
    assert f"AdminComment=energy={mine_j:.0f}j" in commands.written
    assert recalled(tmp_path).unsaid == []


def test_joules_of_a_job_do_not_wait_for_one_that_follows_it_on_its_node(
    tmp_path, commands
) -> None:
    """By whole seconds the one may seem to begin before the other has ended."""
    found = gathered()
    other = replace(job(), label="8", job_id=8, start_s=T + 11)
    found.hear(drawn(11.4, job="begin 8"))
    found.look([other, job("COMPLETED", end_s=T + 12)], T + 13.5)
    commands.sacct = account(ENDED)
    with Store(tmp_path / "site.db") as store:
        Writer(store, "c", commands, tmp_path).enter(found.batch({}), T + 50)
    assert any(each.startswith("AdminComment=energy=") for each in commands.written)


@pytest.mark.parametrize("looked", [True, False])
def test_a_job_that_runs_by_accounting_alone_has_no_part_in_joules(
    writer, commands, looked: bool
) -> None:
    """Slurm's accounting never heard of its end, as a slurmctld that is killed forgets seconds."""
    commands.sacct = account("8 RUNNING Unknown 4 00:00:00", ENDED)
    writer.enter(gathered().batch({}) if looked else Batch(), T + 14)
    if not looked:
        writer.enter(gathered().batch({}), T + 15)
    assert life_seven(writer).energy_j == pytest.approx(630.0)
    with writer.store.session() as session:
        assert [row.label for row in session.execute(select(lives))] == ["7"]
    assert writer.remarks == [], "it may have begun after the look"
    writer.enter(Batch(), T + 900)
    writer.enter(Batch(), T + 1800)
    assert life_seven(writer).energy_j == pytest.approx(630.0)
    said, = writer.remarks
    assert said.startswith("accounting says that job 8 runs, and Slurm has no such job")


def test_a_job_that_slurm_shows_too_has_what_accounting_says_of_it(writer, commands) -> None:
    found = gathered()
    found.look([replace(job(), label="8", job_id=8, cpus=16)], T + 14.0)
    commands.sacct = account("8 RUNNING Unknown 4 00:00:00", ENDED)
    writer.enter(found.batch({}), T + 15)
    with writer.store.session() as session:
        other = session.execute(select(lives).where(lives.c.label == "8")).one()
    assert (other.alloc_tres, other.account) == ("cpu=16,node=1", "")
    writer.enter(Batch(), T + 900)
    assert writer.remarks == []


@pytest.mark.parametrize("ends", [False, True])
def test_a_later_size_that_starts_by_itself_is_of_the_life_that_was_seen(
    writer, commands, ends: bool
) -> None:
    """Slurm 24.11 has a record of each size with a start of its own; that of the first may be older
    than what is asked for."""
    found = gathered()
    found.look([job()], T + 10.6)
    writer.enter(found.batch({}), T + 11)
    end = "2026-10-05T10:00:14|3" if ends else "Unknown|4"
    commands.sacct = HEAD + (
        f"7|7|ann||p|{'COMPLETED' if ends else 'RUNNING'}|2026-10-05T10:00:11|2026-10-05T10:00:11|"
        f"{end}|1|32|n1|cpu=32,node=1||00:00:01|00:00:00\n")
    writer.enter(Batch(), T + 400)
    assert (life_seven(writer).start_s, life_seven(writer).submit_s) == (T + 10, T)
    assert (life_seven(writer).end_s == T + 14) is ends


def life_seven(writer: Writer):
    with writer.store.session() as session:
        return session.execute(select(lives).where(lives.c.label == "7")).one()


def test_what_comes_again_after_a_kill_counts_once(tmp_path, commands) -> None:
    once, twice = (Writer(Store(tmp_path / f"{name}.db"), "c", commands, tmp_path / name)
                   for name in ("once", "twice"))
    for each in (once, twice):
        each.folder.mkdir()
    once.enter(gathered().batch({}), T + 20)
    for _ in range(2):
        twice.enter(gathered().batch({}), T + 20)
        twice = Writer(twice.store, "c", commands, twice.folder)
    assert rows_of(once.store) == rows_of(twice.store)


def test_marks_wait_for_their_job_over_a_kill_and_slurms_accounting_tells_of_it(
    writer, commands
) -> None:
    """A job that came and went while no controller ran."""
    found = Gathering("c")
    found.hear(drawn(*range(16)))
    found.hear(drawn(10.4, job="begin 7") + drawn(12.7, job="end 7"))
    commands.down = True
    writer.enter(found.batch({}), T + 20)
    assert "asked again later" in writer.remarks[0]
    commands.down = False
    commands.sacct += ("7|7|ann|phys|p|COMPLETED|2026-10-05T10:00:00|2026-10-05T10:00:10|"
                       "2026-10-05T10:00:12|2|1|32|n1||500|00:00:01|00:00:00\n")
    after = Writer(writer.store, "c", commands, writer.folder)
    after.enter(Batch(), T + 30)
    after.enter(Batch(), T + 45)
    found = life_of(after)
    assert (found.energy_j, found.told_j) == (pytest.approx(630.0), 500.0)


def test_a_job_that_is_queued_again_has_two_lives_with_their_own_joules(writer) -> None:
    """Slurm runs no prolog for the second one: it began between two looks."""
    found = Gathering("c")
    found.hear(drawn(*range(40)))
    found.hear(drawn(10.4, job="begin 7"))
    found.look([job()], T + 10.6)
    found.hear(drawn(12.7, job="end 7"))
    found.look([job("COMPLETING", 1, T + 12, submit_s=T + 12)], T + 12.9)
    found.look([job("PENDING", 1, math.nan, submit_s=T + 12)], T + 13.0)
    found.look([job("PENDING", 1, math.nan, submit_s=T + 12)], T + 20.4)
    found.look([job("RUNNING", 1, T + 20)], T + 20.9)
    found.hear(drawn(30.5, job="end 7"))
    found.look([job("COMPLETED", 1, T + 20, end_s=T + 30)], T + 31.0)
    writer.enter(found.batch({}), T + 40)
    assert life_of(writer).energy_j == pytest.approx(630.0)
    assert life_of(writer).state == "REQUEUED"
    writer.enter(Batch(), T + 61)  # by then a prolog would have come
    assert life_of(writer, T + 20).energy_j == pytest.approx(100.0 * (30.5 - 20.65))
    with writer.store.session() as session:
        assert session.scalars(select(lives.c.start_s)).all() == [T + 10, T + 20]


@pytest.mark.parametrize("over", [
    job("NODE_FAIL", end_s=T + 12), job("PENDING", restarts=1, start_s=math.nan, submit_s=T + 12)])
@pytest.mark.parametrize(("dead", "energy_j"), [(("n1", "n2"), 460.0), (("n2",), 960.0)])
def test_a_job_whose_node_was_lost_ends_with_it_and_not_with_the_epilog_when_it_is_back(
    writer, over: SlurmJob, dead: tuple[str, ...], energy_j: float
) -> None:
    """It began at 10.4 and ended at 12 by Slurm; the epilog ran at 16."""
    found = Gathering("c")
    found.hear(drawn(*range(20)))
    found.hear(drawn(10.4, job="begin 7"))
    found.look([job()], T + 10.6)
    found.look([over], T + 12.5, dead)
    writer.enter(found.batch({}), T + 13)
    found.hear(drawn(16, job="end 7"))
    writer.enter(found.batch({}), T + 20)
    assert life_of(writer).energy_j == pytest.approx(energy_j)


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("seen", [
    [], [job("PENDING", start_s=math.nan, submit_s=T + 13)],
    [job(start_s=T + 14, submit_s=T + 13)]])
def test_a_job_that_slurm_forgot_ends_with_it_and_not_with_the_epilog_of_one_that_has_its_number(
    writer, commands, seen: list[SlurmJob], told: bool
) -> None:
    """It began at 10.4 and accounting cancelled it at 12; the node ran an epilog at 16, of the
    next job of that number. Whether the ledger knows of that job by then is no matter."""
    found = Gathering("c")
    found.hear(drawn(*range(20)))
    found.hear(drawn(10.4, job="begin 7"))
    found.look([job()], T + 10.6)
    found.look(seen, T + 14.5)
    if told:
        writer.enter(found.batch({}), T + 15)
    commands.sacct += ("7|7|ann|phys|p|CANCELLED|2026-10-05T10:00:00|2026-10-05T10:00:10|"
                       "2026-10-05T10:00:12|2|1|32|n1|||00:00:01|00:00:00\n")
    found.hear(drawn(16, job="end 7"))
    writer.enter(found.batch({}), T + 20)
    writer.enter(Batch(), T + 400)
    writer.enter(Batch(), T + 401)
    assert life_of(writer).energy_j == pytest.approx(460.0)


def test_a_job_that_has_the_number_of_one_that_was_forgotten_has_its_own_epilog(writer) -> None:
    found = Gathering("c")
    found.hear(drawn(*range(20)))
    found.hear(drawn(8.2, job="begin 7"))
    found.look([job(start_s=T + 8)], T + 8.5)
    found.hear(drawn(10.4, job="begin 7"))
    found.look([job(submit_s=T + 9)], T + 10.6)  # it runs when it is first seen
    found.look([job("COMPLETED", submit_s=T + 9, end_s=T + 12)], T + 12.5)
    found.hear(drawn(12.7, job="end 7"))
    writer.enter(found.batch({}), T + 20)
    assert life_of(writer).energy_j == pytest.approx(630.0)


@pytest.mark.parametrize("over", [
    [], [job("NODE_FAIL", end_s=T + 12)],
    [job("PENDING", restarts=1, start_s=math.nan, submit_s=T + 12)]])
@pytest.mark.parametrize("seen", [True, False])
def test_a_lost_node_is_remembered_over_a_kill_of_the_controller(
    writer, commands, tmp_path: Path, seen: bool, over: list[SlurmJob]
) -> None:
    """A controller is killed once it has seen the loss, before anything is entered of it, or
    before."""
    def keeper() -> LedgerKeeper:
        return LedgerKeeper(str(tmp_path / "never.db"), "c", commands, tmp_path, 3600.0, [])

    first = keeper()
    first.look([job()], T + 10.6)
    writer.enter(first.gathering.batch({}), T + 10.7)
    if seen:
        first.look(over, T + 12.5, ("n1",))
    after = keeper()
    if seen:
        after.look(over, T + 12.7)  # the node is back
    else:
        after.gathering.recall({"7": (0, ["n1"])})  # from the journal
        after.look(over, T + 12.7, ("n1",))
    after.hear(drawn(*range(20)))
    after.hear(drawn(10.4, job="begin 7") + drawn(16, job="end 7"))
    commands.sacct += ("7|7|ann|phys|p|NODE_FAIL|2026-10-05T10:00:00|2026-10-05T10:00:10|"
                       "2026-10-05T10:00:12|2|1|32|n1|||00:00:01|00:00:00\n")
    again = Writer(writer.store, "c", commands, writer.folder)
    again.enter(after.gathering.batch({}), T + 20)
    again.enter(Batch(), T + 35)
    assert life_of(again).energy_j == pytest.approx(460.0)


@pytest.mark.parametrize(("forgotten_s", "held_to_it"), [
    ({}, True), ({"7": T + 9}, True), ({"7": T + 12}, False), ({"8": T + 12}, True)])
def test_what_slurm_forgot_has_no_epilog_to_be_held_to(
    writer, forgotten_s: dict[str, float], held_to_it: bool
) -> None:
    """The emulator let the node go 20 s later, with the epilog of a job that has its number."""
    writer.enter(gathered().batch({}), T + 20)
    log = [{"held": "7", "node": "n1", "start_s": T + 10.4, "end_s": T + 32.7, "died": False,
            "energy_j": 2630.0, "late_j": 0.0}]
    found = joules_of(writer.folder / "site.db", "c", ["7"], log, forgotten_s)
    assert [(each.true_j, each.ledger_j) for each in found] == [
        (2630.0, pytest.approx(630.0))]
    assert worst(found) == pytest.approx(2000 / 2630) if held_to_it else math.isnan(worst(found))


def test_what_slurm_forgot_while_it_ran_is_held_to_no_epilog(writer) -> None:
    """Slurm was killed at 12 s, and lets the job wait as before; its work went on to 32 s."""
    found = Gathering("c")
    found.hear(drawn(*range(0, 40, 2)))
    found.look([job()], T + 10.6)
    found.look([job("PENDING", start_s=math.nan)], T + 14.5)
    writer.enter(found.batch({}), T + 20)
    log = [{"held": "7", "node": "n1", "start_s": T + 10.4, "end_s": T + 32.7, "died": False,
            "energy_j": 2630.0, "late_j": 0.0}]
    life, = joules_of(writer.folder / "site.db", "c", ["7"], log)
    assert (life.state, life.unended) == ("RUNAWAY", True)
    assert life.error > 0.5
    assert math.isnan(worst([life]))


def test_a_missing_reading_is_no_joule_and_one_after_a_reset_is_said() -> None:
    found = Gathering("c")
    report = drawn(1.0)[0]
    found.hear([replace(report, quality=Quality.MISSING, job="begin 7"),
                replace(report, time_s=T + 2, quality=Quality.RESET, reason="it was reset")])
    assert found.remarks == ["n1: it was reset: what it drew before is in no job's joules"]
    batch = found.batch({})
    assert [at for at, _ in batch.readings["n1"]] == [T + 2]
    assert batch.marks == (Marked("n1", "begin", 7, T + 1),)


def begun(start_s: float, end_s: float = math.nan) -> Begun:
    return Begun(LifeKey("c", "7", int(start_s)), 7, frozenset({"n1", "n2"}), end_s)


@pytest.mark.parametrize(("what", "at_s", "starts", "whose"), [
    ("begin", 10.2, [10], 10), ("end", 12.0, [10], 10), ("begin", 30.1, [10, 30], 30),
    ("end", 29.5, [10, 30], 10), ("end", 31.0, [10, 30], 30), ("begin", 5.0, [40], 40)])
def test_a_mark_is_of_the_life_that_had_begun(what, at_s, starts, whose) -> None:
    found, left = match([Marked("n1", what, 7, at_s)], {7: [begun(each) for each in starts]},
                        over=lambda life: True)
    assert [stay.key.start_s for stay in found] == [whose]
    assert left == []


@pytest.mark.parametrize(("marks", "stay"), [
    ("b10.4 e12.7", (10.4, 12.7)),
    ("b10.4 e12.7 e18.2", (10.4, 12.7)),  # an epilog that ran again
    ("b2.1 e7.5 b10.4 e12.7", (10.4, 12.7)),  # a run that slurmctld forgot when it was killed
    ("b2.1 e7.5 e12.7", (math.nan, 12.7)),  # and no prolog, since slurmd takes it for the same
    ("e10.2 b10.4 e12.7", (10.4, 12.7)),  # of the life before, by a clock that is ahead
    ("b3.4 e5.7", (3.4, 5.7)),  # a clock that is behind
    ("b9.5 b10.4 e12.7", (9.5, 12.7)),
    ("e12.7", (math.nan, 12.7)), ("b10.4", (10.4, math.nan))])
@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.long)])
def test_a_life_has_one_run_of_its_node_in_whichever_order_marks_come(marks, stay, every) -> None:
    told = [Marked("n1", {"b": "begin", "e": "end"}[each[0]], 7, float(each[1:]))
            for each in marks.split()]
    for order in [*permutations(told)][::every]:
        waiting: list[Marked] = []
        with Store("sqlite://") as store:
            ledger = MeasuredLedger(store)
            for mark in (*order, None):
                known = stays_in(store)
                found, waiting = match(
                    [*waiting, *([mark] if mark else [])], {7: [begun(10.0, 12.0)]},
                    {(KEY, "n1"): known[0]} if known else {},
                    over=lambda life, none_comes=mark is None: none_comes)
                ledger.enter(Found("marks", stays=tuple(found)))
            assert waiting == []
            assert stays_in(store) == pytest.approx(stay, nan_ok=True)


KEY = LifeKey("c", "7", 10)


def stays_in(store: Store) -> tuple[float, ...] | None:
    with store.session() as session:
        row = session.execute(select(stays.c.begin_s, stays.c.end_s)).one_or_none()
    return None if row is None else tuple(math.nan if each is None else each for each in row)


def test_an_epilog_that_runs_again_gives_a_job_no_more_joules(writer, commands) -> None:
    """slurmctld was away when it ended, and asks for it again: the node is idle since."""
    writer.enter(gathered().batch({}), T + 20)
    again = Gathering("c")
    again.hear(drawn(16, 17) + drawn(17.5, job="end 7") + drawn(18))
    writer.enter(again.batch({}), T + 21)
    assert life_of(writer).energy_j == pytest.approx(630.0)


@pytest.mark.parametrize("mark", [
    Marked("n9", "end", 7, 12.0), Marked("n1", "end", 8, 12.0), Marked("n1", "end", 7, 99.0)])
def test_a_mark_of_no_life_that_is_known_waits(mark) -> None:
    assert match([mark], {7: [begun(10.0, 30.0)]}) == ([], [mark])


@pytest.mark.parametrize(("there", "written"), [
    (("", ""), "AdminComment=energy=630j"),
    (("held for maintenance", ""), "AdminComment=held for maintenance; energy=630j"),
    (("Ask Ann", ""), "SystemComment=energy=630j")])
def test_joules_are_written_behind_what_others_wrote(commands, there, written) -> None:
    commands.comments["7"] = there
    assert Commenter(commands).say("7", 630.2) == ""
    assert commands.written == [written]


@pytest.mark.parametrize(("there", "said"), [
    (("energy=630j", ""), ""), (("Ask Ann", "Bob's"), "in no comment")])
def test_joules_are_not_written_twice_nor_over_anybodys_text(commands, there, said) -> None:
    commands.comments["7"] = there
    assert said in Commenter(commands).say("7", 630.2)
    assert commands.written == []


def test_comments_are_written_once_accounting_is_back(writer, commands) -> None:
    commands.down = True
    writer.enter(gathered().batch({}), T + 20)
    assert commands.written == []
    commands.down = False
    after = Writer(writer.store, "c", commands, writer.folder)
    after.enter(Batch(), T + 500)
    after.enter(Batch(), T + 501)
    assert commands.written == ["AdminComment=energy=630j"]


def test_nothing_is_written_before_accounting_knows_that_a_job_is_over(writer, commands) -> None:
    """The news of its end would take it away again."""
    commands.end = "Unknown"
    with pytest.raises(SlurmError, match="does not know yet"):
        Commenter(commands).say("7", 630.2)
    writer.enter(gathered().batch({}), T + 20)
    assert commands.written == []
    commands.end = "2026-10-05T10:00:12"
    writer.enter(Batch(), T + 21)
    assert commands.written == ["AdminComment=energy=630j"]


class Fleet:
    def seen(self):
        return {"n1": (5, 17, 0.0)}


def test_a_keeper_enters_in_its_own_thread_and_all_at_its_end(tmp_path, commands) -> None:
    notes: list[str] = []
    keeper = LedgerKeeper(str(tmp_path / "site.db"), "c", commands, tmp_path, 0.01, notes)
    keeper.gathering = gathered()
    until_s = time.monotonic() + 20.0
    while not recalled(tmp_path).seen and time.monotonic() < until_s:
        keeper.keep(Fleet())
        time.sleep(0.02)
    assert recalled(tmp_path).seen == Fleet().seen()
    keeper.hear(drawn(16, 17))
    keeper.close()
    with Store(tmp_path / "site.db") as store:
        entered = MeasuredLedger(store).enter(Found("", (Life(LifeKey("c", "7", int(T + 10))),)))
        assert entered.energy_j == pytest.approx(630.0)
    assert notes == []


def test_a_store_that_is_away_is_said_once_and_tried_again(tmp_path, commands) -> None:
    notes: list[str] = []
    place = tmp_path / "there" / "site.db"
    keeper = LedgerKeeper(str(place), "c", commands, tmp_path, 0.01, notes)
    keeper.gathering = gathered()
    until_s = time.monotonic() + 20.0
    while not notes and time.monotonic() < until_s:
        keeper.keep(Fleet())
        time.sleep(0.02)
    assert ["tried again" in note for note in notes] == [True]
    Path(place.parent).mkdir()
    keeper.close()
    with Store(place) as store, store.session() as session:
        assert session.scalars(select(lives.c.energy_j)).one() == pytest.approx(630.0)


NODES = ("n1", "n2", "n3")


@pytest.mark.parametrize(("marked", "stays_on", "together"), crossed(
    [True, False], [("n2", "n3"), ("n1",), ("n1", "n3")], [True, False],
    later=pytest.mark.long, together=2))
def test_a_job_that_gives_nodes_back_has_what_they_drew_until_then(
    writer, commands, marked, stays_on, together
) -> None:
    """Three nodes of 100 W from 10 s on; some are left at 14 s, others at the end, 20 s."""
    found = Gathering("c")
    batches = []

    def look(at_s: float, state: str, nodes: tuple[str, ...]) -> None:
        found.look([replace(job(state, end_s=T + 20 if state == "COMPLETED" else math.nan),
                            nodes=len(nodes), node_list=nodes)], T + at_s)
        if not together:
            batches.append(found.batch({}))

    def mark(at_s: float, what: str, nodes: tuple[str, ...]) -> None:
        found.hear(NodeReport(node, T + at_s, 0.0, 100.0 * at_s, math.inf, job=f"{what} 7")
                   for node in nodes if marked or node in stays_on)

    found.hear(NodeReport(node, T + at_s, 0.0, 100.0 * at_s, math.inf)
               for node in NODES for at_s in range(5, 30))
    found.look([job("PENDING", start_s=math.nan)], T + 9.5)
    mark(10.0, "begin", NODES)
    look(10.5, "RUNNING", NODES)
    look(13.5, "RUNNING", NODES)
    mark(14.0, "end", tuple(node for node in NODES if node not in stays_on))
    look(14.5, "RUNNING", stays_on)
    look(20.0, "COMPLETING", stays_on[-1:])  # those that it has not left yet
    mark(20.0, "end", stays_on)
    look(20.5, "COMPLETED", stays_on)
    for batch in (*batches, found.batch({})):
        writer.enter(batch, T + 60)
    writer.enter(Batch(), T + 120)  # no more marks are waited for
    wanted_j = 1000.0 * len(stays_on) + 400.0 * (3 - len(stays_on))
    assert life_of(writer).energy_j == pytest.approx(wanted_j)
    assert life_of(writer).nodes == 3


@pytest.mark.parametrize("looks", [True, False])
def test_a_run_that_slurm_forgot_to_have_started_ends_with_the_look_that_shows_it(
    writer, looks: bool
) -> None:
    """It began at 10.4, waits at 14.5 as if it never had (same number, restarts, submission), its
    node marks an end at 232 when the next run is to begin, and that one runs from 250 to 280."""
    found = Gathering("c")
    found.hear(drawn(*range(0, 300, 2)))
    found.hear(drawn(10.4, job="begin 7"))
    found.look([job()], T + 10.6)
    if looks:
        found.look([job("PENDING", start_s=math.nan)], T + 14.5)
    writer.enter(found.batch({}), T + 20)
    found.hear(drawn(232.0, job="end 7"))
    found.hear(drawn(250.4, job="begin 7"))
    found.look([job(start_s=T + 250)], T + 250.6)
    found.hear(drawn(280.4, job="end 7"))
    found.look([job("COMPLETED", start_s=T + 250, end_s=T + 280)], T + 281.0)
    writer.enter(found.batch({}), T + 290)
    writer.enter(Batch(), T + 400)
    first, second = life_of(writer), life_of(writer, T + 250)
    assert first.state == "RUNAWAY"
    assert first.end_s - T == pytest.approx(14.5 if looks else 10.6)
    # Of the second between the readings at 10 and 12 a part is the job's.
    assert first.energy_j == pytest.approx(100 * 4.1 + 400 if looks else 50.0, rel=0.2)
    assert (second.state, second.energy_j) == ("COMPLETED", pytest.approx(3000.0))
