"""Nets that somebody wrote down, and what such a file may not do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support.printed import columns

import wattline as wl
from wattline.cli.main import cli
from wattline.model.errors import InputError, WattlineWarning
from wattline.petri.net_file import read_net
from wattline.petri.simulate import Simulation

OWN = """
name = "printer"
[places]
jobs = { tokens = [[1, 20], [2, 10], { value = [3, 5], at_s = 100 }] }
free = { count = 1 }
printing = { tokens = [] }
done = { tokens = [] }
[[transition]]
name = "print"
take = [{ place = "jobs", what = "(n, pages)" }, "free"]
put = [{ place = "printing", what = "n", delay_s = "2 * pages" }]
[[transition]]
name = "hand out"
take = [{ place = "printing", what = "n" }]
put = ["free", { place = "done", what = "n" }]
"""
ENDLESS = """
[places]
a = { count = 1 }
b = {}
[[transition]]
name = "there"
take = ["a"]
put = ["b"]
[[transition]]
name = "back"
take = ["b"]
put = ["a"]
"""


def written(folder: Path, text: str, name: str = "net.toml") -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def test_an_own_net_runs_by_its_clock(tmp_path: Path) -> None:
    done = wl.run_net(written(tmp_path, OWN))
    # 40 s and 20 s of printing one after the other, the third comes at 100 s.
    assert (done.time_s, done.fired) == (110.0, 6)
    assert done.marking()["done"]["values"] == ["1", "2", "3"]


def test_a_net_without_an_end_is_stopped_and_says_so(tmp_path: Path) -> None:
    path = written(tmp_path, ENDLESS)
    with pytest.warns(WattlineWarning, match="stopped after 100,000 firings"):
        done = wl.run_net(path)
    assert done.fired == 100_000
    assert wl.run_net(path, max_firings=7).remarks == ()
    result = CliRunner().invoke(cli, ["petri", "run", path, "--firings", "7", "--json"])
    assert json.loads(result.stdout)["fired"] == 7


@pytest.mark.parametrize("text", [
    "n.__class__", "__import__('os')", "open('x')", "9 ** 9 ** 9", "[x for x in n]",
    "(lambda: 1)()", "f'{n}'", "n.real", "1" * 5000, "10000000000000000000",
])
def test_inscriptions_of_a_file_compute_and_do_nothing_else(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, OWN.replace('"2 * pages"', json.dumps(text)))
    with pytest.raises(InputError) as caught:
        Simulation(read_net(path))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(("before", "after", "message"), [
    ('place = "jobs"', 'place = "jbos"', "no place of this net"),
    ("count = 1", "count = -1", "places.free.count"),
    ("count = 1", "count = 1, tokens = [1]", "has count and tokens"),
    ('{ place = "printing", what = "n" }', '"printing"', "says nothing of the token's value"),
    ("at_s = 100", "at = 100", "has a value and at_s"),
    ("name = \"print\"", "name = \"print\"\ncolour = 1", "there is no such field"),
])
def test_mistakes_in_a_file_are_named(
    tmp_path: Path, before: str, after: str, message: str
) -> None:
    path = written(tmp_path, OWN.replace(before, after, 1))
    with pytest.raises(InputError, match=message):
        read_net(path)


def test_a_workload_for_a_net_that_takes_none_is_refused() -> None:
    with pytest.raises(InputError, match="--cap needs NET puppet: other nets have a workload"):
        CliRunner().invoke(cli, ["petri", "run", "cluster", "--cap", "50%"],
                           catch_exceptions=False, standalone_mode=False)


def test_levels_alpha_beta_and_a_changing_cap_reach_the_net(tmp_path: Path) -> None:
    slow = wl.run_net("puppet", power="dvfs", cap="45%", levels=(0.4, 1.0), beta=1.0)
    usual = wl.run_net("puppet", power="dvfs", cap="45%", beta=1.0)
    assert slow.simulation.net.about.endswith(
        "levels 0.4, 1, cap 360 W: 45 % of rated power (800 W)")
    assert slow.time_s != usual.time_s
    assert wl.run_net("puppet", power="dvfs", cap="70%", alpha=1.0).time_s != wl.run_net(
        "puppet", power="dvfs", cap="70%", alpha=3.0).time_s
    caps = tmp_path / "caps.csv"
    caps.write_text("seconds,watts\n0,800\n50,500\n200,720\n")
    changed = wl.run_net("puppet", power="block", cap=str(caps))
    assert changed.simulation.place("Cap").values() == [0.9 * 8 * 100]
    as_pairs = wl.run_net("puppet", power="block", cap=[(0, 800), (50, 500), (200, 720)])
    assert as_pairs.time_s == changed.time_s


@pytest.mark.parametrize("cap", [float("nan"), float("inf"), [(0, 800), (5, float("nan"))], 0.0])
def test_a_cap_is_a_finite_power(cap: object) -> None:
    with pytest.raises(InputError):
        wl.run_net("puppet", cap=cap)


def test_times_of_a_log_count_from_its_first_submission(tmp_path: Path) -> None:
    log = tmp_path / "log.swf"
    log.write_text("".join(
        f"{n} {1_500_000_000 + 10 * n} 0 100 2 -1 -1 2 200 -1 1 1 1 -1 1 -1 -1 -1\n"
        for n in range(1, 4)))
    done = wl.run_net("puppet", trace=log, nodes=4, power="none")
    # Two jobs at once, the third when the first ends: submitted at 0, 10 and 20 s.
    assert done.time_s == 200.0


def test_jobs_that_a_cap_keeps_from_running_are_told() -> None:
    with pytest.warns(UserWarning, match="3 jobs refused: no cap of the run"):
        done = wl.run_net("puppet", cap=[(0, 500), (100, 300)])
    assert "3 jobs still waiting when nothing more can happen" in done.remarks[1]
    assert wl.run_net("puppet", cap="70%").remarks == ()
    assert wl.run_net("puppet", cap=[(0, 500), (100, 300)], max_firings=5).remarks == ()


def test_numbers_that_grow_without_end_are_told_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "cube.toml"
    path.write_text('[places]\na = { tokens = [1] }\n[[transition]]\nname = "grow"\n'
                    'take = [{ place = "a", what = "n" }]\n'
                    'put = [{ place = "a", what = "n*n*n+n" }]\n')
    done = CliRunner().invoke(cli, ["petri", "run", str(path), "--firings", "60"])
    assert isinstance(done.exception, InputError)
    assert "more than 4096 bits" in str(done.exception)


@pytest.mark.filterwarnings("ignore:8 nodes of 8 cores")
def test_a_log_that_counts_cores_keeps_its_jobs() -> None:
    """The header's 64 processors on 8 nodes, as `simulate` reads them."""
    for size in ({}, {"nodes": 8}, {"nodes": 8, "cores_per_node": 8}):
        done = wl.run_net("puppet", trace="examples/tiny.swf", power="none", **size)
        assert done.simulation.net.about == (
            "PuPPET, FCFS with EASY, 8 nodes, 12 jobs, wait slots 0, levels 1")
        assert len(done.simulation.place("Batch scheduling/Done").values()) == 12
    first = wl.run_net("puppet", trace="examples/tiny.swf", power="none", max_firings=1)
    assert [job.js for job in first.simulation.place("Queuing").values()[0]] == [2]
    assert [job.js for job in first.simulation.place("Batch scheduling/User").values()] == [
        4, 3, 1, 8, 1, 2, 1, 5, 2, 1, 6]


