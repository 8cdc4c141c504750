"""Simulated policies on a real Slurm: each mechanism happens, and its journal replays."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.slurm.bedside import (
    LONG_S,
    OURS,
    PATIENCE_S,
    cap_w,
    finish,
    runs,
    slurm,
    submit,
    under_s,
    until,
)
from tests.slurm.pace import Pace
from tests.slurm.test_serving import cycles, drawn_w, site
from wattline.books import explain
from wattline.controller.answers import fairshare
from wattline.controller.configuration import read_configuration
from wattline.controller.controller import Controller
from wattline.controller.serving import serving
from wattline.controller.status import ahead
from wattline.controller.testbed.layout import Bed
from wattline.live.transport.broker import SIGNAL, target_topic
from wattline.live.transport.link import Link

Serve = Callable[[str], Controller]
TABLE = "application,nodes,cores,cap_w,time_s,power_w\n" + "".join(
    f"lu,{nodes},16,{cap},{40 / nodes * slower:g},{nodes * watts}\n" for nodes in (1, 2, 3, 4)
    for cap, slower, watts in ((65, 1.3, 180), (115, 1.0, 240)))
CLAIMS = """application,node_class,threads,cap_w,nodes,time_s,energy_j
lu,big,8,,1,10,2400
lu,small,4x2,35,1,10,1500
"""
VIEWS = """[views.power]
bounds = [{used = "power_w", limit = "limit_w"}]
keys = [{name = "power_w", unit = "W", inherit = "children_sum"}, {name = "limit_w", unit = "W"}]
entities = [
  {name = "hall"},
  {name = "pdu0", parent = "hall", limit_w = 700},
  {name = "pdu1", parent = "hall", limit_w = 700},
  {name = "n[0001-0003]", type = "node", parent = "pdu0", power_w = 90},
  {name = "n[0004-0006]", type = "node", parent = "pdu1", power_w = 90},
]
"""


@pytest.fixture(scope="module")
def replaying() -> Iterator[dict[str, subprocess.Popen[str]]]:
    """Replays of journals, each in a process of its own while the next test runs."""
    started: dict[str, subprocess.Popen[str]] = {}
    yield started
    for name, process in started.items():
        said = process.communicate(timeout=PATIENCE_S)[0]
        found = json.loads(said)
        assert found["equal"] is (True if found["decisions"] else None), f"{name}: {said}"
        assert (found["decisions"] == 0) == ("guard" in name), f"{name}: {said}"


@pytest.fixture
def serve(bed: Bed, tmp_path: Path, request: pytest.FixtureRequest,
          replaying: dict[str, subprocess.Popen[str]]) -> Iterator[Serve]:
    """A controller with these lines in its site's file; afterwards its journal must replay."""
    opened = []

    def start(more: str) -> Controller:
        context = serving(site(bed, tmp_path, more), act=True)
        opened.append(context)
        return context.__enter__()

    yield start
    for context in opened:
        context.__exit__(None, None, None)
    journal, = (tmp_path / "controller").glob("*.journal")
    replaying[request.node.name] = subprocess.Popen(
        [sys.executable, "-m", "wattline", "replay", str(journal), "--json"],
        stdout=subprocess.PIPE, text=True)


def ours(bed: Bed, nodes: int | str, watts: int, *more: str) -> str:
    most = int(str(nodes).split("-")[-1])
    return submit(bed, LONG_S, watts, *OURS, "-N", str(nodes), "-t", "20", "-L",
                  f"watts:{watts * most}", *more)


def nodes_of(bed: Bed, job: str) -> str:
    return slurm(bed, "squeue", "-h", "-j", job, "-o", "%N")


def node_w(bed: Bed, name: str) -> float:
    return float((bed.meters / name / "pm_counters" / "power").read_text().split()[0])


def test_jobs_start_at_a_lower_frequency_where_the_cap_has_no_room_for_the_highest(
    bed: Bed, serve: Serve
) -> None:
    """Six nodes at 240 W would draw 1,440 W of 1,300."""
    here = serve('[policy]\npower = { name = "adaptive", strategy = "dvfs" }\n')
    first, second = ours(bed, 3, 240), ours(bed, 3, 240)
    cycles(here, lambda: runs(bed, first) and runs(bed, second))
    cycles(here, lambda: min(node_w(bed, name) for name in bed.names) > bed.power.least_w)
    cycles(here, lambda: drawn_w(bed) <= 1300.0)
    assert {cap_w(bed, name) < 240.0 for name in bed.names[3:]} == {True}
    # The cap goes with its first life. An operator holds the next, or it could begin, and lower the
    # same nodes, in the very look that shows the end of the first.
    slurm(bed, "scontrol", "requeue", second)
    until(lambda: slurm(bed, "squeue", "-h", "-j", second, "-o", "%T") == "PENDING")
    slurm(bed, "scontrol", "hold", second)
    cycles(here, lambda: min(cap_w(bed, name) for name in bed.names[3:]) > 240.0)
    slurm(bed, "scontrol", "uhold", second)
    cycles(here, lambda: runs(bed, second))
    cycles(here, lambda: max(cap_w(bed, name) for name in bed.names[3:]) < 240.0)
    slurm(bed, "scancel", second)
    cycles(here, lambda: min(cap_w(bed, name) for name in bed.names[3:]) > 240.0)


