"""The order by claims, and claims that a scenario reads from a store."""

import math

import numpy as np
import pytest
from tests.support.choices import planned

import wattline as wl
from wattline.policies.contract import queue_key
from wattline.studies.hetero.runs import regret_order


def test_who_loses_most_without_its_best_class_goes_first():
    """The keys are those of the published rule, by the logarithm of joules."""
    ready = planned("order.claims")
    order = ready.policy.order
    wanted = regret_order(ready.policy.configuration, lambda row: math.log(row.claimed_j))
    keys = [queue_key(None, order, job) for job in range(len(ready.jobs))]
    assert keys == pytest.approx(wanted.tolist())
    assert len(set(np.round(keys, 9))) > 1


def test_the_order_changes_who_is_served_first():
    by_claims, in_turn = planned("order.claims").run(), planned("configure.claims").run()
    assert by_claims.ran.all()
    assert not np.array_equal(by_claims.schedule.start_s, in_turn.schedule.start_s)


def test_an_order_by_claims_asks_for_claims():
    with pytest.raises(wl.InputError, match="'claims' does not go with"):
        planned("order.fcfs", **{"policy.order": "claims"})


def test_a_scenario_reads_claims_from_a_store(tmp_path):
    store = str(tmp_path / "claims.db")
    wl.import_claims("npb", store)
    shipped = planned("configure.claims").run()
    kept = planned("configure.claims", **{
        "policy.configure": {"name": "claims", "store": f"sqlite:///{store}"}}).run()
    assert kept.energy_j == shipped.energy_j


def test_claims_from_a_file_and_a_store_at_once_are_refused(tmp_path):
    with pytest.raises(wl.InputError, match="claims and store are both given"):
        planned("configure.claims", **{"policy.configure": {
            "name": "claims", "store": "a.db", "claims": "b.csv"}})
