"""`wattline account`: conditions hold for totals too, and job numbers are read as written."""

import json
import shutil

import pytest
from tests.support.commands import call, ok, refused
from tests.support.run_maker import fcfs_run, some_jobs

from wattline.analysis import rundir


@pytest.fixture
def run_dir(tmp_path):
    jobs = some_jobs(20, group=[0, 1] * 10)
    return rundir.write(fcfs_run(jobs), tmp_path / "run")


def listed(*words, capsys):
    found = json.loads(ok(capsys, "account", *words, "-X", "--json"))
    return {(job["user"], job["wattline"]["energy_j"]) for job in found["jobs"]}


@pytest.mark.parametrize("words", [
    ("-u", "ada"), ("-u", "ada,bob", "-A", "1"), ("-j", "3,4,5"), ("-S", "3000"), ("-E", "2000"),
    ("-S", "1000", "-E", "4000", "-u", "eve"), ("-A", "nosuch"),
])
def test_totals_are_of_the_jobs_that_the_same_conditions_list(run_dir, words, capsys):
    jobs = listed(run_dir, *words, capsys=capsys)
    found = json.loads(ok(capsys, "account", run_dir, "--by", "user", *words, "--json"))
    assert {total["name"] for total in found["totals"]} == {user for user, _ in jobs}
    assert sum(total["jobs"] for total in found["totals"]) == len(jobs) < 20
    assert sum(total["energy_j"] for total in found["totals"]) == pytest.approx(
        sum(energy_j for _, energy_j in jobs))
    shown = ok(capsys, "account", run_dir, "--by", "user", *words).splitlines()[2:]
    assert {line.split()[0] for line in shown} == {user for user, _ in jobs}


def test_profiles_are_of_the_chosen_jobs_only(run_dir, tmp_path, capsys):
    ok(capsys, "account", run_dir, "-u", "ada", "--profile", tmp_path / "prof")
    assert [path.name for path in (tmp_path / "prof").iterdir()] == ["ada"]


def test_how_jobs_would_be_printed_is_said_to_have_no_effect_on_totals(run_dir, capsys):
    _, _, err = call(capsys, "account", run_dir, "--by", "user", "-P", "-o", "jobid")
    assert err == "wattline: -o, -P has no effect on totals (--by)\n"


@pytest.mark.parametrize(("text", "said"), [
    ("300_1", "'300_1' is a task of an array"), ("12.0", "'12.0' is not a job number"),
    ("+3", "not a job number"), ("\u0663", "not a job number"), (",", "names nothing"),
])
def test_a_job_number_is_digits_and_nothing_else(run_dir, text, said, capsys):
    assert said in refused(capsys, "account", run_dir, "-j", text)


def energies(store, capsys, *words):
    found = json.loads(ok(capsys, "account", "--store", store, *words, "--by", "user", "--json"))
    return found["run"], sum(total["energy_j"] for total in found["totals"])


def test_two_runs_of_one_name_are_two_runs(tmp_path, capsys):
    jan = rundir.write(fcfs_run(some_jobs(8)), tmp_path / "jan" / "run1")
    feb = rundir.write(fcfs_run(some_jobs(20, seed=2)), tmp_path / "feb" / "run1")
    store = tmp_path / "s.db"
    ok(capsys, "account", jan, "--store", store)
    january = energies(store, capsys)
    _, _, err = call(capsys, "account", feb, "--store", store)
    assert "entered as run1-2: the store has another run called run1" in err
    assert energies(store, capsys, "--run-name", "run1") == january
    name, energy_j = energies(store, capsys)
    assert (name, energy_j) == ("run1-2", pytest.approx(
        float(rundir.read(feb).schedule.energy_j.sum())))
    ok(capsys, "account", jan.rename(tmp_path / "run1-2"), "--store", store)
    assert energies(store, capsys)[0] == "run1-2"  # the last one entered is still February's


def test_a_run_counts_once_under_whatever_name(run_dir, tmp_path, capsys):
    store, copy = tmp_path / "s.db", tmp_path / "elsewhere"
    shutil.copytree(run_dir, copy)
    ok(capsys, "account", run_dir, "--store", store)
    for folder in (run_dir, copy):
        status, out, err = call(capsys, "account", folder, "--store", store, "--json")
        assert status == 0
        assert "already entered as run;" in err
        assert (json.loads(out)["run"], json.loads(out)["already_entered"]) == ("run", True)
    said = refused(capsys, "account", "--store", store, "--run-name", "elsewhere")
    assert "it has run\n" in said


def test_a_run_made_again_replaces_the_old_one_where_asked(run_dir, tmp_path, capsys):
    store = tmp_path / "s.db"
    ok(capsys, "account", run_dir, "--store", store)
    rundir.write(fcfs_run(some_jobs(8)), run_dir)
    ok(capsys, "account", run_dir, "--store", store, "--replace")
    found = json.loads(ok(capsys, "account", "--store", store, "--json"))
    assert (found["run"], len(found["jobs"])) == ("run", 8)


def test_the_clock_of_a_run_can_be_set_later(run_dir, tmp_path, capsys):
    words = ("account", run_dir, "--store", tmp_path / "s.db", "--json")
    first = json.loads(ok(capsys, *words))["jobs"][0]["time"]["start"]
    own_s = 844_000_000  # what the log says itself
    for more in (("--epoch", "1000000"), ()):
        again = json.loads(ok(capsys, *words, *more))
        assert again["jobs"][0]["time"]["start"] == first - own_s + 1_000_000


