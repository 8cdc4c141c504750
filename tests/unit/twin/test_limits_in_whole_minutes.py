"""Time limits of a log: Slurm counts minutes, and rounds up to them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.twin_sites import site

HEADER = ("JobID|User|Account|Partition|QOS|Submit|Start|End|Timelimit|ReqTRES|AllocTRES|NNodes|"
          "NodeList|State\n")
ROW = ("5|ada|phys|batch|normal|2025-03-04T08:00:00|2025-03-04T08:00:10|2025-03-04T08:00:20|{}|"
       "cpu=4,mem=4000M,node=1|cpu=4,mem=4000M,node=1|1|n1|COMPLETED\n")


@pytest.mark.parametrize(("text", "limit_s"), [
    ("00:00:30", 60.0), ("00:00:59", 60.0), ("00:01:00", 60.0), ("00:01:01", 120.0)])
def test_a_limit_is_rounded_up_to_whole_minutes(tmp_path: Path, text: str, limit_s: float) -> None:
    found = site(tmp_path, HEADER + ROW.format(text), kind="sacct")
    assert found.made.requests.limit_s.tolist() == [limit_s]
