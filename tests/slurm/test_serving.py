"""The controller as a site runs it: its file, its folder, its caps, and whatever ends it."""

from __future__ import annotations

import itertools
import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import tomli_w

from tests.slurm.bedside import (
    LONG_S,
    OURS,
    PATIENCE_S,
    STARTED,
    cap_w,
    finish,
    runs,
    slurm,
    submit,
    under_s,
    until,
)
from tests.slurm.pace import Pace
from wattline.controller.answers import explained
from wattline.controller.configuration import SiteConfig, read_configuration
from wattline.controller.controller import Controller
from wattline.controller.lease import age_s, renew, watchdog
from wattline.controller.serving import serving
from wattline.controller.status import read_status
from wattline.controller.testbed.agents import agents_of
from wattline.controller.testbed.conditions import Conditions
from wattline.controller.testbed.faults import deck
from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.running import replays, run_workload
from wattline.controller.testbed.workload import BedJob
from wattline.live.slurm.client import Slurm
from wattline.live.slurm.commands import Commands
from wattline.model.errors import WattlineError
from wattline.scenario.asking import replay_journal

SITE = """nodes = "n[0001-0006]"
node_idle_w = 90
node_active_w = 300
node_least_w = 120
cap = 1300
slurm_conf = "{bed}/etc/slurm.conf"
folder = "controller"
"""


def site_file(bed: Bed, tmp_path: Path, more: str = "") -> Path:
    file = tmp_path / "site.toml"
    file.write_text(SITE.format(bed=bed.folder) + more)
    return file


def site(bed: Bed, tmp_path: Path, more: str = "") -> SiteConfig:
    agents = agents_of(bed)
    broker = tomli_w.dumps({"broker": agents.pop("broker")})
    return read_configuration(site_file(bed, tmp_path, tomli_w.dumps(agents) + more + broker))


def cycles(here: Controller, ready: Callable[[], bool]) -> list[str]:
    """Cycle until it is so; what was said on the way."""
    said: list[str] = []

    def done() -> bool:
        said.extend(here.cycle().remarks)
        return ready()

    until(done)
    return said


def drawn_w(bed: Bed) -> float:
    """Of the whole machine, by its counters."""
    return sum(float((bed.meters / name / "pm_counters" / "power").read_text().split()[0])
               for name in bed.names)


def started(bed: Bed, here: Controller, count: int, nodes: int, watts: int) -> list[str]:
    labels = [submit(bed, LONG_S, watts, *OURS, "-N", str(nodes), "-t", "20", "--requeue",
                     "-L", f"watts:{watts * nodes}") for _ in range(count)]
    cycles(here, lambda: all(runs(bed, label) for label in labels))
    until(lambda: drawn_w(bed) >= count * nodes * watts)
    here.cycle()
    return labels


def command(file: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "wattline", "controller", "--config", str(file), *options],
        capture_output=True, text=True, check=False, timeout=PATIENCE_S)


def test_the_command_says_what_it_would_do_and_does_it_with_act(bed: Bed, tmp_path: Path) -> None:
    file = site_file(bed, tmp_path)
    label = submit(bed, LONG_S, 250, *OURS, "-N", "2", "-t", "20", "-L", "watts:500")
    dry = command(file, "--cycles", "1")
    assert f"would start {label} on n0001,n0002" in dry.stdout
    assert "nothing is started" in dry.stderr
    done = command(file, "--act", "--cycles", "2", "--json")
    assert done.returncode == 0, done.stderr
    until(lambda: runs(bed, label))
    journal, = (tmp_path / "controller").glob("*.journal")
    assert replays(journal)


def test_a_second_controller_of_a_folder_is_refused(bed: Bed, tmp_path: Path) -> None:
    with serving(site(bed, tmp_path), act=False):
        second = command(tmp_path / "site.toml", "--cycles", "1")
    assert second.returncode == 1
    assert "another controller holds" in second.stderr
    assert second.stderr.count("\n") <= 2


