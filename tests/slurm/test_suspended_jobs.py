"""Jobs that an operator suspends and resumes: their watts are free meanwhile, and the cap holds."""

from __future__ import annotations

import time
from pathlib import Path

from tests.slurm.bedside import LONG_S, OURS, finish, runs, slurm, submit, until
from tests.slurm.test_serving import cycles, drawn_w, site, started
from wattline.controller.answers import explained
from wattline.controller.serving import serving
from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.running import replays


def test_an_operator_suspends_a_job_and_others_use_its_watts(bed: Bed, tmp_path: Path) -> None:
    """Six nodes under 900 W have room for one of 300 W; Slurm keeps a suspended job's licences...
    """
    cap = tmp_path / "cap"
    cap.write_text("900")
    more = 'cap_file = "cap"\nlicences = true\n'
    config = site(bed, tmp_path, more)
    with serving(config, act=True) as here:
        first, = started(bed, here, count=1, nodes=1, watts=300)
        second = submit(bed, LONG_S, 300, *OURS, "-N", "1", "-t", "20", "-L", "watts:300")
        cycles(here, lambda: "watts" in explained(here, config,
                                                  {"job": second}).said)
        slurm(bed, "scontrol", "suspend", first)
        cycles(here, lambda: runs(bed, second))
        said = explained(here, config, {"job": first}).said
        assert "210 W are free for others" in said
        # Nodes that obey come down, and both go on.
        slurm(bed, "scontrol", "resume", first)
        cycles(here, lambda: runs(bed, first) and 850.0 < drawn_w(bed) <= 900.0)
        since_s = time.time()
        cycles(here, lambda: time.time() > since_s + 3.0)
        assert runs(bed, first)
        assert drawn_w(bed) <= 900.0
        # At 590 W two busy nodes do not fit, even at their least.
        slurm(bed, "scontrol", "suspend", first)
        cycles(here, lambda: not runs(bed, first))
        cap.write_text("590")
        cycles(here, lambda: drawn_w(bed) <= 590.0)
        slurm(bed, "scontrol", "resume", first)
        cycles(here, lambda: slurm(
            bed, "squeue", "-h", "-j", first, "-o", "%T") == "SUSPENDED")
        cycles(here, lambda: drawn_w(bed) <= 590.0)
        assert runs(bed, second)
        finish(bed, second, 1)
        cap.write_text("900")
        cycles(here, lambda: runs(bed, first))
    journal, = (tmp_path / "controller").glob("*.journal")
    assert replays(journal)
    until(lambda: runs(bed, first))