def test_an_energy_budget_lets_a_job_wait_under_a_cap_that_has_room(
    bed: Bed, serve: Serve
) -> None:
    """Of 13.5 kJ in 20 s idle nodes need 10.8; a job of 120 W above that may have 2.4, not two."""
    here = serve('[policy]\npower = { name = "budget", energy = "13.5kJ", period = "20s" }\n')
    first, second = ours(bed, 1, 210), ours(bed, 1, 210)
    cycles(here, lambda: runs(bed, first))
    assert explain(here.books, second).reason == "energy"
    slurm(bed, "scancel", first)
    cycles(here, lambda: runs(bed, second))


def shares_file(tmp_path: Path, daemon: int = 50, games: int = 50) -> Path:
    """Two accounts with a user each."""
    file = tmp_path / "shares.toml"
    file.write_text("".join(
        f'[[account]]\nname = "of-{user}"\nshare = {share}\n'
        f'[[account]]\nname = "{user}"\nparent = "of-{user}"\nshare = 1\n'
        for user, share in (("daemon", daemon), ("games", games))))
    return file


def test_who_has_drawn_less_comes_first(bed: Bed, serve: Serve, tmp_path: Path) -> None:
    here = serve('[policy]\norder = { name = "energy-share", shares = '
                 f'"{shares_file(tmp_path)}" }}\n')
    drew = ours(bed, 6, 200, "--uid=daemon")
    cycles(here, lambda: runs(bed, drew))
    again = ours(bed, 6, 200, "--uid=daemon")
    other = ours(bed, 6, 200, "--uid=games")
    cycles(here, lambda: {again, other} <= here.watcher.told.keys())
    finish(bed, drew, 6, lambda ready: cycles(here, ready))
    cycles(here, lambda: runs(bed, other))
    assert not runs(bed, again)


def next_start(here: Controller) -> str:
    """The job that a cycle decides to start next."""
    decided: list[str] = []

    def done() -> bool:
        decided.extend(str(each.job) for each in here.cycle().decisions if each.kind == "start")
        return bool(decided)

    until(done)
    return decided[0]


def test_of_two_who_drew_the_same_the_one_with_the_larger_share_comes_first(
    bed: Bed, serve: Serve, tmp_path: Path
) -> None:
    """With equal shares the first that came would be. A start that took 5 s is taken back and comes
    ten seconds late: they are looked at once the second has drawn half as much as the first."""
    here = serve('[policy]\norder = { name = "energy-share", shares = '
                 f'"{shares_file(tmp_path, daemon=80, games=20)}" }}\n')
    drew = [ours(bed, 3, 200, f"--uid={user}") for user in ("daemon", "games")]
    cycles(here, lambda: all(runs(bed, job) for job in drew))
    small = ours(bed, 6, 200, "--uid=games")
    large = ours(bed, 6, 200, "--uid=daemon")
    cycles(here, lambda: large in here.books.roll)
    where = read_configuration(tmp_path / "site.toml")

    def drew_alike() -> bool:
        accounts = fairshare(here, where, {}).result["accounts"]
        used_j = {each["name"]: each["usage_j"] for each in accounts}
        return bool(used_j["games"] > 0.5 * used_j["daemon"])

    cycles(here, drew_alike)
    found = fairshare(here, where, {}).result
    factor = {each["name"]: each["factor"] for each in found["accounts"]}
    assert factor["daemon"] > factor["games"]
    priority = {each["job"]: each["priority"] for each in found["waiting"]}
    assert priority[large] > priority[small]
    slurm(bed, "scancel", *drew)
    assert next_start(here) == large