def test_jobs_that_do_not_fit_and_options_without_effect_are_said() -> None:
    with pytest.warns(WattlineWarning, match="8 jobs of the log ask for more than the 8 nodes"):
        wl.run_net("puppet", trace="examples/tiny.swf", nodes=8, cores_per_node=1, cap="60%")
    with pytest.warns(WattlineWarning, match="cores_per_node has no effect"):
        wl.run_net("puppet", cores_per_node=2)
    with pytest.raises(InputError, match="every job of the log asks for more than the 2 nodes"):
        wl.run_net("puppet", trace="examples/tiny.swf", nodes=2, cores_per_node=1)
    with pytest.warns(WattlineWarning, match="alpha has no effect"):
        wl.run_net("puppet", alpha=3.0, power="wait")
    with pytest.warns(WattlineWarning, match="wait_slots has no effect: only the power policy"):
        wl.run_net("puppet", wait_slots=3, power="dvfs")
    with pytest.warns(WattlineWarning, match="wait_time_s has no effect"):
        wl.run_net("puppet", wait_time_s=5.0, power="block")
    waits = wl.run_net("puppet", wait_time_s=5.0, wait_slots=3, power="wait", cap="70%")
    assert waits.remarks == ()
    with pytest.raises(InputError, match="frequencies have to rise"):
        wl.run_net("puppet", levels=(1.0, 0.5))


