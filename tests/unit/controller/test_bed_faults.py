"""Times of faults on a bed, without any Slurm."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from wattline.controller.testbed import faults
from wattline.controller.testbed.faults import BETWEEN_S, LASTS_S, Faults
from wattline.controller.testbed.layout import Bed, NodePower


def test_the_first_fault_comes_seconds_after_the_run_begins_however_long_the_controller_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A start of 100 s, then ticks of 0.1 s: the fault begins within 3 to 6 s, not at once."""
    now = [1000.0]
    monkeypatch.setattr(faults, "time", SimpleNamespace(monotonic=lambda: now[0]))
    ended: list[float] = []
    monkeypatch.setattr(Faults, "KINDS", {"a test": lambda self: lambda: ended.append(now[0])})
    (tmp_path / "bed").mkdir()
    made = Faults(Bed(tmp_path / "bed", nodes=2, port=21000, power=NodePower()),
                  cast(Any, SimpleNamespace(path="")), seed=1)
    resumed: list[list[str]] = []
    monkeypatch.setattr(made, "daemons", SimpleNamespace(resume=resumed.append))
    now[0] += 100.0
    begin_s = now[0]
    began_s = 0.0
    while not ended:
        made.tick(now[0] - begin_s)
        began_s = began_s or (now[0] - begin_s if made.said else 0.0)
        now[0] += 0.1
    assert resumed == [["n0001", "n0002"]], "an operator looks after nodes at its end"
    assert BETWEEN_S[0] <= began_s <= BETWEEN_S[1] + 0.1
    assert LASTS_S[0] <= ended[0] - begin_s - began_s <= LASTS_S[1] + 0.1
