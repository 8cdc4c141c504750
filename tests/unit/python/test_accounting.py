"""Accounting from Python says what the commands say."""

from __future__ import annotations

import json

import pytest
from tests.support.commands import ok

import wattline as wl


@pytest.fixture(scope="module")
def run() -> wl.Result:
    trace = wl.generate("lublin", seed=3, jobs=40, nodes=16)
    return wl.simulate(trace, machine=wl.Machine(nodes=16, node_idle_w=90, node_active_w=300))


@pytest.fixture(scope="module")
def folder(run, tmp_path_factory):
    return run.save(tmp_path_factory.mktemp("runs") / "mine")


def test_the_command_prints_what_the_function_gives(folder, capsys):
    for words, given in (
        ((), {}), (("--by", "user", "--price", "0.2"), {"by": "user", "price": 0.2}),
        (("-j", "3,4", "-X"), {"jobs": [3, 4], "with_steps": False}),
    ):
        printed = json.loads(ok(capsys, "account", folder, *words, "--json"))
        said = json.loads(json.dumps(wl.account_run(folder, **given).to_dict()))
        assert printed == said
    printed = json.loads(ok(capsys, "fairshare", folder, "--half-life", "2d", "--json"))
    assert printed == json.loads(json.dumps(wl.fairshare(folder, half_life="2d").to_dict()))


def test_a_run_that_is_held_needs_no_folder(run, folder):
    held = wl.account_run(run).to_pandas()
    assert held["energy_j"].sum() == pytest.approx(run.schedule.energy_j.sum())
    assert held.equals(wl.account_run(folder).to_pandas())
    assert (wl.fairshare(run).to_pandas()).equals(wl.fairshare(folder).to_pandas())


def test_totals_are_the_sums_of_the_jobs(run):
    jobs = wl.account_run(run, price="0.3EUR").to_pandas()
    totals = wl.account_run(run, by="user", price="0.3EUR")
    frame = totals.to_pandas().set_index("name")
    assert frame["energy_j"].to_dict() == pytest.approx(
        jobs.groupby("user")["energy_j"].sum().to_dict())
    assert totals.cost == pytest.approx(jobs["cost"].sum())
    assert any("idle nodes" in line for line in totals.remarks)


def test_a_store_takes_folders_and_counts_a_run_once(run, folder, tmp_path):
    store = str(tmp_path / "ledger.sqlite")
    assert wl.account_run(folder, store=store).already_entered is False
    with pytest.warns(wl.WattlineWarning, match="not counted again"):
        assert wl.account_run(folder, store=store).already_entered is True
    assert wl.account_run(store=store).run["name"] == "mine"
    with pytest.raises(wl.InputError, match=r"run\.save"):
        wl.account_run(run, store=store)


@pytest.mark.parametrize(("given", "said"), [
    ({"by": "moon"}, "totals are by one of"), ({"price_start": "2024-01-01"}, "goes with price"),
])
def test_mistakes_are_one_line(run, given, said):
    with pytest.raises(wl.InputError, match=said):
        wl.account_run(run, **given)


def test_progress_goes_from_little_to_much(run, tmp_path):
    heard = []
    wl.account_run(run, profile=tmp_path, progress=heard.append)
    assert heard == sorted(heard)
    assert len(heard) > 5
    assert heard[-1] <= 1


def test_who_has_no_job_in_the_run_is_said(run, folder, capsys):
    user = next(iter(wl.account_run(run, by="user").totals))["name"]
    asked = wl.account_run(run, by="user", users=[user, "nobody"], jobs=[1, 7777])
    assert asked.remarks[-2:] == ("no job of the run is of user 'nobody'",
                                  "no job of the run is of number '7777'")
    assert wl.account_run(run, by="user", users=[user], jobs=[1]).remarks == ()
    printed = json.loads(ok(capsys, "account", folder, "-A", "none", "--json"))
    assert printed["remarks"] == ["no job of the run is of account 'none'"]


def test_the_steps_of_an_account_are_those_of_its_jobs(run, tmp_path):
    first, second = (job["job_id"] for job in wl.account_run(run).jobs[:2])
    one = wl.account_run(run, jobs=[first])
    assert {at[0] for at in one.steps} == {first}
    kept = wl.account_run(run.save(tmp_path / "run"), store=str(tmp_path / "s.db"), jobs=[second])
    assert {at[0] for at in kept.steps} == {second}
    assert len(wl.account_run(run).steps) == len(run.jobs)
