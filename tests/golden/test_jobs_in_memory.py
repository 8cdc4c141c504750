"""MaxJobCount counts jobs that are over too, until MinJobAge has passed.

Slurm 22.05.8 with MaxJobCount=3 and MinJobAge=300 was sent jobs of 1 s, 4 s apart: it took two, and
of the third its log says "MaxJobCount limit from slurm.conf reached (3)".
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.support.shared import machine, requests
from tests.support.twin_sites import site, submit
from wattline.shared_nodes.outcome import RAN, REASONS, REFUSED
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.simulate import simulate_shared


@pytest.mark.parametrize(("most", "age_s", "taken"), [
    (3, 300.0, [True, True, False, False, True]), (4, 300.0, [True] * 3 + [False, True]),
    (2, 1.0, [True] * 5), (1, 1.0, [False] * 5), (3, math.inf, [True, True, False, False, False])])
def test_jobs_that_are_over_count_until_their_age(
    most: int, age_s: float, taken: list[bool]
) -> None:
    on = machine(2)
    asked = requests(on, *({"submit_s": at, "run_s": 1.0} for at in (0.0, 20.0, 40.0, 60.0, 400.0)))
    found = simulate_shared(on, asked, Rules(max_job_count=most, min_job_age_s=age_s))
    assert (found.state == RAN).tolist() == taken
    assert all(REASONS[reason] == "over a limit on submissions"
               for reason in found.reason[found.state == REFUSED])


@pytest.mark.parametrize(("lines", "taken"), [
    ("MaxJobCount=3\n", 2), ("MaxJobCount=3\nMinJobAge=0\n", 2),
    ("MaxJobCount=3\nMinJobAge=2\n", 5),
    ("MinJobAge=300\n", 5)])
def test_a_site_is_held_to_its_own(tmp_path: Path, lines: str, taken: int) -> None:
    conf = (lines + "NodeName=n1 CPUs=4\nPartitionName=p Nodes=ALL Default=YES\n"
            "SelectTypeParameters=CR_CPU\n")
    log = "".join(submit("-n 1 -t 1", at, 1) for at in range(0, 50, 10))
    found = site(tmp_path, log, conf, None)
    run = simulate_shared(found.machine, found.made.requests, found.rules)
    assert (run.state == RAN).sum() == taken
    said = any("sbatch would try again" in line for line in found.lists.assumed)
    assert said == ("MaxJobCount" in lines)
