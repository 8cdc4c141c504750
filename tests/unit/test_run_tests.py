"""`make test` runs every test in one of its steps, and says which step failed."""

from __future__ import annotations

import threading
from itertools import combinations

import pytest
from _pytest.mark.expression import Expression
from scripts import run_tests
from scripts.run_tests import (
    CHOSEN,
    MARKED,
    Ran,
    Step,
    Took,
    all_steps,
    failure,
    files,
    long_steps,
    run_all,
    table,
)
from tests.conftest import MARKS


def taking(marks: set[str], names: tuple[str, ...]) -> list[str]:
    """The steps of these names that run a test with these marks."""
    return [name for name in names
            if Expression.compile(CHOSEN[name]).evaluate(lambda mark, **_: mark in marks)]


@pytest.mark.parametrize("given", [" ".join(some) for count in range(len(MARKS) + 1)
                                   for some in combinations(MARKS, count)
                                   if not {"compiled", "both_ways"} <= set(some)])
def test_a_test_runs_in_one_step_or_in_both_ways_if_it_says_so(given: str) -> None:
    marks = set(given.split())
    quick = taking(marks, ("plain", "waiting", "seldom", "compiled", "servers", "browser"))
    long = taking(marks, ("long", "long, compiled"))
    found = long if "long" in marks else quick
    assert not (quick if "long" in marks else long)
    if {"servers", "browser"} & marks and "long" not in marks:
        assert found == [mark for mark in ("servers", "browser") if mark in marks]
    else:
        assert len(found) == (2 if "both_ways" in marks else 1)


def test_a_mark_that_pytest_knows_is_one_that_the_steps_know(pytestconfig) -> None:
    ours = {line.split(":")[0] for line in pytestconfig.getini("markers") if ":" in line}
    assert set(MARKS) <= ours


def test_a_step_reads_the_files_that_have_its_marks() -> None:
    assert files("plain") == []  # all of them
    assert "tests/property/test_bounds_checked.py" in files("compiled")
    assert "tests/golden/test_backfilling.py" in files("compiled")
    assert set(files("browser")) >= {"tests/browser/test_report_page.py"}
    assert "tests/unit/measured/test_databases.py" in files("servers")
    assert "tests/unit/live/agent/test_with_a_broker.py" in files("waiting")
    assert "tests/unit/traces/test_swf.py" not in files("compiled") + files("servers")
    for name in MARKED:
        assert set(CHOSEN[name].replace("(", "").split()) & set(MARKED[name])


@pytest.mark.parametrize(("some", "steps"), [
    (["tests/unit/traces"], "plain"),
    (["tests/unit/account", "-x"], "plain servers"),
    (["tests/golden/test_backfilling.py::test_fcfs_lets_nobody_pass"], "plain compiled"),
    (["tests/unit/live/agent"], "plain waiting seldom"),
    (["-k", "easy"], "plain waiting seldom compiled servers browser"),
])
def test_steps_that_have_no_test_in_the_folder_are_left_out(some: list[str], steps: str) -> None:
    assert [step.name for step in all_steps(some)] == ["style", "layers", "types", *steps.split()]


@pytest.mark.parametrize(("changed", "found"), [
    (["src/wattline/model/worker_pool.py"], {"model/test_worker_pool.py"}),
    (["src/wattline/sweeps/runners/dask.py"], {"sweeps/test_on_dask.py"}),
    (["tests/unit/cli/test_drawing.py"], {"cli/test_drawing.py"}),
    (["docs/index.md"], set()),
])
def test_what_seldom_changes_is_run_where_a_change_reaches_it(
        changed: list[str], found: set[str]) -> None:
    assert {f"tests/unit/{name}" for name in found} <= set(run_tests.seldom_reached(changed))
    assert not found or len(run_tests.seldom_reached(changed)) < len(files("seldom"))
    named = {step.name for step in all_steps([], changed)}
    assert ("seldom" in named) == bool(found)


def test_what_seldom_changes_is_run_where_no_change_is_known_and_in_long_runs() -> None:
    for steps in (all_steps([]), long_steps()):
        (step,) = [step for step in steps if step.name == "seldom"]
        assert set(files("seldom")) <= set(step.command)
    assert run_tests.changed_here() is None or "seldom" not in {
        step.name for step in all_steps([], [])}


