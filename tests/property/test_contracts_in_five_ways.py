"""Contracts decide the same in five ways too, where jobs carry wrong types and are corrected."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support import regulated as contract
from tests.support.regulated import NAMES
from tests.support.thinned import crossed

from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.engine.truth import TrueTypes
from wattline.engine.world import Nature
from wattline.results.verify.judge import verify
from wattline.testing.five_ways import differences


@pytest.mark.parametrize(("name", "way"), crossed(
    list(NAMES), [(1, True, False, True), (2, False, True, False), (3, True, True, False)],
    later=pytest.mark.long))
def test_a_contract_with_mislabelled_jobs_decides_the_same_in_five_ways(
    name: str, way: tuple[int, bool, bool, bool]
) -> None:
    """The world answers by the true type and by each job's own power, which no policy may look
    at."""
    result = []
    for seed, feedback, preempt, together in (way,):
        jobs = contract.typed_jobs(seed, 20)
        truth = np.array(jobs.application)
        wrong = np.random.default_rng(seed).random(20) < 0.4
        truth[wrong] = 1 - truth[wrong]
        policy = contract.regulated(name, feedback=feedback, preempt=preempt)
        own = np.random.default_rng(seed + 9).uniform(0.6, 1.5, 20) if seed > 1 else np.ones(1)
        jobs = jobs.with_columns(power_w=own * jobs.power_w)
        answers = TrueTypes(policy.regulation.desk.types, truth, own)
        rules = Rules(nature=Nature(answers=answers), event_rows=4096, speeds_together=together)
        run = simulate(jobs, contract.MACHINE, policy, rules)
        result.append([differences(jobs, contract.MACHINE, policy, rules, run),
                       verify(run).sentences[:3]])
    assert result == [[[], []]]