def test_a_lowered_cap_lowers_nodes_within_two_seconds_and_a_raised_one_lifts_them(
    bed: Bed, tmp_path: Path, pace: Pace
) -> None:
    """Four nodes at 240 W and two idle ones draw 1,140 W; at 900 W all four come down."""
    cap = tmp_path / "cap"
    cap.write_text("1.3kW")
    with serving(site(bed, tmp_path, 'cap_file = "cap"\n'), act=True) as here:
        started(bed, here, count=2, nodes=2, watts=240)
        cap.write_text("900W")
        begin_s = time.time()
        cycles(here, lambda: drawn_w(bed) <= 900.0)
        cycles(here, lambda: time.time() > begin_s + 5.0)  # and stays there, whatever readings say
        assert under_s(bed, 900.0, begin_s) < 2.0 * pace.slowest(begin_s)
        assert drawn_w(bed) > 850.0
        assert {cap_w(bed, name) < 240.0 for name in bed.names[:4]} == {True}
        label = submit(bed, 5, 200, *OURS, "-N", "1", "-t", "1", "-L", "watts:200")
        here.cycle()
        here.cycle()
        assert not runs(bed, label), "what is saved by caps is not there to be spent"
        cap.write_text("1300")
        cycles(here, lambda: drawn_w(bed) >= 1140.0)
        cap.write_text("900")
        here.cycle()
        until(lambda: cap_w(bed, "n0001") < 240.0)
        cycles(here, lambda: drawn_w(bed) <= 900.0)
    # A stop lifts no cap that the jobs which go on need.
    assert any("W at full speed, above the cap of 900 W" in line for line in here.notes)
    until(lambda: cap_w(bed, bed.names[-1]) == 400.0)  # the one without a job
    time.sleep(1.0)
    assert drawn_w(bed) <= 900.0
    cap.write_text("1300")
    with serving(site(bed, tmp_path, 'cap_file = "cap"\n'), act=True) as here:
        here.cycle()
    until(lambda: {cap_w(bed, name) for name in bed.names} == {400.0})  # now it restores


def test_where_caps_are_not_enough_the_last_job_is_suspended_and_goes_on_later(
    bed: Bed, tmp_path: Path
) -> None:
    """Four busy nodes cannot draw less than 4 x 120 + 2 x 90 = 660 W."""
    cap = tmp_path / "cap"
    cap.write_text("1300")
    more = 'cap_file = "cap"\nwhen_short = "suspend"\n'
    with serving(site(bed, tmp_path, more), act=True) as here:
        first, last = started(bed, here, count=2, nodes=2, watts=240)
        cap.write_text("620")
        cycles(here, lambda: drawn_w(bed) <= 620.0)
        assert slurm(bed, "squeue", "-h", "-j", last, "-o", "%T") == "SUSPENDED"
        assert runs(bed, first)
        here.cycle()
    # The stop has not let it go on, which would break the cap; the next start does.
    assert any(f"job {last} stays suspended" in line for line in here.notes)
    assert slurm(bed, "squeue", "-h", "-j", last, "-o", "%T") == "SUSPENDED"
    assert drawn_w(bed) <= 620.0
    cap.write_text("1300")
    with serving(site(bed, tmp_path, more), act=True) as here:
        cycles(here, lambda: drawn_w(bed) >= 1140.0)
    assert runs(bed, last)


def test_where_caps_are_not_enough_the_last_job_is_requeued_and_begins_again(
    bed: Bed, tmp_path: Path
) -> None:
    """The same 660 W; a job that was requeued waits held, for the controller to start it again."""
    cap = tmp_path / "cap"
    cap.write_text("1300")
    more = 'cap_file = "cap"\nwhen_short = "requeue"\n'
    with serving(site(bed, tmp_path, more), act=True) as here:
        first, last = started(bed, here, count=2, nodes=2, watts=240)
        cap.write_text("620")
        said = cycles(here, lambda: drawn_w(bed) <= 620.0)
        said += here.cycle().remarks  # what a cycle does last is said by the next
        assert f"job {last} was requeued: caps of nodes are not enough" in said
        until(lambda: slurm(  # once its last node has been left
            bed, "squeue", "-h", "-j", last, "-O", "State:9,PriorityLong") == "PENDING  0")
        assert runs(bed, first)
        cap.write_text("1300")
        cycles(here, lambda: runs(bed, last))
        cycles(here, lambda: drawn_w(bed) >= 1140.0)
    assert "Restarts=1" in slurm(bed, "scontrol", "show", "job", last)
    journal, = (tmp_path / "controller").glob("*.journal")
    assert replays(journal)