def test_in_guard_mode_shares_of_joules_become_slurms_priorities(
    bed: Bed, serve: Serve, tmp_path: Path
) -> None:
    here = serve('mode = "guard"\n[policy]\norder = { name = "energy-share", shares = '
                 f'"{shares_file(tmp_path)}" }}\n')
    mine, theirs = (("--comment=wattline", f"--uid={user}") for user in ("daemon", "games"))
    drew = submit(bed, LONG_S, 200, *mine, "-N", "6", "-t", "20", "-L", "watts:1200")
    cycles(here, lambda: runs(bed, drew))
    again = submit(bed, LONG_S, 200, *mine, "-N", "6", "-t", "20", "-L", "watts:1200")
    other = submit(bed, LONG_S, 200, *theirs, "-N", "6", "-t", "20", "-L", "watts:1200")

    def priority(job: str) -> int:
        return int(slurm(bed, "squeue", "-h", "-j", job, "-O", "PriorityLong"))

    cycles(here, lambda: priority(other) > priority(again))
    finish(bed, drew, 6, lambda ready: cycles(here, ready))
    cycles(here, lambda: runs(bed, other))
    assert not runs(bed, again)


def test_a_moldable_job_gets_nodes_of_its_range_and_a_cap(
    bed: Bed, serve: Serve, tmp_path: Path
) -> None:
    """Its fair part of 1,300 W has room for four slow nodes, and not for four fast ones."""
    (tmp_path / "table.csv").write_text(TABLE)
    here = serve('licences = true\n[policy]\npower = "watts"\nconfigure = { name = "naive", '
                 f'table = "{tmp_path}/table.csv", unknown = "refuse" }}\n')
    wide, narrow = ours(bed, "2-4", 240, "-J", "lu"), ours(bed, "1-2", 240, "-J", "lu")
    strange = ours(bed, 1, 240, "-J", "nobody-knows-it")
    cycles(here, lambda: runs(bed, wide) and runs(bed, narrow))
    assert (nodes_of(bed, wide), nodes_of(bed, narrow)) == ("n[0001-0004]", "n[0005-0006]")
    cycles(here, lambda: {cap_w(bed, name) for name in bed.names} == {180.0})
    said = slurm(bed, "scontrol", "show", "job", wide)
    assert "AdminComment=wattline: cores=16 cap_w=65" in said
    assert "Licenses=watts:720" in said
    assert "there is no application" in slurm(bed, "scontrol", "show", "job", strange)
    # Slurm takes the most of a range for as many nodes as there are.
    slurm(bed, "scancel", wide, narrow)
    open_ended = submit(bed, LONG_S, 240, *OURS, "-N", "2-100", "-t", "20", "-L", "watts:960", "-J",
                        "lu")
    cycles(here, lambda: runs(bed, open_ended))
    assert nodes_of(bed, open_ended) == "n[0001-0004]"


def test_claims_choose_the_class_of_node_the_threads_and_the_cap(
    bed: Bed, serve: Serve, tmp_path: Path
) -> None:
    (tmp_path / "claims.csv").write_text(CLAIMS)
    here = serve('classes = [{ name = "big", nodes = "n[0001-0003]" }, '
                 '{ name = "small", nodes = "n[0004-0006]" }]\n[policy]\nplacement = "claims"\n'
                 f'configure = {{ name = "claims", claims = "{tmp_path}/claims.csv" }}\n')
    # In the bed's folder: jobs of another Slurm than the machine's see no other.
    threads, script = bed.folder / "threads", bed.folder / "with_claims.sh"
    script.write_text(f'#!/bin/sh\necho "$OMP_NUM_THREADS" > {threads}\n'
                      f'exec {bed.folder}/job.sh 60 240\n')
    job = slurm(bed, "sbatch", "--parsable", "-o", "/dev/null", *OURS, "-N", "1", "-t", "1", "-J",
                "lu", str(script))
    cycles(here, lambda: runs(bed, job) and threads.exists() and bool(threads.read_text()))
    assert nodes_of(bed, job) == "n0004"
    assert threads.read_text() == "4,2\n"
    cycles(here, lambda: cap_w(bed, "n0004") == 150.0)
    assert math.isclose(cap_w(bed, "n0001"), bed.power.maximum_w)
    # Of nodes that a job names itself the class is given.
    named = ours(bed, 1, 240, "-J", "lu", "-w", "n0002")
    both = ours(bed, 2, 240, "-J", "lu", "-w", "n0002,n0005")
    cycles(here, lambda: runs(bed, named))
    assert nodes_of(bed, named) == "n0002"
    assert "wattline: class=big threads=8" in slurm(bed, "scontrol", "show", "job", named)
    assert "of the classes big and small" in slurm(bed, "scontrol", "show", "job", both)


