"""Fixtures and options that tests of several folders share.

Tests run what they name: nothing is handed to another process because it is not compiled yet.
"""

from __future__ import annotations

import base64
import gc
import os
import signal
from functools import cache
from pathlib import Path

import pytest
import pytest_rerunfailures
from hypothesis import HealthCheck, settings

from tests.support.examples import TIMES, count
from tests.support.plain_process import PlainProcess
from tests.support.seconds_kept import NEVER, keep
from tests.support.shared_paths import share_paths
from tests.support.shared_statements import share_statements
from tests.support.time_limit import (  # noqa: F401  (hooks)
    pytest_runtest_call,
    pytest_runtest_setup,
    pytest_runtest_teardown,
)
from wattline.model.kernel import PLAIN

os.environ.setdefault("WATTLINE_AT_ONCE", "0")
# Tests assert results, not seconds: a machine that is busy with other work is no failure.
settings.register_profile("unhurried", deadline=None, max_examples=count(each_ms=10),
                          derandomize=TIMES == 1,
                          suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")
# A shell that starts them in the background lets them, and all that they start, ignore Ctrl-C.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if PLAIN:
    share_paths()
# Half a million objects are made of the tests, and all of them stay: to look for garbage among them
# took a sixth of reading the tests, and would be done again in every one of them.
gc.disable()


MARKS = ("compiled", "both_ways", "waits", "servers", "browser", "seldom", "long")


@pytest.fixture(scope="module")
def plain():
    process = PlainProcess()
    yield process
    process.close()


DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4"
    "DwABAQEAsTj2FAAAAABJRU5ErkJggg==")
"""A picture of one point."""


@pytest.fixture
def unpainted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports have a dot in place of each picture, for tests of their words: to paint them takes
    longer than the rest. Those of runs are looked at by tests/unit/analysis/test_run_report.py,
    those of sweeps are painted by tests/unit/sweeps/test_like_with_like.py."""
    monkeypatch.setattr("wattline.analysis.report_pictures.png", lambda figure: DOT)
    monkeypatch.setattr("wattline.sweeps.report.in_widths", lambda draw, name: ())


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch, unpainted: None) -> None:
    """Nor are pictures painted that commands write to files of their own (`--plot`), or pages have
    as vectors: for tests of what commands print, which other tests look at the pictures of."""
    monkeypatch.setattr("wattline.analysis.report_pictures.picture_bytes",
                        lambda figure, form, salt="": b"<svg></svg>")
    monkeypatch.setattr("matplotlib.figure.Figure.savefig",
                        lambda figure, place, **_: Path(place).write_bytes(DOT))


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Failed tests are run again where it failed: its worker knows that by itself. The plug-in also
    tells the first process of every test, in case a worker dies, in two small messages of which
    the second waits 40 ms until the first is acknowledged: three minutes for all tests. A test
    that kills its worker has failed at once."""
    if hasattr(config, "workerinput"):
        config.failures_db = pytest_rerunfailures.StatusDB()  # type: ignore[attr-defined]


TOOK_S: dict[str, float] = {}
"""Of each test that was run as plain Python, by its name."""
NOT_CHECKED: set[str] = set()
"""Names of tests that were run and that `make check` never runs."""


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if not NEVER.isdisjoint(report.keywords):
        NOT_CHECKED.add(report.nodeid)
    elif PLAIN:
        TOOK_S[report.nodeid] = TOOK_S.get(report.nodeid, 0.0) + report.duration


def pytest_sessionfinish(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput"):
        keep(TOOK_S, never=NOT_CHECKED)


def pytest_collection_finish() -> None:
    share_statements()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)  # looking after every 700 objects took a twentieth
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """As plain Python, what is about compiled kernels has nothing to look at; what takes long is
    left out unless it is asked for."""
    for item in items if PLAIN else ():
        if item.get_closest_marker("compiled"):
            item.add_marker(pytest.mark.skip(reason="for compiled kernels alone"))
    for item in items:
        missing = [mark for mark in MARKS if item.get_closest_marker(mark)
                   and f"mark.{mark}" not in _text_of(item.path)]
        if missing:
            raise pytest.UsageError(f"{item.nodeid}: write pytest.mark.{missing[0]} in its file: "
                                    "scripts/run_tests.py looks for it there")
    if "long" not in config.option.markexpr:
        left_out = {item: None for item in items if item.get_closest_marker("long")}
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]


@cache
def _text_of(file: Path) -> str:
    return file.read_text(encoding="utf-8")
