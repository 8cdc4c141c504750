"""Ground of the benchmark of live looks ahead: a controller's folder with jobs in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from wattline.benchmarks._live_ahead import NODES_EACH, OVER, stand_live_at

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")


def test_the_machine_is_full_and_the_others_wait(tmp_path: Path) -> None:
    stood = stand_live_at(tmp_path, 3600.0, running=20, pending=30)
    moment = stood.now.moment
    assert moment.books.state.nodes.size == 20 * NODES_EACH
    running = int(moment.running.sum())
    assert 17 <= running <= 19  # the cap has no room for all of them
    assert int(moment.waiting.sum()) == 50 - running
    assert stood.now.run_times.count == OVER
