"""A cap is kept whatever Slurm's commands do meanwhile."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from tests.slurm.bedside import LONG_S, OURS, runs, submit, under_s, until
from tests.slurm.pace import Pace
from tests.slurm.test_serving import cycles, drawn_w, site, started
from wattline.controller.serving import serving
from wattline.controller.testbed.faults import write_wrappers
from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.running import replays
from wattline.live.slurm.client import Slurm
from wattline.live.slurm.commands import Commands


def test_a_cap_is_kept_within_two_seconds_while_slurm_is_slow_or_gives_no_answer(
    bed: Bed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pace: Pace
) -> None:
    """A look takes four seconds, or fails; a start takes six: nodes are lowered in the meantime."""
    slow, cap = tmp_path / "slow", tmp_path / "cap"
    write_wrappers(slow)
    monkeypatch.setenv("PATH", f"{slow}:{os.environ['PATH']}")
    cap.write_text("1300")
    with serving(site(bed, tmp_path, 'cap_file = "cap"\n'), act=True) as here:
        label, *_ = started(bed, here, count=2, nodes=2, watts=240)
        later = submit(bed, LONG_S, 100, *OURS, "-N", "1", "-t", "20", "-L", "watts:100")
        (slow / "on").touch()
        lowered_s: list[float] = []

        def lower() -> None:
            lowered_s.append(time.time())
            cap.write_text("900")

        # In the middle of what the one cycle waits for.
        threading.Timer(0.5, lower).start()
        began_s = time.monotonic()
        here.cycle()
        assert time.monotonic() - began_s > 4.0
        assert under_s(bed, 900.0, lowered_s[0]) <= 2.0 * pace.slowest(lowered_s[0])
        assert here.books.power_w > 900.0, "that nodes are slowed is not what jobs want"
        (slow / "on").unlink()
        monkeypatch.setenv("PATH", bed.path)
        cap.write_text("1300")
        cycles(here, lambda: drawn_w(bed) >= 1140.0 and runs(bed, label))
        cycles(here, lambda: runs(bed, later))
        # Nor does a Slurm that does not answer at all keep a cap from being followed.
        here.slurm = Slurm(Commands({**bed.environment, "SLURM_CONF": "/nowhere"}, patience_s=4.0,
                                    meanwhile=here.slurm.commands.meanwhile))
        cap.write_text("950")
        again_s = time.time()
        assert not here.cycle().looked
        until(lambda: drawn_w(bed) <= 950.0)
        assert under_s(bed, 950.0, again_s) <= 2.0 * pace.slowest(again_s)
    journal, = (tmp_path / "controller").glob("*.journal")
    assert replays(journal)