def test_of_others_jobs_one_that_can_be_is_requeued_for_slurm_to_start_again(
    bed: Bed, tmp_path: Path
) -> None:
    """The last, which Slurm must not requeue, is passed over; without our mark nobody would release
    the other one if it were held."""
    cap = tmp_path / "cap"
    cap.write_text("1300")
    more = 'cap_file = "cap"\nwhen_short = "requeue"\n'
    with serving(site(bed, tmp_path, more), act=True) as here:
        first, last = (submit(bed, LONG_S, 240, "-N", "2", "-t", "20", may) for may in (
            "--requeue", "--no-requeue"))
        cycles(here, lambda: runs(bed, first) and runs(bed, last) and drawn_w(bed) >= 1140.0)
        cap.write_text("650")  # four busy nodes cannot draw less than 660 W
        said = cycles(here, lambda: drawn_w(bed) <= 650.0)
        said += here.cycle().remarks
        assert sum(f"job {last} could not be put aside" in each for each in said) == 1, said
        assert f"job {first} was requeued: caps of nodes are not enough" in said
        assert runs(bed, last)
        waits = partial(slurm, bed, "squeue", "-h", "-j", first, "-O", "State:20,PriorityLong")
        until(lambda: waits().split()[0] == "PENDING")
        assert int(waits().split()[1]) > 0


def test_a_job_on_the_nodes_of_a_suspended_one_is_counted_and_capped(
    bed: Bed, tmp_path: Path
) -> None:
    """Slurm gives the nodes of a job that an operator suspends to others."""
    with serving(site(bed, tmp_path), act=True) as here:
        aside = submit(bed, LONG_S, 120, "-N", "6", "-t", "20")
        cycles(here, lambda: runs(bed, aside))
        slurm(bed, "scontrol", "suspend", aside)
        loud = submit(bed, LONG_S, 300, "-N", "5", "-t", "20")
        cycles(here, lambda: runs(bed, loud))
        cycles(here, lambda: min(map(partial(cap_w, bed), bed.names[:5])) < 300.0)
        cycles(here, lambda: 1200.0 < drawn_w(bed) <= 1300.0)
        found = explained(here, site(bed, tmp_path), {"job": loud}).result
        assert found["reason"] == "running", found
    # Suspended as it is, and with another on its nodes, Slurm can take minutes to end it.
    slurm(bed, "scancel", loud)
    until(lambda: not slurm(bed, "squeue", "-h", "-j", loud))
    slurm(bed, "scontrol", "resume", aside)


def test_jobs_that_draw_more_than_they_say_are_brought_down_and_counted(
    bed: Bed, tmp_path: Path
) -> None:
    """Four nodes say 200 W and draw 300: 1,380 W with the idle ones."""
    with serving(site(bed, tmp_path), act=True) as here:
        for _ in range(2):
            submit(bed, LONG_S, 300, *OURS, "-N", "2", "-t", "20", "-L", "watts:400")
        cycles(here, lambda: here.books.power_w > 1300.0)
        cycles(here, lambda: min(map(partial(cap_w, bed), bed.names)) < 300.0)
        cycles(here, lambda: 1200.0 < drawn_w(bed) <= 1300.0)


