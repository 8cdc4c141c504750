"""A browser for the tests of pages, and reports to look at.

Chromium is Debian's (scripts/debian-packages.txt), driven by playwright; without either the tests
skip and say so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.browsers import PATIENCE_S, chromium
from tests.support.run_maker import fcfs_run, some_jobs
from wattline.analysis.report import report
from wattline.model.run import Run
from wattline.model.signal import Signal

HOSTILE = "</script><script>alert(1)</script>"


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    with chromium() as opened:
        yield opened


@dataclass
class Looking:
    """A page that is open, with all that went wrong on it."""

    page: Any
    wrong: list[str] = field(default_factory=list)

    def plot(self, chart: str) -> Any:
        """Return where the lines of a chart are drawn, scrolled into view."""
        found = self.page.locator(f'[data-chart="{chart}"] .u-over')
        found.scroll_into_view_if_needed()
        return found.bounding_box()

    def point(self, chart: str, across: float, up: float = 0.5) -> None:
        """Hold the pointer over a place of a chart, as parts of its width and height."""
        box = self.plot(chart)
        self.page.mouse.move(box["x"] + across * box["width"],
                             box["y"] + (1 - up) * box["height"])

    def drag(self, chart: str, begin: float, end: float) -> None:
        self.point(chart, begin)
        self.page.mouse.down()
        self.point(chart, (begin + end) / 2)
        self.point(chart, end)
        self.page.mouse.up()

    def settle(self) -> None:
        """Wait until what was done to the page is drawn: charts draw with the next frame."""
        self.page.evaluate("() => new Promise(done => requestAnimationFrame("
                           "() => requestAnimationFrame(() => done())))")

    def said(self, chart: str) -> str:
        """Return what stands under a chart: the place, and the values there."""
        self.settle()
        parts = self.page.locator(f'[data-chart="{chart}"]').locator(".readout, .legend")
        return " ".join(parts.all_inner_texts())

    def range(self, chart: str) -> tuple[float, float]:
        """From where to where an axis is shown."""
        self.settle()
        data = self.page.locator(f'[data-chart="{chart}"]').evaluate("place => place.dataset")
        return float(data["from"]), float(data["to"])


@pytest.fixture
def look(browser: Any) -> Iterator[Callable[..., Looking]]:
    contexts = []

    def opened(page: Path, width: int = 1280, **settings: Any) -> Looking:
        context = browser.new_context(viewport={"width": width, "height": 900}, **settings)
        contexts.append(context)
        context.set_default_timeout(1000 * PATIENCE_S)
        found = Looking(context.new_page())
        address = page.absolute().as_uri()
        found.page.on("console", lambda said: found.wrong.append(said.text))
        found.page.on("pageerror", lambda error: found.wrong.append(str(error)))
        found.page.on("dialog", lambda dialog: found.wrong.append(dialog.message))
        found.page.on("request", lambda asked: asked.url.startswith(("data:", address))
                      or found.wrong.append(asked.url))
        found.page.goto(address)
        return found

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def plain() -> Run:
    jobs = some_jobs(120)
    return fcfs_run(replace(jobs, names={"user": ("ada", HOSTILE, "chi", "dan", "eve")}))


@pytest.fixture(scope="session")
def capped() -> Run:
    jobs = some_jobs(120)
    return fcfs_run(replace(jobs, power_w=jobs.procs * 200.0), placed=False,
                    cap_w=Signal.constant(2500.0, "W"))


@pytest.fixture(scope="session")
def one(plain: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of one run."""
    return report({HOSTILE: plain}, tmp_path_factory.mktemp("one"))


@pytest.fixture(scope="session")
def several(plain: Run, capped: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of three runs; in the first no job waits, so that ratios to it are missing."""
    roomy = fcfs_run(some_jobs(120), nodes=500, placed=False)
    runs = {"roomy": roomy, "with a cap": capped,
            "another run with a very long name, nodes 1024, order shortest first": plain}
    return report(runs, tmp_path_factory.mktemp("several"))
