"""Jobs submitted with --cpu-freq: they count and are capped by the level of what they allow."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.slurm.bedside import LONG_S, OURS, cap_w, runs, slurm, submit, until
from tests.slurm.test_serving import cycles, site
from wattline.controller.serving import serving
from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.running import replays

POLICY = ('[policy]\npower = {name = "adaptive", frequency_ghz = [1.2, 2.0, 2.4], '
          'core_w = [10, 16, 22], idle_core_w = 7}\n')


def test_a_job_counts_at_the_frequency_that_it_allows(bed: Bed, tmp_path: Path) -> None:
    """A node draws 90 W idle and 300 W at 2.4 GHz; at 2.0 GHz 60 % of what is between."""
    config = site(bed, tmp_path, POLICY)
    with serving(config, act=True) as here:
        cycles(here, lambda: here.books.power_w > 0.0)
        asked = {"": 300.0, "1200000-2000000": 216.0, "1200000": 132.0}
        jobs = {words: submit(bed, LONG_S, 300, *OURS, *([f"--cpu-freq={words}"] if words else []),
                              "-N", "1", "-t", "20", "-L", "watts:300") for words in asked}
        tasks = submit(bed, LONG_S, 300, *OURS, "-a", "1-2", "--cpu-freq=low", "-N", "1", "-t",
                       "20", "-L", "watts:300")
        booked_w: dict[str, float] = {}

        def begun() -> bool:
            for words, job in jobs.items():
                booked_w.setdefault(words, here.watcher.booked_w(job))
                if booked_w[words] != booked_w[words]:
                    booked_w.pop(words)
            return all(runs(bed, job) for job in (*jobs.values(), f"{tasks}_1", f"{tasks}_2"))

        cycles(here, begun)
        assert booked_w == pytest.approx(asked, abs=1.0)
        node = slurm(bed, "squeue", "-h", "-j", jobs["1200000"], "-o", "%N")
        until(lambda: cap_w(bed, node) == pytest.approx(132.0, abs=1.0))
        for task in ("1", "2"):
            assert here.watcher.booked_w(f"{tasks}_{task}") == pytest.approx(132.0, abs=8.0)
    journal, = (tmp_path / "controller").glob("*.journal")
    assert replays(journal)
