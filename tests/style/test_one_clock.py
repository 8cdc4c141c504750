"""Rooms that plan read the wall clock in one place: a result must not depend on the day."""

from __future__ import annotations

import re
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "wattline"
BESIDE_A_MACHINE = {"benchmarks", "cli", "controller", "live"}
READS = re.compile(r"\btime\.time\b|\btime_ns\b|\bdatetime\.(?:now|utcnow|today)\b")


def test_rooms_that_plan_read_the_clock_in_one_module() -> None:
    found = {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py")
             if path.relative_to(SOURCE).parts[0] not in BESIDE_A_MACHINE
             and READS.search(path.read_text(encoding="utf-8"))}
    assert found == {"model/clock.py"}