def test_what_joules_rest_on_stays_with_them_in_the_store(tmp_path, capsys) -> None:
    """Of a folder and of a ledger, as a table and as JSON, by account and by share."""
    ok(capsys, "simulate", "--trace", "examples/tiny.swf", "-o", tmp_path / "run")
    store = f"sqlite:///{tmp_path}/ledger.db"
    ok(capsys, "account", tmp_path / "run", "--store", store)
    for words in (["account", "--store", store], ["account", "--store", store, "--by", "user"],
                  ["fairshare", "--store", store]):
        status, out, err = call(capsys, *words, "--json")
        assert status == 0
        assert "node powers are assumed" in err
        assert any("node powers are assumed" in line for line in json.loads(out)["assumed"])


def test_a_number_beyond_all_job_numbers_is_refused(tmp_path, capsys) -> None:
    ok(capsys, "simulate", "--trace", "examples/tiny.swf", "-o", tmp_path / "run")
    error = refused(capsys, "account", tmp_path / "run", "-j", "9" * 20)
    assert "is not a job number" in error


@pytest.fixture
def prices(tmp_path):
    path = tmp_path / "prices.csv"
    path.write_text("Datetime (UTC),Price (EUR/kWh)\n2023-01-01 00:00,0.1\n2023-01-01 01:00,0.4\n"
                    "2023-01-01 02:00,-0.1\n2023-01-01 03:00,0.2\n")
    return path


def costs_of(run_dir, capsys, *words):
    return json.loads(ok(capsys, "account", run_dir, *words, "--by", "user", "--json"))


def test_one_price_charges_every_joule_alike(run_dir, capsys):
    found = costs_of(run_dir, capsys, "--price", "0.36EUR")
    assert found["currency"] == "EUR"
    for total in found["totals"]:
        assert total["cost"] == pytest.approx(total["energy_j"] * 1e-7)
    assert found["cost"] == pytest.approx(found["energy_j"] * 1e-7)
    shown = ok(capsys, "account", run_dir, "--by", "user", "--price", "0.36EUR")
    assert "cost EUR" in shown
    assert "idle nodes" in found["price_notes"][-1]
    assert not set(found["price_notes"]) & set(found["remarks"]), "said once"


def test_a_table_charges_joules_at_the_price_of_their_time(run_dir, prices, capsys):
    from wattline.traces.tariffs import read_tariff

    run, price = rundir.read(run_dir), read_tariff(prices)
    ran, first_s = run.ran, run.jobs.submit_s[0]
    by_hand = sum(  # every job draws one power from its start to its end
        energy_j / (end_s - start_s) * price.integral(start_s - first_s, end_s - first_s)
        for start_s, end_s, energy_j in zip(
            run.schedule.start_s[ran], run.schedule.end_s[ran], run.schedule.energy_j[ran],
            strict=True))
    found = costs_of(run_dir, capsys, "--price", prices)
    assert found["cost"] == pytest.approx(by_hand)
    assert sum(total["cost"] for total in found["totals"]) == pytest.approx(by_hand)
    assert "has no time in common with the log" in found["price_notes"][0]
    assert ("its first row (2023-01-01T00:00:00) is taken for the first submission; --price-start "
            "DATE says otherwise") in found["price_notes"][0]
    later = costs_of(run_dir, capsys, "--price", prices, "--price-start", "2023-01-01T03:00")
    assert later["cost"] == pytest.approx(later["energy_j"] * 0.2 / 3.6e6)


def test_the_list_of_jobs_has_their_costs(run_dir, capsys):
    lines = ok(capsys, "account", run_dir, "-X", "-P", "-u", "ada", "--price", "0.36", "-o",
               "jobid,consumedenergyraw,cost").splitlines()
    assert lines[0] == "JobID|ConsumedEnergyRaw|Cost"
    for line in lines[1:]:
        _, energy_j, cost = line.split("|")
        assert float(cost) == pytest.approx(float(energy_j) * 1e-7, abs=1e-4)
    assert "needs a price" in refused(capsys, "account", run_dir, "-o", "jobid,cost")


@pytest.mark.parametrize(("words", "said"), [
    (("--price", "dear"), "like 0.12 or 0.12EUR"),
    (("--price-start", "2023-01-01"), "--price FILE"),
    (("--price", "0.1", "--price-start", "2023-01-01"), "holds at any time"),
])
def test_prices_that_cannot_be_used_are_one_line(run_dir, words, said, capsys):
    assert said in refused(capsys, "account", run_dir, *words)


def test_a_budget_takes_one_price_too(capsys):
    words = ("energy", "plan", "--energy", "10kWh", "--period", "1d", "--nodes", "2",
             "--node-idle-w", "90", "--node-active-w", "300", "--json")
    flat = json.loads(ok(capsys, *words, "--price", "0.5EUR"))
    assert flat["currency"] == "EUR"
    assert flat["cost"] == pytest.approx(flat["cost_flat"])


def test_costs_of_jobs_have_a_currency_and_a_total(run_dir, capsys):
    priced = ("account", run_dir, "-X", "--price", "0.2EUR")
    cost = json.loads(ok(capsys, *priced, "--json"))["cost"]
    assert ok(capsys, *priced).splitlines()[-1] == f"cost in all: {cost:.4f} EUR"
    assert "cost in all" not in ok(capsys, *priced, "-P")  # columns for programs
    assert "is no currency" in refused(capsys, "account", run_dir, "--price", "0.12XYZ")
