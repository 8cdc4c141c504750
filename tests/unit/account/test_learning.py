"""Claims learn from jobs of a ledger: the completed ones, each once."""

import json

import pytest
from click.testing import CliRunner

import wattline as wl
from wattline.account.ledger import Ledger
from wattline.account.records import JobRecord
from wattline.account.store import Store
from wattline.cli.main import cli
from wattline.physics.claims.learning import Ended

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")


def ended(number, **more):
    given = {"application": "lu", "node_class": "xeon", "nodes": 2, "time_s": 100.0,
             "energy_j": 40_000.0, "state": "COMPLETED", "quality": "measured"}
    return Ended(f"site/{number}", **(given | more))


def claims(store):
    return [(claim.application, claim.setting.nodes, claim.runs, claim.time_s, claim.energy_j)
            for claim in wl.list_claims(store).claims]


def test_only_completed_jobs_with_all_that_a_claim_needs_teach(tmp_path):
    store = str(tmp_path / "claims.db")
    jobs = [ended(1), ended(2, time_s=120.0, energy_j=50_000.0), ended(3, state="TIMEOUT"),
            ended(4, application=""), ended(5, energy_j=0.0), ended(6, state="TIMEOUT")]
    found = wl.learn_claims(store, ended=jobs)
    assert claims(store) == [("lu", 2, 2, pytest.approx(110.0), pytest.approx(45_000.0))]
    assert found.left_out == {"state TIMEOUT": 2, "no application": 1, "no joules or no time": 1}
    assert found.simulated == 0


def test_a_job_that_is_read_again_counts_once(tmp_path):
    store = str(tmp_path / "claims.db")
    wl.learn_claims(store, ended=[ended(1), ended(2, time_s=120.0)])
    once = claims(store)
    again = wl.learn_claims(store, ended=[ended(2, time_s=120.0), ended(1)])
    assert (len(again.verified), again.already_counted) == (0, 2)
    assert claims(store) == once


def test_the_command_learns_from_the_ledger_of_a_store(tmp_path):
    url = str(tmp_path / "ledger.db")
    with Store(url) as store:
        Ledger(store).add("october", [
            JobRecord(job_id=number, user="ada", account="", partition="", limit_s=200.0,
                      application="lu", node_class="xeon", nodes=2,
                      cores=32, state=state, submit_s=0.0, start_s=10.0, end_s=110.0,
                      energy_j=40_000.0)
            for number, state in ((1, "COMPLETED"), (2, "FAILED"))])
    result = CliRunner().invoke(cli, ["claims", "learn", "--store", str(tmp_path / "claims.db"),
                                      "--ledger", url, "--json"], catch_exceptions=False)
    found = json.loads(result.stdout)
    assert (len(found["learnt"]), found["left_out"], found["simulated"]) == (
        1, {"state FAILED": 1}, 1)
    assert "those of a simulation" in result.stderr
    assert claims(str(tmp_path / "claims.db")) == [("lu", 2, 1, 100.0, 40_000.0)]


def test_a_store_without_a_ledger_is_refused(tmp_path):
    store = str(tmp_path / "claims.db")
    wl.import_claims("npb", store)
    with pytest.raises(wl.InputError, match="has no jobs in a ledger"):
        wl.learn_claims(store)


def test_claims_learn_from_what_a_site_has_measured(tmp_path):
    """Of job 1 all is known, of 2 less than half; 3 was requeued, 4 failed, 5 has no joules."""
    dump, store = tmp_path / "sacct.txt", str(tmp_path / "site.db")
    rows = ["1|lu|COMPLETED|10:00|11:00|2|energy=7200000", "2|lu|COMPLETED|10:00|11:00|2|",
            "3|lu|REQUEUED|10:00|10:30|2|energy=90", "3|lu|COMPLETED|10:30|12:30|2|energy=9200000",
            "4|lu|FAILED|10:00|11:00|2|energy=5", "5|lu|COMPLETED|10:00|11:00|2|",
            "6||COMPLETED|10:00|11:00|2|energy=5", "2.0||COMPLETED|10:00|10:10|2|"]
    text = "JobID|JobName|State|Start|End|NNodes|AllocTRES|Partition|ConsumedEnergyRaw|NodeList\n"
    for row in rows:
        job, name, state, first, last, nodes, tres = row.split("|")
        text += (f"{job}|{name}|{state}|2026-10-05T{first}:00|2026-10-05T{last}:00|{nodes}|{tres}|"
                 f"gpu|{60 if '.' in job else 0}|n[1-2]\n")
    dump.write_text(text)
    wl.account_import(dump, store=store, zone="UTC")
    found = wl.learn_claims(store, classes={"gpu": "h100"})
    assert found.left_out == {"joules of less than 90% of their time": 1, "state REQUEUED": 1,
                              "state FAILED": 1, "no joules or no time": 1, "no application": 1}
    assert {claim.node_class for claim in wl.list_claims(store).claims} == {"h100"}
    assert claims(store) == [("lu", 2, 2, pytest.approx(5400.0), pytest.approx(8_200_000.0))]
    wl.account_import(dump, store=store, zone="UTC")
    again = wl.learn_claims(store, classes={"gpu": "h100"})
    assert (len(again.verified), again.already_counted) == (0, 2)
    assert len(wl.learn_claims(str(tmp_path / "other.db"), ledger=store,
                               least_coverage=0.1).verified) == 3
    assert wl.list_claims(str(tmp_path / "other.db")).claims[0].node_class == "gpu"


@pytest.mark.parametrize(("words", "said"), [
    (("--coverage", "2"), "is no share"), (("--class", "gpu"), "is not like"),
    ((), "has no jobs in a ledger"),
])
def test_learning_from_nothing_or_with_wrong_words_is_refused(tmp_path, words, said):
    with Store(tmp_path / "s.db") as store:
        Ledger(store)
    result = CliRunner().invoke(cli, ["claims", "learn", "--store", str(tmp_path / "s.db"), *words])
    assert said in str(result.exception)