def test_plain_tests_run_as_in_another_part_of_the_world_and_no_others() -> None:
    zones = {step.name: step.environment.get("TZ") for step in all_steps([])}
    assert zones.pop("plain") == "Australia/Lord_Howe"
    assert set(zones.values()) == {None}


def test_the_first_step_that_fails_ends_it_and_is_named() -> None:
    steps = [Step(name, ()) for name in ("style", "plain", "servers", "browser")]
    asked = []

    def run(step: Step) -> Ran:
        asked.append(step.name)
        return 3 if step.name == "servers" else 0, 1.0

    done = run_all(steps, run)
    assert asked == ["style", "plain", "servers"]
    assert done[-1].status == 3
    said = {line.split()[0]: line for line in table(steps, done).splitlines()}
    assert "passed" in said["plain"]
    assert "FAILED with exit status 3" in said["servers"]
    assert "not run" in said["browser"]


def test_steps_of_one_core_run_at_the_same_time_and_each_failure_is_named() -> None:
    steps = [Step("style", ()), Step("types", (), beside="checks"),
             Step("layers", (), beside="checks"), Step("plain", ())]
    both = threading.Barrier(2, timeout=30)

    def run(step: Step) -> Ran:
        if step.beside:
            both.wait()  # would wait for ever, were they run one after the other
        return 2 if step.name == "types" else 0, 1.5

    done = run_all(steps, run)
    assert [took.name for took in done[:1]] == ["style"]
    assert {took.name: took.status for took in done[1:]} == {"types": 2, "layers": 0}
    assert failure(done) == 2
    said = {line.split()[0]: line for line in table(steps, done).splitlines()}
    assert "FAILED with exit status 2" in said["types"]
    assert "passed" in said["layers"]
    assert "not run" in said["plain"]


def test_all_of_the_core_but_style_runs_at_the_same_time() -> None:
    groups = {step.name: step.beside for step in all_steps([])}
    assert groups["plain"] == groups["compiled"] == groups["types"] == groups["layers"] != ""
    assert groups["waiting"] == groups["plain"]
    assert groups["style"] == groups["servers"] == groups["browser"] == groups["slurm"] == ""
    all_six = threading.Barrier(6, timeout=30)

    def run(step: Step) -> Ran:
        if step.name in ("plain", "waiting", "seldom", "compiled", "types", "layers"):
            all_six.wait()
        return step.name == "compiled", 1.0

    done = run_all(all_steps([]), run)
    assert {took.name for took in done if took.status} == {"compiled"}
    assert {took.name for took in done} >= {"plain", "types"}
    assert "servers" not in {took.name for took in done}


def test_the_plain_tests_give_way_to_what_runs_beside_them(capfd) -> None:
    assert [step.name for step in all_steps([]) if step.gives_way] == ["plain"]
    command = ("python", "-c", "import os; print(os.nice(0))")
    for gives_way in (False, True):
        run_tests.run(Step("plain", command, gives_way=gives_way))
    first, second = (int(line) for line in capfd.readouterr().out.splitlines() if line[0] != "$")
    assert second > first


@pytest.mark.parametrize("status", [0, 1])
@pytest.mark.parametrize("heard", ["where it failed", "at its end", "at once"])
def test_a_step_beside_others_is_heard_when_it_says(capfd, status: int, heard: str) -> None:
    code = f"import os; print('kept:', os.environ['PYTHONDONTWRITEBYTECODE']); exit({status})"
    step = Step("types", ("python", "-c", code), {"SOME": "1"}, beside="checks", heard=heard)
    ended, cpu_s = run_tests.run(step)
    assert (ended, cpu_s > 0) == (status, True)
    said = capfd.readouterr().out.splitlines()
    assert said[0].startswith("$ SOME=1 python -c")
    assert said[1:] == (["kept: "] if status or heard != "where it failed" else [])


