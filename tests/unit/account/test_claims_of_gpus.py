"""Claims whose setting has GPUs: told apart, kept in a store, carried over from older stores."""

import math
from dataclasses import replace

import pytest
from sqlalchemy import inspect, text
from tests.support.choices import planned

import wattline as wl
from wattline.account import schema
from wattline.account.claim_table import ClaimTable
from wattline.account.store import Store
from wattline.books import Books, Submitted
from wattline.physics.claims import Claim, ClaimBook, ClaimSetting, Measured, npb_claims
from wattline.physics.claims.files import parse_claims, write_claims
from wattline.physics.claims.latency import with_cap_latency

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
OLD_CLAIM = """CREATE TABLE claim (id INTEGER PRIMARY KEY, application VARCHAR(255) NOT NULL,
node_class VARCHAR(255) NOT NULL, threads VARCHAR(64) NOT NULL, cap_w FLOAT NOT NULL,
nodes INTEGER NOT NULL, time_s FLOAT NOT NULL, energy_j FLOAT NOT NULL, runs INTEGER NOT NULL,
time_error FLOAT, energy_error FLOAT, predictions INTEGER NOT NULL,
UNIQUE (application, node_class, threads, cap_w, nodes))"""
OLD_RUN = """CREATE TABLE claim_run (id INTEGER PRIMARY KEY, digest VARCHAR(64) NOT NULL UNIQUE,
application VARCHAR(255) NOT NULL, node_class VARCHAR(255) NOT NULL, threads VARCHAR(64) NOT NULL,
cap_w FLOAT NOT NULL, nodes INTEGER NOT NULL)"""
RUN = Measured("lu", "xeon", ClaimSetting("8"), 12.0, 130.0, "job 7")


def settings():
    yield ClaimSetting("8")
    for gpu in ("", "h200"):
        for gpus in (1, 4):
            for gpu_cap_w in (300.0, math.inf):
                yield ClaimSetting("8", gpu=gpu, gpus=gpus, gpu_cap_w=gpu_cap_w)


def claims():
    return [Claim("lu", "fat", setting, 10.0 + place, 100.0)
            for place, setting in enumerate(settings())]


def test_settings_that_differ_in_their_gpus_alone_are_different_claims():
    with Store("sqlite://") as store:
        table = ClaimTable(store)
        assert table.save(claims()) == 9
        assert repr(list(table.load())) == repr(claims())  # nan is not nan
    assert repr(parse_claims(write_claims(claims()), "text")) == repr(claims())


@pytest.mark.parametrize(("given", "said"), [
    ({"gpu": "h200"}, "gpu 'h200' without a number"), ({"gpu_cap_w": 300.0}, "without a number"),
    ({"gpus": -1}, "gpus is -1"), ({"gpus": 1, "gpu_cap_w": 0.0}, "gpu_cap_w is 0"),
])
def test_gpus_that_cannot_be_are_refused(given, said):
    with pytest.raises(wl.InputError, match=said):
        ClaimSetting(**given)


def test_a_late_cap_of_gpus_is_between_the_capped_and_the_free_run():
    free = Claim("lu", "fat", ClaimSetting(gpus=4), 10.0, 1000.0)
    capped = Claim("lu", "fat", ClaimSetting(gpus=4, gpu_cap_w=300.0), 20.0, 600.0)
    late = with_cap_latency(ClaimBook([free, capped]), 2.0).find("lu", "fat", capped.setting)
    assert (late.time_s, late.energy_j) == (pytest.approx(18.0), pytest.approx(680.0))


def old_store(path):
    """As version 3 left it: one verified claim, and the run that verified it."""
    with Store(path) as store:
        now = ClaimTable(store)
        now.save([Claim("lu", "xeon", ClaimSetting("8"), 10.0, 100.0)])
        now.record([RUN])
        with store.engine.begin() as connection:
            for old, statement in (("claim", OLD_CLAIM), ("claim_run", OLD_RUN)):
                connection.execute(text(statement))
                kept = ", ".join(c["name"] for c in inspect(connection).get_columns(old))
                connection.execute(text(
                    f"INSERT INTO {old} ({kept}) SELECT {kept} FROM application_{old}"))
                connection.execute(text(f"DROP TABLE application_{old}"))
            connection.execute(schema.version.update().values(version=3))
    return path


def test_a_store_of_version_3_keeps_its_claims_and_counts_no_run_again(tmp_path):
    path = old_store(tmp_path / "old.db")
    with Store(path) as store:
        table = ClaimTable(store)
        (claim,) = table.load()
        assert (claim.setting, claim.runs, claim.time_s) == (ClaimSetting("8"), 2, 11.0)
        assert table.record([RUN]) == []
        assert not {"claim", "claim_run"} & set(inspect(store.engine).get_table_names())


def test_a_step_that_was_cut_off_half_way_is_done_again_without_loss(tmp_path):
    path = old_store(tmp_path / "old.db")
    with Store(path) as store, store.engine.begin() as connection:
        schema.STEPS[4](connection)
    with Store(path) as store:
        assert schema.migrate(store) == 3
        assert len(ClaimTable(store).load()) == 1


def test_claims_learn_how_many_gpus_a_measured_job_had_per_node(tmp_path):
    dump, store = tmp_path / "sacct.txt", str(tmp_path / "site.db")
    head = "JobID|JobName|State|Start|End|NNodes|AllocTRES|Partition|NodeList\n"
    when = "2026-10-05T10:00:00|2026-10-05T11:00:00|2"
    dump.write_text(head + "".join(
        f"{job}|lu|COMPLETED|{when}|energy=7200000{tres}|fat|n[1-2]\n"
        for job, tres in ((1, ""), (2, ",gres/gpu=8"), (3, ",gres/gpu=8,gres/gpu:h200=8"),
                          (4, ",gres/gpu=3"))))
    wl.account_import(dump, store=store, zone="UTC")
    assert wl.learn_claims(store).left_out == {"nodes with different numbers of GPUs": 1}
    found = {(c.setting.gpus, c.setting.gpu): c.runs for c in wl.list_claims(store).claims}
    assert found == {(0, ""): 1, (4, ""): 1, (4, "h200"): 1}


def test_the_cheapest_claim_is_that_of_capped_gpus(tmp_path):
    file, store = tmp_path / "claims.csv", str(tmp_path / "kept.db")
    file.write_text("application,node_class,time_s,energy_j,gpus,gpu_cap_w\n"
                    "lu,fat,10,900,2,300\nlu,fat,8,1000,2,\nlu,fat,30,2000,,\n")
    wl.import_claims(file, store)
    found = wl.choose_claim("lu", store).claims
    assert [(c.setting.gpus, c.setting.gpu_cap_w) for c in found] == [
        (2, 300.0), (2, math.inf), (0, math.inf)]


def test_a_decision_by_claims_asks_for_gpus_and_their_cap(tmp_path):
    file = tmp_path / "claims.csv"
    file.write_text(write_claims(
        replace(claim, setting=replace(claim.setting, gpus=2, gpu_cap_w=250.0))
        for claim in npb_claims()))
    ready = planned("configure.claims", **{
        "policy.configure": {"name": "claims", "claims": str(file)}})
    books = Books.open(ready.machine, ready.policy, ready.rules.terms)
    (decision,) = books.step(0.0, [
        Submitted("a", 6, 500.0, application="EP.A", codes={"application": 0})])
    assert (decision.control.gpus, decision.control.gpu_cap_w) == (2, 250.0)
