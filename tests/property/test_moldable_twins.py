"""The rules for moldable jobs decide the same compiled and plain."""

import json
import os
import subprocess
import sys

from wattline.physics.regression import shipped_models
from wattline.policies.configuration.offers import make_offers
from wattline.studies.rmap import POLICIES, run_one
from wattline.studies.rmap_traces import KINDS, make_trace


def schedules():
    """Start, end and configuration of every job, for all policies and traces."""
    tables = {name: shipped_models()[name].table() for name in ("BT-MZ", "NSC")}
    found = []
    for seed, kind in enumerate(KINDS):
        jobs = make_trace(kind, list(tables.values()), 32, seed, jobs=12, load=1.5)
        offers = make_offers(jobs, tables)
        for policy in POLICIES:
            done = run_one(jobs, offers, 32, 3400.0, policy).schedule
            found.append([done.start_s.tolist(), done.end_s.tolist(), done.configuration.tolist()])
    return found


def test_compiled_and_plain_decisions_are_equal():
    plain = subprocess.run([sys.executable, "-m", "tests.property.test_moldable_twins"],
                           env={**os.environ, "WATTLINE_PLAIN": "1"}, capture_output=True,
                           text=True, check=True)
    assert json.loads(plain.stdout) == schedules()


if __name__ == "__main__":
    sys.stdout.write(json.dumps(schedules()))
