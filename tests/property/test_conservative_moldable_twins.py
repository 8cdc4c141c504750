"""Conservative backfilling of moldable jobs: the same compiled and plain, under the cap."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.machine import Machine, NodeClass
from wattline.model.signal import Signal
from wattline.physics.regression import shipped_models
from wattline.policies.admission.lending import Lending, LendingMemory
from wattline.policies.backfill.conservative_moldable import ConservativeMoldable
from wattline.policies.configuration.moldable import adaptive, naive, traditional
from wattline.policies.configuration.offers import make_offers
from wattline.policies.contract import Composition
from wattline.policies.order.fcfs import Fcfs
from wattline.policies.placement.counted import Counted
from wattline.policies.regulation.none import NoRegulation
from wattline.studies.rmap.workloads import KINDS, make_trace

RULES = {"traditional": traditional, "naive": naive,
         "adaptive": lambda offers: adaptive(offers, 0.3)}
NODES, CAP_W = 32, 4600.0


def runs(jobs=12):
    tables = {name: shipped_models()[name].table() for name in ("BT-MZ", "NSC")}
    for seed, kind in enumerate(KINDS):
        trace = make_trace(kind, list(tables.values()), NODES, seed, jobs=jobs, load=1.5)
        offers = make_offers(trace, tables)
        for name, rule in RULES.items():
            policy = Composition(Fcfs(), ConservativeMoldable(),
                                 Lending(offers, LendingMemory.start(), 0), rule(offers),
                                 Counted(), NoRegulation())
            node = NodeClass("node", power_w_idle=0.0, power_w_active=230.0)
            cap = Rules(cap_w=Signal(np.array([0.0]), np.array([CAP_W]), "W"))
            yield name, simulate(trace, Machine.uniform(NODES, node), policy, cap)


def schedules():
    return [[name, run.schedule.start_s.tolist(), run.schedule.configuration.tolist()]
            for name, run in runs()]


def test_all_jobs_run_and_the_cap_is_kept():
    for name, run in runs(8):
        assert run.ran.all(), name
        assert run.events.power_w.max() <= CAP_W * (1 + 1e-9), name


@pytest.mark.long
@pytest.mark.compiled
def test_compiled_and_plain_conservative_decisions_are_equal():
    here = "tests.property.test_conservative_moldable_twins"
    plain = subprocess.run([sys.executable, "-m", here], capture_output=True, text=True, check=True,
                           env={**os.environ, "WATTLINE_PLAIN": "1"})
    assert json.loads(plain.stdout) == schedules()


if __name__ == "__main__":
    sys.stdout.write(json.dumps(schedules()))