def test_a_level_of_the_policy_becomes_caps_of_nodes(bed: Bed, tmp_path: Path) -> None:
    cap = tmp_path / "cap"
    cap.write_text("1300")
    more = 'cap_file = "cap"\n[policy]\npower = "dvfs"\n'
    with serving(site(bed, tmp_path, more), act=True) as here:
        started(bed, here, count=2, nodes=2, watts=240)
        cap.write_text("1050")
        cycles(here, lambda: bool(here.hands.caps.nodes_w))
        cycles(here, lambda: drawn_w(bed) <= 1050.0)
        assert here.hands.level < 1.0


def test_nodes_are_switched_off_for_a_job_to_fit_and_on_again(bed: Bed, tmp_path: Path) -> None:
    """A node at 300 W beside five idle ones draws 750 W; some of them must go off for 600 W."""
    scenario = tmp_path / "shut.toml"
    scenario.write_text('[policy]\nplacement = "first-fit"\n'
                        'power = { name = "adaptive", strategy = "shut" }\n')
    cap = tmp_path / "cap"
    cap.write_text("600")
    more = (f'cap_file = "cap"\nscenario = "{scenario}"\nnode_off_w = 5\nnode_boot = 3\n'
            'node_shutdown = 6\n')
    with serving(site(bed, tmp_path, more), act=True) as here:
        here.cycle()
        label = submit(bed, LONG_S, 300, *OURS, "-N", "1", "-t", "20", "-L", "watts:300")
        cycles(here, lambda: runs(bed, label))
        until(lambda: drawn_w(bed) >= 300.0)
        assert drawn_w(bed) <= 600.0
        off = set(here.watcher.off)
        assert off
        assert not here.watcher.down
        slurm(bed, "scancel", label)
        cap.write_text("1300")
        # It needs more nodes than can be busy together, so they come on when nothing else runs.
        wide = submit(bed, LONG_S, 120, *OURS, "-N", "5", "-t", "2", "-L", "watts:600")
        cycles(here, lambda: runs(bed, wide))
        assert len(here.watcher.off) < len(off)
        slurm(bed, "scancel", wide)
    # A stop switches on what is off because of it.
    until(lambda: not any((bed.meters / name / "off").exists() for name in bed.names))
    until(lambda: set(slurm(bed, "sinfo", "-h", "-N", "-o", "%t").split()) == {"idle"})
    journal, = (tmp_path / "controller").glob("*.journal")
    assert replays(journal)


def test_in_guard_mode_slurm_decides_and_the_cap_holds(bed: Bed, pace: Pace) -> None:
    jobs = [BedJob(number, 0.3 * number, 3.0, 60.0, 1 + number % 2, 250.0) for number in range(5)]
    begin_s = time.time()
    found = run_workload(bed, jobs, Conditions(1000.0, "guard"))
    assert (found.finished, found.lost, found.doubled) == (5, (), ())
    assert found.above_cap_s_max <= 2.0 * pace.slowest(begin_s)
    assert found.replay_equal is None, "Slurm has decided: there is nothing to compare"
    assert max(watts for _, watts in found.power_w) > 750.0
    assert found.decisions == 0


class Process:
    """The command as a process of its own."""

    def __init__(self, file: Path) -> None:
        self.folder = file.parent / "controller"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "wattline", "controller", "--config", str(file), "--act"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        STARTED.append(self.process)

    def until_ready(self) -> Process:
        """After its first cycle, which ends with the status; one before it may have left others."""
        until(lambda: self._shown() == self.process.pid or self.process.poll() is not None)
        return self

    def _shown(self) -> int | None:
        try:
            return int(read_status(self.folder, running=False)["pid"])
        except WattlineError:
            return None

    def end(self, how: signal.Signals) -> int:
        self.process.send_signal(how)
        self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode


