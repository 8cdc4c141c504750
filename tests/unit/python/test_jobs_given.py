"""Jobs in any form: a log in the first place, traces, tables of pandas and Arrow."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import wattline as wl

ROOT = Path(__file__).parents[3]
TINY = ROOT / "examples" / "tiny.swf"
COLUMNS = {"submit_s": [0.0, 10.0, 20.0], "run_s": [100.0, 50.0, 50.0], "procs": [4, 8, 2],
           "requested_s": [200.0, 60.0, 60.0], "user": ["ann", "bob", "ann"]}
MACHINE = wl.Machine(nodes=8, node_idle_w=90, node_active_w=300)


def test_a_log_in_the_first_place_is_a_log() -> None:
    run = wl.simulate(TINY)
    assert len(run.jobs) == 12
    assert run.name == "tiny"
    assert run.energy_j == wl.simulate(trace=str(TINY)).energy_j


def test_a_scenario_in_the_first_place_is_a_scenario() -> None:
    made = wl.load_scenario(ROOT / "examples" / "small.toml", {"trace.jobs": 40})
    run = wl.simulate(made)
    assert len(run.jobs) == 40
    assert len(wl.simulate(made, trace__jobs=30).jobs) == 30


@pytest.mark.parametrize("table", [
    pd.DataFrame(COLUMNS), pa.table(COLUMNS), COLUMNS,
    wl.JobTable.build(**{name: values for name, values in COLUMNS.items() if name != "user"},
                      user=[0, 1, 0], names={"user": ("ann", "bob")}),
], ids=["pandas", "arrow", "dict", "jobs"])
def test_a_table_is_a_trace(table: object) -> None:
    run = wl.simulate(table, machine=MACHINE)
    assert run.schedule.start_s.tolist() == [0.0, 100.0, 20.0]
    assert run.jobs()["user_name"].to_pylist() == ["ann", "bob", "ann"]
    assert run.remarks == ()


def test_a_table_is_cleaned_as_a_file_is() -> None:
    rows = pd.DataFrame(COLUMNS).drop(columns="requested_s")
    with pytest.warns(wl.WattlineWarning, match="table: 3 jobs: A job without a requested time"):
        run = wl.simulate(rows, machine=MACHINE)
    assert any("requested time" in line for line in run.remarks)
    with pytest.raises(wl.InputError, match="requested time"):
        wl.simulate(rows, machine=MACHINE, trace__strict=True)


def test_a_dict_that_lacks_a_column_of_jobs_is_told_which() -> None:
    with pytest.raises(wl.InputError, match="a table of jobs needs the column procs"):
        wl.simulate({"submit_s": [0], "run_s": [5]}, machine=MACHINE)
    with pytest.raises(wl.InputError, match="procs are processors: nodes times the processors"):
        wl.simulate({"submit_s": [0], "run_s": [5], "nodes": [1]}, machine=MACHINE)


@pytest.mark.parametrize(("columns", "said"), [
    ({"procs": [4, 8]}, "of one length, and not submit_s 3, run_s 3, procs 2"),
    ({"procs": 4}, "column procs of a table is a list or an array, not 4"),
    ({"procs": "abc"}, "column procs of a table is a list or an array, not 'abc'"),
    ({"procs": [4, "x", object()]}, "cannot be read as a table"),
])
def test_a_dict_that_is_no_table_is_told_why(columns: dict[str, object], said: str) -> None:
    with pytest.raises(wl.InputError, match=said):
        wl.simulate({**COLUMNS, **columns}, machine=MACHINE)


def test_a_column_of_several_kinds_is_named() -> None:
    with pytest.raises(wl.InputError, match="column run_s holds what is no number, text or time"):
        wl.simulate(pd.DataFrame({**COLUMNS, "run_s": ["a", 3, 4]}), machine=MACHINE)


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
@pytest.mark.parametrize(("column", "values", "said"), [
    ("procs", [1.5, 2, 3], "table: row 1 has '1.5' in procs"),
    ("procs", ["2", "x", "3"], "table: row 2 has 'x' in procs"),
    ("run_s", [1.0, np.inf, np.inf], "table: row 2 has 'inf' in run_s, row 3 has 'inf' in run_s"),
])
def test_rows_that_cannot_be_read_are_named_with_the_cell(
    column: str, values: list[object], said: str
) -> None:
    run = wl.simulate(pd.DataFrame({**COLUMNS, column: values}), machine=MACHINE)
    assert said in run.remarks
    assert any("no job record" in line for line in run.remarks)


def test_of_many_rows_that_cannot_be_read_a_few_are_named() -> None:
    rows = pd.DataFrame({"submit_s": 0.0, "run_s": 5.0, "requested_s": 5.0,
                         "procs": [1.5] * 7 + [2.0]})
    assert wl.traces.trace_of(rows).remarks == (
        "table: row 1 has '1.5' in procs, row 2 has '1.5' in procs, row 3 has '1.5' in procs, and "
        "4 more cannot be read",)
    with pytest.raises(wl.InputError, match=r"no row of the table .*: row 1 has '1.5' in procs"):
        wl.traces.trace_of(rows[:7])


def test_a_saved_run_of_jobs_in_memory_says_how_it_is_repeated(tmp_path: Path) -> None:
    run = wl.simulate(pd.DataFrame(COLUMNS), machine=MACHINE)
    folder = run.save(tmp_path / "kept")
    scenario = folder / "scenario.toml"
    with pytest.raises(wl.InputError, match=r"given in Python.*trace=open_run\(.*\)\.jobs"):
        wl.simulate(scenario)
    again = wl.simulate(scenario, trace=wl.open_run(folder).jobs)
    assert again.energy_j == run.energy_j
    assert again.schedule.start_s.tolist() == run.schedule.start_s.tolist()


def test_the_table_of_a_run_is_a_trace_again_with_its_dependencies() -> None:
    jobs = wl.JobTable.build(submit_s=[0.0, 1.0], run_s=[50.0, 50.0], procs=[1, 1],
                             job_id=[7, 9], after_job=[-1, 0])
    run = wl.simulate(jobs, machine=MACHINE)
    again = wl.simulate(run.jobs(), machine=MACHINE)
    assert again.jobs.after_job.tolist() == [-1, 0]
    assert np.array_equal(again.schedule.start_s, run.schedule.start_s)


def test_a_table_that_lacks_a_column_says_which() -> None:
    with pytest.raises(wl.InputError, match="needs the columns procs, run_s: rename"):
        wl.simulate(pd.DataFrame({"submit_s": [0.0], "runtime": [1.0]}), machine=MACHINE)


@pytest.mark.parametrize("column", ["run_s", "procs", "requested_s"])
def test_dates_are_no_durations_nor_numbers(column: str) -> None:
    dates = pd.to_datetime(["2024-01-01", "2024-01-02"])
    table = pd.DataFrame({"submit_s": [0, 60], "run_s": [600, 600], "procs": [4, 8]})
    with pytest.raises(wl.InputError, match=f"the column {column} has dates"):
        wl.simulate(table.assign(**{column: dates}), machine=wl.Machine(nodes=8))
    run = wl.simulate(table.assign(submit_s=dates), machine=wl.Machine(nodes=8))
    assert run.ran.all()


def test_a_table_goes_through_a_column_map(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        '[columns]\nsubmit_s = "t"\nrun_s = "d"\nrequested_procs = "n"\n')
    rows = pd.DataFrame({"t": [0.0, 5.0], "d": [60.0, 60.0], "n": [2, 2]})
    run = wl.simulate(rows, machine=MACHINE, trace__map=str(tmp_path / "mine.toml"))
    assert run.schedule.end_s.tolist() == [60.0, 65.0]


def test_only_the_first_jobs_of_a_trace_are_taken_where_that_is_asked() -> None:
    trace = wl.read(TINY)
    assert len(wl.simulate(trace, trace__jobs=5).jobs) == 5
    with pytest.raises(wl.InputError, match=r"trace.strict: it says how a file is read"):
        wl.simulate(trace, trace__strict=True)


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(wl.InputError, match="jobs are a log's name, a Trace"):
        wl.simulate(17)


def test_a_column_that_is_not_known_is_said() -> None:
    jobs = pd.DataFrame({"submit_s": [0, 60], "run_s": [600, 600], "procs": [4, 8],
                         "walltime": [900, 900]})
    run = wl.simulate(jobs, machine=MACHINE)
    assert "table: column walltime is not known and not used" in run.remarks