@pytest.mark.filterwarnings("ignore::wattline.model.errors.WattlineWarning")
def test_dependencies_of_a_log_that_the_net_does_not_know_are_said(tmp_path: Path) -> None:
    log = tmp_path / "log.swf"
    log.write_text("".join(f"{n} {10 * n} 0 100 2 -1 -1 2 200 -1 1 1 1 -1 1 -1 {after} -1\n"
                           for n, after in ((1, -1), (2, 1), (3, 1), (4, -1))))
    for limit, said in ((4, "2 jobs of the log should begin after another one"),
                        (2, "1 job of the log should begin after another one"), (1, "")):
        done = wl.run_net("puppet", trace=log, nodes=4, limit=limit, power="none")
        found = [line for line in done.remarks if "dependencies" in line]
        assert [line[:len(said)] for line in found] == ([said] if said else [])


PLAIN = '[places]\na = { %s }\n[[transition]]\nname = "t"\ntake = [%s]\nput = [%s]\n'


def test_a_place_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "net.toml"
    path.write_text(PLAIN % ("tokens = [1]", '{ place = "a", what = "n" }', '"zz"'))
    with pytest.raises(InputError, match="an arc leads to 'zz', which is no place of this net; it "
                                         "has a"):
        wl.run_net(path)
    path.write_text(PLAIN % ("count = 1", '"a"', '"a"'))
    with pytest.raises(InputError, match="'Nope' is no place of this net; it has a"):
        wl.analyse_net(path, reach={"Nope": 1})


def test_a_net_that_could_go_on_is_said_to_be_stopped(tmp_path: Path) -> None:
    path = tmp_path / "net.toml"
    kept = '{ place = "a", what = "n" }'
    path.write_text(PLAIN % ("tokens = [5]", kept, kept))
    said = CliRunner().invoke(cli, ["petri", "run", str(path), "--firings", "1"])
    assert columns(said.stdout, "place", "tokens", "first values") == [("a", "1", "5")]
    assert "stopped after 1 firing, as asked: the net could go on" in said.stderr
    assert "1 firing to t = 0 s" in said.stdout
    path.write_text(PLAIN % ("count = 1", '"a"', ""))
    said = CliRunner().invoke(cli, ["petri", "run", str(path), "--firings", "1", "--json"])
    assert (json.loads(said.stdout)["stopped"], json.loads(said.stdout)["remarks"]) == (False, [])
    # Tokens that are to come count too: the first job is submitted, the last one is far off.
    assert wl.run_net("puppet", max_firings=1).stopped
    assert not wl.run_net("puppet").stopped


def test_one_of_a_kind_is_said_in_the_singular(tmp_path: Path) -> None:
    path = tmp_path / "net.toml"
    path.write_text(PLAIN % ("count = 1", '"a"', ""))
    said = CliRunner().invoke(cli, ["petri", "analyse", str(path)]).output
    assert "(1 state in which nothing can happen)" in said
    assert "after 1 firing\n" in said
