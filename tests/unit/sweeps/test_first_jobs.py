"""The first jobs of a log, with all that the log says of them, in a sweep as in a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import wattline as wl
from wattline.scenario.build import read_trace
from wattline.scenario.load import validate

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
LOG: dict[str, Any] = {
    "trace": {"file": "bundled:week.swf"},
    "machine": {"nodes": 64, "node_idle_w": 90, "node_active_w": 300}}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_a_sweep_along_the_number_of_jobs_has_the_figures_of_runs(tmp_path: Path) -> None:
    counts = [20, 40, 100_000]
    found = wl.run_sweep({"scenario": LOG, "axes": {"trace.jobs": counts}}, tmp_path / "a",
                         workers=1, report=False)
    assert found.counts.failed == 0
    for count, row in zip(counts, found.to_pandas().to_dict("records"), strict=True):
        own = wl.simulate(LOG, trace__jobs=count).metrics(flat=True)
        assert {name: row[name] for name in own} == pytest.approx(own, nan_ok=True)


def test_what_is_logged_is_of_the_jobs_that_are_left() -> None:
    whole = read_trace(validate(LOG, "log"))
    first = read_trace(validate({**LOG, "trace": {**LOG["trace"], "jobs": 20}}, "log"))
    assert len(first) == 20
    assert first.logged.keys() == whole.logged.keys() != set()
    for name, column in first.logged.items():
        assert column.tolist() == pytest.approx(whole.logged[name][:20].tolist(), nan_ok=True)