def test_a_killed_controller_comes_back_with_the_same_books(bed: Bed, tmp_path: Path) -> None:
    file = site_file(bed, tmp_path)
    running = Process(file).until_ready()
    labels = [submit(bed, LONG_S, 200, *OURS, "-N", "2", "-t", "20", "-L", "watts:400")
              for _ in range(4)]
    # A start that was decided and not done when it is killed is rightly decided again.
    until(lambda: all(runs(bed, label) for label in labels[:3]))
    assert running.end(signal.SIGKILL) == -signal.SIGKILL
    slurm(bed, "scancel", labels[0])  # meanwhile
    running = Process(file).until_ready()
    # What the first has left goes to the one that waited, and none of the others starts twice.
    until(lambda: all(runs(bed, label) for label in labels[1:]))
    assert running.end(signal.SIGTERM) == 0
    journal, = (tmp_path / "controller").glob("*.journal")
    text = journal.read_text()
    assert replays(journal)
    asked = replay_journal(journal)
    assert (asked.jobs, asked.complete) == (len(labels), True)
    for label in labels:
        decided = [line for line in text.splitlines() if f'["start","{label}"' in line]
        assert len(decided) == 1, decided


def test_a_controller_whose_disk_is_full_leaves_its_jobs_to_slurm_and_says_so(
    bed: Bed, tmp_path: Path
) -> None:
    """Two jobs of four nodes: one waits until the other is done. A third comes later."""
    place = tmp_path / "controller"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)],
                      check=False).returncode:
        pytest.skip("no small disk can be mounted here")
    four = (*OURS, "-N", "4", "-t", "20", "-L", "watts:800")
    try:
        file = site_file(bed, tmp_path, 'save = 3600\nlease = "3s"\n')
        running = Process(file).until_ready()
        first, waiting = submit(bed, LONG_S, 200, *four), submit(bed, LONG_S, 200, *four)
        until(lambda: runs(bed, first))
        subprocess.run(["dd", "if=/dev/zero", f"of={place}/fill", "bs=4k"], check=False,
                       stderr=subprocess.DEVNULL)
        said = running.process.communicate(timeout=PATIENCE_S)[1]
        assert running.process.returncode == 1
        assert "cannot be written" in said
        assert "1 waiting job left to Slurm, with watts as licences under 1,300 W" in said
        assert "Traceback" not in said
        assert runs(bed, first)
        later = submit(bed, LONG_S, 200, *OURS, "-N", "1", "-t", "20")
        until(lambda: age_s(place) > 3.0)
        here, heard = read_configuration(file), list[str]()
        watchdog(here, Slurm(Commands(here.environment)), heard.append,
                 stop=iter([False, True]).__next__)
        assert f"job {later} was released" in heard
        finish(bed, first, 4)
        until(lambda: runs(bed, waiting) and runs(bed, later))
        assert drawn_w(bed) <= 1300.0
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_the_watchdog_hands_jobs_to_slurm_when_the_controller_is_silent(
    bed: Bed, tmp_path: Path
) -> None:
    here = site(bed, tmp_path, "lease = 10\n")  # longer than it takes to submit a job below
    ours = submit(bed, LONG_S, 200, *OURS, "-N", "1", "-t", "20")
    held = submit(bed, LONG_S, 200, "-H", "-N", "1", "-t", "20")
    operators = submit(bed, LONG_S, 200, *OURS, "-N", "1", "-t", "20")
    slurm(bed, "scontrol", "hold", operators)
    said: list[str] = []
    begin_s = time.monotonic()
    try:
        watchdog(here, Slurm(Commands(here.environment)), said.append,
                 stop=lambda: time.monotonic() > begin_s + 1.0)
        assert f"job {ours} was released" in said
        until(lambda: runs(bed, ours))
        assert "watts:300" in slurm(bed, "squeue", "-h", "-j", ours, "-O", "Licenses:40")
        for job in (held, operators):
            assert slurm(bed, "squeue", "-h", "-j", job, "-o", "%T") == "PENDING"
        with serving(here, act=True) as controller:
            controller.cycle()
            assert controller.watcher.told[ours].running
            submit(bed, LONG_S, 200, *OURS, "-N", "1", "-t", "20")
            watchdog(here, Slurm(Commands(here.environment)), said.clear,
                     stop=iter([False, True]).__next__)
            assert not any("released" in each for each in said[2:])
    finally:
        slurm(bed, "scontrol", "delete", "ReservationName=wattline-cap")


