"""Verdicts on the pages of the energy documents: what counts as fitted, and who is favoured."""

import itertools

import numpy as np
import pytest

from wattline.studies.fairshare.published import compared, judge_favour, rows
from wattline.studies.fairshare.study import BY_JOULES, FIRST_COME, ShareSeeds
from wattline.studies.hetero import published
from wattline.studies.hetero.published import EQUAL
from wattline.studies.hetero.study import SAVED, fitted_figures
from wattline.studies.hetero.workloads import LOADS, PUBLISHED
from wattline.studies.published import rows_from

GIVEN = [dict(zip(("start_s", "gap_s", "xeon_idle_w"), chosen, strict=True))
         for chosen in itertools.product((None, 0.0), (None, 0.0), (None, 12.0))]


def perfect(**given):
    """Results that are the published ones to the digit."""
    loads = {load: {} for load in LOADS}
    for (load, rule), seen in PUBLISHED.items():
        told = {"makespan_s": seen.time_s, "energy_j": seen.energy_j, "edp_js": seen.edp_js,
                "nodes": [list(thread) for thread in seen.nodes]}
        loads[load][rule] = told | {"published": dict(told)}
    saving = {load: {} for load in LOADS}
    for load, (name, key) in itertools.product(LOADS, SAVED.items()):
        saved = 1 - loads[load]["energy"][key] / loads[load]["default"][key]
        saving[load] |= {name: saved, f"{name}_published": saved}
    found = {"loads": loads, "saving": saving}
    return found | {"fitted": fitted_figures(**given), "late": found, "example": {}}


def verdicts(results):
    return {row.what: row.verdict for row in rows_from(published.rows(results))}


@pytest.mark.parametrize("given", GIVEN, ids=str)
def test_a_figure_is_fitted_where_something_was_inferred_from_it(given):
    told = verdicts(perfect(**given))
    start, gap, idle = (given[name] is None for name in ("start_s", "gap_s", "xeon_idle_w"))
    wanted = {
        "sz-load, energy: time": start, "sz-load, default: time": gap,
        "mz-load, energy: time": False, "mz-load, default: time": False,
        **{f"{load}, {rule}: energy": idle for load, rule in PUBLISHED},
        "sz-load, energy: EDP": start or idle, "sz-load, default: EDP": gap or idle,
        "mz-load, energy: EDP": idle, "mz-load, default: EDP": idle,
        "time saved, sz-load": start or gap, "time saved, mz-load": False,
        "energy saved, sz-load": idle, "energy saved, mz-load": idle,
        "EDP saved, sz-load": start or gap or idle, "EDP saved, mz-load": idle,
    }
    assert {what: told[what] for what in wanted} == {
        what: "fitted" if fitted else "holds" for what, fitted in wanted.items()}


@pytest.mark.parametrize("given", [GIVEN[0], GIVEN[-1]], ids=str)
def test_a_figure_that_is_off_fails_whatever_was_inferred_from_it(given):
    results = perfect(**given)
    for rules in results["loads"].values():
        for told in rules.values():
            told["energy_j"] *= 1 + 2 * EQUAL
    told = verdicts(results)
    assert {told[f"{load}, {rule}: energy"] for load, rule in PUBLISHED} == {"fails"}


def test_a_figure_that_is_fitted_says_what_was_inferred():
    for row in rows_from(published.rows(perfect(**GIVEN[0]))):
        assert ("inferred from" in row.why) == (row.verdict == "fitted"), row


def made(joules, first):
    """By user, a figure per seed, under both orders."""
    return {order: {user: np.array(values, float) for user, values in zip(
        ("efficient", "ondemand", "2.3 GHz"), users, strict=True)}
        for order, users in ((FIRST_COME, first), (BY_JOULES, joules))}


@pytest.mark.parametrize(("joules", "first", "verdict"), [
    # lowest and lower in both seeds
    (([1, 1], [4, 4], [3, 3]), ([2, 2], [2, 2], [2, 2]), "holds"),
    # not lower than first come in the second seed
    (([1, 1], [4, 4], [3, 3]), ([3, 0.5], [2, 2], [2, 2]), "holds on average"),
    # not the lowest in the second seed
    (([1, 2], [4, 4], [3, 1]), ([3, 3], [2, 2], [2, 2]), "holds on average"),
    # the lowest, but no lower than the order of submission made it already
    (([1, 1], [4, 4], [3, 3]), ([1, 1], [4, 4], [3, 3]), "fails"),
    # lower than before, but another user is better off
    (([2, 2], [4, 4], [1, 1]), ([3, 3], [3, 3], [3, 3]), "fails")])
def test_favoured_is_lower_than_others_and_than_first_come(joules, first, verdict):
    by_order = made(joules, first)
    assert judge_favour(compared(by_order), seeds=2) == verdict
    told = rows_from(rows(ShareSeeds((1, 2), by_order, by_order)))
    assert [row.verdict for row in told] == [verdict] * 2 + ["not reproduced"] * 2