def test_a_new_clone_reads_its_tests_once_before_the_workers_do(monkeypatch) -> None:
    for before in (False, True):
        monkeypatch.setattr(run_tests, "read_before", lambda before=before: before)
        first = {step.name: step.first for step in all_steps([]) if step.first}
        assert first == ({} if before else {"plain": run_tests.READING})
        assert not any(step.first for step in all_steps(["tests/unit/traces"]))


@pytest.mark.parametrize("status", [0, 3])
def test_a_command_before_a_step_fails_in_its_place(capfd, status: int) -> None:
    reading = ("python", "-c", f"print('read'); exit({status})")
    step = Step("plain", ("python", "-c", "print('ran')"), beside="core", first=reading,
                heard="at once")
    ended, cpu_s = run_tests.run(step)
    assert (ended, cpu_s > 0) == (status, True)
    said = [line for line in capfd.readouterr().out.splitlines() if line[0] != "$"]
    assert said == (["read"] if status else ["ran"])  # what went well is not heard


def test_no_test_chosen_is_a_failure_unless_some_were_asked_for() -> None:
    everything = {step.name: step for step in all_steps([])}
    assert everything["plain"].allowed == 0
    assert run_all([everything["plain"]], lambda step: (run_tests.NO_TESTS, 1.0))[-1].status == 5
    some = {step.name: step for step in all_steps(["tests/unit/account"])}
    assert run_all([some["servers"]], lambda step: (run_tests.NO_TESTS, 1.0))[-1].status == 0
    assert "slurm" in everything
    assert "slurm" not in some


def test_the_table_adds_up_the_core_and_all() -> None:
    done = [Took("style", 1.0, 0.5, 0), Took("plain", 60.0, 119.6, 0), Took("slurm", 30.0, 3.0, 0)]
    said = table([Step(took.name, ()) for took in done], done)
    assert "core together 1:01 min 2:00 min" in " ".join(said.split())
    assert "all 1:31 min 2:03 min" in " ".join(said.split())


def test_core_tests_have_more_workers_than_cores_for_those_that_wait() -> None:
    count = {step.name: step.command[2] for step in all_steps([]) if "-n" in step.command}
    cores = run_tests.CORES
    few = {"compiled": str(max(1, cores // 2)), "waiting": "1", "seldom": "1", "slurm": "2"}
    assert count == few | dict.fromkeys(("plain", "servers", "browser"), str(cores))
    assert int(count["plain"]) + int(count["compiled"]) > cores


def test_what_is_dear_to_start_is_started_once_per_worker() -> None:
    shared = {step.name for step in all_steps([]) if "loadfile" in step.command}
    assert shared == {"servers", "browser", "seldom", "slurm"}


def test_long_runs_draw_more_examples() -> None:
    (drawing,) = [step for step in long_steps() if step.name == "many examples"]
    assert int(drawing.environment["WATTLINE_EXAMPLES"]) > 1
    assert int(drawing.environment["WATTLINE_FUZZ"]) > 500
    files = {file for file in drawing.command if file.endswith(".py")}
    assert "tests/property" in drawing.command
    assert {"tests/unit/network/test_placement.py",
            "tests/golden/test_shared_energy_share_by_hand.py"} <= files
    assert run_tests.QUESTIONS not in files


def test_long_runs_try_other_seeds_each_time() -> None:
    first, second = ({step.name: step.environment.get("WATTLINE_SEED") for step in long_steps()}
                     for _ in range(2))
    named = {"long", "long, compiled", "many examples"}
    assert {name for name, seed in first.items() if seed} == named
    assert all(first[name] != second[name] for name in named)
    assert not any("WATTLINE_SEED" in step.environment for step in all_steps([]))


def test_long_runs_ask_the_api_more_questions() -> None:
    (asking,) = [step for step in long_steps() if step.name == "many questions"]
    assert (run_tests.ROOT / asking.command[-1]).is_file()
    assert int(asking.environment["WATTLINE_FUZZ"]) > 200


def test_long_runs_against_slurm_have_a_step_of_their_own() -> None:
    (slurm,) = [step for step in long_steps() if step.name == "slurm, long"]
    assert run_tests.SLURM in slurm.command
    assert not any(file.startswith(run_tests.SLURM) for file in files("long"))
