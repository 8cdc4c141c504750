"""Figures that `wattline bench web` reads from a browser, of the demo and of a week of a small
machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.support.dashboard import Dashboard
from wattline.benchmarks import _web_browser as in_browser

pytestmark = pytest.mark.browser
WEEK = {"trace": {"file": "bundled:week.swf"}, "machine": {"nodes": 64}, "power": {"cap": "70%"},
        "policy": {"power": "dvfs"}}


@pytest.fixture(autouse=True)
def shared_browser(browser: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser of the tests: two of them cannot be driven from one thread."""
    @contextmanager
    def opened() -> Iterator[Any]:
        yield browser

    monkeypatch.setattr(in_browser, "chromium", opened)


def process(served: Dashboard) -> tuple[str, int]:
    assert served.process is not None
    return served.address.rstrip("/"), served.process.pid


def test_paints_come_in_their_order_and_nothing_is_kept_between_visits(served: Dashboard) -> None:
    found = in_browser.first_paint(*process(served), visits=2)
    assert found["visits"] == 2
    assert 0 < found["first_paint_s"] <= found["first_content_s"] <= found["complete_s"]
    assert found["slowest_first_paint_s"] >= found["first_paint_s"]


def test_each_click_is_a_new_question_and_takes_at_least_the_pages_pause(
    served: Dashboard
) -> None:
    url, pid = process(served)
    body = json.dumps(WEEK).encode()
    with urlopen(Request(f"{url}/api/whatif", body, {"Content-Type": "application/json"}),
                 timeout=120) as answer:
        first = json.load(answer)
    found = in_browser.click_to_curve(url, pid, first["share"], clicks=2)
    assert found["jobs"] == first["variant"]["metrics"]["jobs"]["total"]
    assert 0.18 < found["median_s"] <= found["slowest_s"]
    assert found["server_cpu_s"] > 0


def test_a_page_that_says_an_error_ends_the_measurement(served: Dashboard) -> None:
    with pytest.raises(RuntimeError, match="the page of the what-if says"):
        in_browser.click_to_curve(*process(served), "1.nonsense")