def test_bounds_of_views_keep_jobs_apart(bed: Bed, serve: Serve, tmp_path: Path) -> None:
    """Beside two nodes at 240 W a third would take its unit to 720 W of 700."""
    (tmp_path / "views.toml").write_text(VIEWS)
    here = serve(f'[policy]\nplacement = {{ name = "bounded", views = "{tmp_path}/views.toml" }}\n')
    first, second = ours(bed, 2, 240), ours(bed, 2, 240)
    cycles(here, lambda: runs(bed, first) and runs(bed, second))
    assert (nodes_of(bed, first), nodes_of(bed, second)) == ("n[0001-0002]", "n[0004-0005]")


def test_a_placement_that_knows_the_network_names_the_nodes(
    bed: Bed, serve: Serve, tmp_path: Path
) -> None:
    scenario = tmp_path / "network.toml"
    scenario.write_text('[network]\ntopology = "dragonfly"\nnodes_per_router = 2\n'
                        'routers_per_group = 1\ngroups = 3\nglobal_ports = 2\n'
                        '[policy]\npower = "block"\nplacement = "rrn"\n')
    here = serve(f'scenario = "{scenario}"\n')
    job = ours(bed, 3, 200)
    cycles(here, lambda: runs(bed, job))
    assert nodes_of(bed, job) == "n[0001,0003,0005]"


def test_a_cap_that_was_reserved_ahead_holds_for_its_time_and_is_lifted(
    bed: Bed, serve: Serve, tmp_path: Path, pace: Pace
) -> None:
    """Four nodes at 240 W and two idle ones draw 1,140 W; for some seconds they may draw
    1,000."""
    here = serve("")
    jobs = [ours(bed, 2, 240) for _ in range(2)]
    cycles(here, lambda: all(runs(bed, job) for job in jobs) and drawn_w(bed) >= 1140.0)
    order = subprocess.Popen(
        [sys.executable, "-m", "wattline", "power", "reserve", "--live", "--config",
         str(tmp_path / "site.toml"), "--start", f"{2.0 * pace.now:.1f}s", "--duration",
         f"{6.0 * pace.now:.1f}s", "--watts", "300W",
         "--name", "noon"], stdout=subprocess.PIPE, text=True)
    cycles(here, lambda: bool(ahead(here.books)))
    window, = ahead(here.books)
    assert not window["begun"]
    assert drawn_w(bed) > 1000.0
    cycles(here, lambda: time.time() >= window["start_s"])
    late_s = 0.75 * window["end_s"] + 0.25 * window["start_s"]  # it holds still
    cycles(here, lambda: time.time() >= late_s)
    assert under_s(bed, 1000.0, window["start_s"]) <= 2.0 * pace.slowest(window["start_s"])
    cycles(here, lambda: drawn_w(bed) >= 1140.0)
    assert order.wait(timeout=PATIENCE_S) == 0


@pytest.mark.parametrize("way", ["file", "topic"])
def test_a_target_is_followed_by_caps_of_nodes_and_the_error_is_told(
    bed: Bed, serve: Serve, tmp_path: Path, pace: Pace, way: str
) -> None:
    """Four nodes at 240 W and two idle ones draw 1,140 W, and can be held down to 660 W."""
    told = tmp_path / "target"
    topic = target_topic(bed.cluster)
    here = serve(f'target_reserve = 150\n{"target_file" if way == "file" else "target_topic"} = '
                 f'"{told if way == "file" else topic}"\n')
    link = Link(bed.broker.of(SIGNAL), "tells-the-target", [], lambda topic, payload: None)
    jobs = [ours(bed, 2, 240) for _ in range(2)]
    cycles(here, lambda: all(runs(bed, job) for job in jobs) and drawn_w(bed) >= 1140.0)
    until(lambda: link.connected)

    def is_followed(watts: int) -> bool:
        """Say it again, as a signal does: what was said long ago holds no more."""
        if way == "file":
            told.write_text(f"{watts}W\n")
        else:
            link.publish(topic, str(watts).encode())
        return abs(drawn_w(bed) - watts) <= 0.02 * 1140.0

    for watts in (1000, 850, 1100, 900):
        begin_s = time.time()
        cycles(here, partial(is_followed, watts))
        took_s = time.time() - begin_s
        assert took_s <= 2.0 * pace.slowest(begin_s)
        until_s = time.time() + max(3.0 * took_s, 1.0)
        cycles(here, lambda: is_followed(watts) and time.time() >= until_s)  # noqa: B023
    link.close()
    said = json.loads((tmp_path / "controller" / "status.json").read_text())["target"]
    assert (said["watts"], said["samples"] >= 5) == (900.0, True)
    assert said["error_w_mean"] < 100.0
    assert said["error_of_reserve_p90"] == pytest.approx(said["error_w_p90"] / 150.0)
