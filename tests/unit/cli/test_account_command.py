"""`wattline account`: conditions hold for totals too, and job numbers are read as written."""

import json

import pytest
from tests.unit.analysis.run_maker import fcfs_run, some_jobs
from tests.unit.cli.test_energy_commands import call, ok, refused

from wattline.analysis import rundir


@pytest.fixture
def run_dir(tmp_path):
    jobs = some_jobs(20, group=[0, 1] * 10)
    return rundir.write(fcfs_run(jobs), tmp_path / "run")


def listed(*words, capsys):
    found = json.loads(ok("account", *words, "-X", "--json", capsys=capsys))
    return {(job["user"], job["wattline"]["energy_j"]) for job in found["jobs"]}


@pytest.mark.parametrize("words", [
    ("-u", "ada"), ("-u", "ada,bob", "-A", "1"), ("-j", "3,4,5"), ("-S", "3000"), ("-E", "2000"),
    ("-S", "1000", "-E", "4000", "-u", "eve"), ("-A", "nosuch"),
])
def test_totals_are_of_the_jobs_that_the_same_conditions_list(run_dir, words, capsys):
    jobs = listed(run_dir, *words, capsys=capsys)
    found = json.loads(ok("account", run_dir, "--by", "user", *words, "--json", capsys=capsys))
    assert {total["name"] for total in found["totals"]} == {user for user, _ in jobs}
    assert sum(total["jobs"] for total in found["totals"]) == len(jobs) < 20
    assert sum(total["energy_j"] for total in found["totals"]) == pytest.approx(
        sum(energy_j for _, energy_j in jobs))
    shown = ok("account", run_dir, "--by", "user", *words, capsys=capsys).splitlines()[2:]
    assert {line.split()[0] for line in shown} == {user for user, _ in jobs}


def test_profiles_are_of_the_chosen_jobs_only(run_dir, tmp_path, capsys):
    ok("account", run_dir, "-u", "ada", "--profile", tmp_path / "prof", capsys=capsys)
    assert [path.name for path in (tmp_path / "prof").iterdir()] == ["ada"]


def test_how_jobs_would_be_printed_is_said_to_have_no_effect_on_totals(run_dir, capsys):
    _, _, err = call("account", run_dir, "--by", "user", "-P", "-o", "jobid", capsys=capsys)
    assert err == "wattline: -o, -P has no effect on totals (--by)\n"


@pytest.mark.parametrize(("text", "said"), [
    ("300_1", "'300_1' is a task of an array"), ("12.0", "'12.0' is not a job number"),
    ("+3", "not a job number"), ("\u0663", "not a job number"), (",", "names nothing"),
])
def test_a_job_number_is_digits_and_nothing_else(run_dir, text, said, capsys):
    assert said in refused("account", run_dir, "-j", text, capsys=capsys)
