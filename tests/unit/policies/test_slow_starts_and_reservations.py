"""A job that starts at a lower frequency takes longer, and must not run into reserved nodes."""

from __future__ import annotations

import pytest
from tests.support.choices import planned
from tests.support.thinned import mostly

from wattline.results.verify.judge import verify

RESERVED = [{"start_s": 400.0, "duration_s": 300.0, "nodes": 9},
            {"start_s": 900.0, "duration_s": 100.0, "nodes": 12}]


def problems(seed, backfill, power):
    run = planned("power.adaptive", seed, **{"policy.power": power, "reservations": RESERVED,
                                             "policy.backfill": backfill}).run()
    assert run.ran.sum() > 20
    return verify(run).sentences


POWERS = ({"name": "adaptive"}, {"name": "adaptive", "strategy": "mix"},
          {"name": "budget", "energy": "9MJ", "period": "1h"})


@pytest.mark.parametrize("backfill", ["none", "easy", "conservative"])
@pytest.mark.parametrize("seeds", mostly([(1, 2), (3, 4)], [(1, 2)], pytest.mark.long))
def test_no_job_is_slowed_into_reserved_nodes(backfill: str, seeds: tuple[int, ...]) -> None:
    found = [problem for seed in seeds for power in POWERS
             for problem in problems(seed, backfill, power)]
    assert found == []
