"""Nodes that differ by manufacture: thrifty nodes and caps in proportion help."""

import numpy as np
import pytest
from tests.unit.policies.test_configurations import jobs_of

from wattline.physics.configurations import ConfigurationTable
from wattline.policies.configuration.offers import make_offers
from wattline.policies.contract import give_back, place
from wattline.policies.placement.varied import THROTTLE, Varied
from wattline.policies.state import make_state

FACTOR = np.array([1.2, 1.1, 1.0, 1.0, 0.9, 0.8])
THRIFTY = np.argsort(FACTOR, kind="stable")
FELT, UNCAPPED = 0, 2
TABLE = ConfigurationTable.build("app", [2, 2, 2], [8] * 3, [50, 80, 115], [125, 100, 80],
                                 [200, 300, 400])


def placed(row, order, fitted_caps=0):
    """The books of a job that was given nodes in this configuration."""
    jobs = jobs_of((0.0, 2, 150.0))
    offers = make_offers(jobs, {"app": TABLE})
    state = make_state(jobs, jobs.procs, np.array([400.0]), units=6, idle_w=0.0, nodes=6)
    state.live[0].config = row + 1
    placement = Varied(offers, FACTOR.copy(), order, fitted_caps)
    assert place(state, placement, 0)
    taken = np.flatnonzero(state.node_free == 0)
    live = state.live[0]
    found = (taken.tolist(), float(live.stretch), float(live.watts))
    give_back(state, placement, 0)
    assert state.node_free.all()
    return found


def test_a_felt_cap_makes_the_slowest_node_count():
    assert placed(FELT, np.arange(6)) == ([0, 1], pytest.approx(1.2**THROTTLE), 200.0)


def test_fitted_caps_let_all_nodes_keep_the_mean_pace():
    assert placed(FELT, np.arange(6), 1) == ([0, 1], pytest.approx(1.15**THROTTLE), 200.0)


def test_thrifty_nodes_are_faster_under_a_cap_and_draw_less_without():
    assert placed(FELT, THRIFTY) == ([4, 5], pytest.approx(0.9**THROTTLE), 200.0)
    assert placed(UNCAPPED, THRIFTY) == ([4, 5], 1.0, pytest.approx(400 * 0.85))
    assert placed(UNCAPPED, np.arange(6)) == ([0, 1], 1.0, pytest.approx(400 * 1.15))