def test_the_watchdog_keeps_the_cap_that_the_silent_controller_kept(
    bed: Bed, tmp_path: Path
) -> None:
    here = site(bed, tmp_path, "lease = 0.5\ncycle = 0.25\n")
    Path(here.folder).mkdir()
    renew(Path(here.folder), "decide", 800.0)  # one job and five idle nodes: 750 W; two: 960 W
    time.sleep(0.6)
    first, second = (submit(bed, LONG_S, 200, *OURS, "-N", "1", "-t", "20") for _ in range(2))
    said: list[str] = []
    try:
        watchdog(here, Slurm(Commands(here.environment)), said.append,
                 stop=iter([False, True]).__next__)
        assert "under 800 W" in said[0]
        assert {f"job {label} was released" for label in (first, second)} <= set(said)
        until(lambda: runs(bed, first) or runs(bed, second))
        waiting = second if runs(bed, first) else first
        until(lambda: slurm(bed, "squeue", "-h", "-j", waiting, "-o", "%r") == "Licenses")
    finally:
        slurm(bed, "scontrol", "delete", "ReservationName=wattline-cap")


def test_what_drained_nodes_draw_is_kept_from_the_cap(bed: Bed, tmp_path: Path) -> None:
    """Of six nodes three are drained: three at 380 W beside them would draw 1,410 W of 1,300."""
    drained, others = "nodename=n[0004-0006]", "nodename=n[0001-0003]"
    slurm(bed, "scontrol", "update", drained, "state=drain", "reason=test")
    try:
        with serving(site(bed, tmp_path), act=True) as here:
            said = here.cycle().remarks
            assert any("270 W that they draw are kept from the cap" in each for each in said)
            labels = [submit(bed, LONG_S, 380, *OURS, "-N", "1", "-t", "20", "-L", "watts:380")
                      for _ in range(3)]
            cycles(here, lambda: all(runs(bed, label) for label in labels[:2]))
            cycles(here, lambda: drawn_w(bed) >= 1020.0)
            here.cycle()
            assert not runs(bed, labels[2])
            assert drawn_w(bed) <= 1300.0
            slurm(bed, "scontrol", "update", others, "state=drain", "reason=test")
            cycles(here, lambda: len(here.watcher.down) == 6)  # two of them with their jobs
            shown = partial(read_status, tmp_path / "controller")
            cycles(here, lambda: shown()["measured_w"] == pytest.approx(drawn_w(bed), rel=0.03))
            assert shown()["not_measured"] == []
            slurm(bed, "scontrol", "update", drained, "state=resume")
            slurm(bed, "scontrol", "update", others, "state=resume")
            cycles(here, lambda: not here.books.reservations)
    finally:
        for nodes in (drained, others):
            if "drain" in slurm(bed, "sinfo", "-h", "-N", "-o", "%T", "-n", nodes.split("=")[1]):
                slurm(bed, "scontrol", "update", nodes, "state=resume")


@pytest.mark.parametrize("away", [pytest.param("restarted", marks=pytest.mark.long), "killed"])
def test_whatever_goes_wrong_nothing_is_lost_or_done_twice(
    bed: Bed, pace: Pace, away: str
) -> None:
    wanted = {"the controller is killed", f"slurmctld is {away}"}
    seed = next(seed for seed in itertools.count()
                if set(deck(random.Random(seed))[:2]) == wanted)
    jobs = [BedJob(number, 2.0 * number, 4.0 + number % 5, 60.0, 1 + number % 3, 230.0)
            for number in range(6)]  # as long as both faults take
    begin_s = time.time()
    found = run_workload(bed, jobs, Conditions(
        1300.0, policies={"power": "block", "placement": "first-fit"}, faults=seed))
    assert wanted <= {each.partition(" s: ")[2] for each in found.faults}
    assert (found.finished, found.lost, found.doubled) == (6, (), ()), found.remarks
    assert found.above_cap_s_max <= 2.0 * pace.slowest(begin_s)
    assert found.energy_error_max <= 0.03, found.joules
    assert found.replay_equal
    assert json.dumps(found.to_dict())
