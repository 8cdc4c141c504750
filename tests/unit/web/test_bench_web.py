"""`wattline bench web`: beats are counted, limits judged, a missing browser is said."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from wattline.benchmarks import _web_browser as in_browser
from wattline.benchmarks._web_load import first_answers, javascript, viewers
from wattline.benchmarks._web_server import cpu_s, server
from wattline.benchmarks.web import judged


def figures(missed: int = 0, refused: int = 0, paint_s: float | None = 0.4,
            curve_s: float | None = 0.5, script: int = 60_000) -> dict[str, Any]:
    none = {"not_measured": "there is no chromium"}
    return {"viewers": {"missed": missed, "refused": refused}, "javascript": {"gzip_bytes": script},
            "first_paint_5000_nodes": none if paint_s is None else {"first_paint_s": paint_s},
            "click_to_curve": none if curve_s is None else {"median_s": curve_s}}


def kept(**given: Any) -> dict[str, bool | None]:
    return {name: each["kept"] for name, each in judged(figures(**given)).items()}


def test_each_limit_is_judged_and_what_was_not_measured_is_not() -> None:
    assert set(kept().values()) == {True}
    assert kept(missed=1)["missed_beats"] is False
    assert kept(refused=1)["refused_answers"] is False
    assert kept(paint_s=1.01)["first_paint_s"] is False
    assert kept(curve_s=1.01)["click_to_curve_s"] is False
    assert kept(script=150_001)["javascript_gzip_bytes"] is False
    nothing = kept(paint_s=None, curve_s=None)
    assert [nothing["first_paint_s"], nothing["click_to_curve_s"]] == [None, None]


def test_without_playwright_or_chromium_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(in_browser, "find_spec", importlib.util.find_spec)
    assert "chromium" in in_browser.first_paint("http://127.0.0.1:1", 1)["not_measured"]
    monkeypatch.setattr(in_browser, "find_spec", lambda name: None)
    for found in (in_browser.first_paint("http://127.0.0.1:1", 1),
                  in_browser.click_to_curve("http://127.0.0.1:1", 1, "")):
        assert list(found) == ["not_measured"]
        assert "playwright" in found["not_measured"]


def test_processor_time_has_that_of_children() -> None:
    code = ("import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; "
            "until = time.process_time() + 0.3\\nwhile time.process_time() < until: pass\\n"
            "time.sleep(60)'])")
    with subprocess.Popen([sys.executable, "-c", code], start_new_session=True) as parent:
        try:
            until = time.monotonic() + 60
            while cpu_s(parent.pid) < 0.3 and time.monotonic() < until:
                time.sleep(0.05)
            fields = Path(f"/proc/{parent.pid}/stat").read_text().split()
            own_s = sum(map(int, fields[13:15])) / os.sysconf("SC_CLK_TCK")
            assert cpu_s(parent.pid) >= 0.3
            assert own_s < 0.3
        finally:
            subprocess.run(["kill", "--", f"-{parent.pid}"], check=False)


@pytest.mark.servers
def test_beats_of_live_pages_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATTLINE_PLAIN", "1")
    with server() as (url, pid):
        found = viewers(url, pid, count=5, seconds=3.0)
        answers = first_answers(url, 256)
    assert found["viewers"] == 5
    assert found["least_beats_of_a_viewer"] >= 2
    assert found["beats"] >= 5
    assert found["asked"] >= 5
    assert found["refused"] == 0
    assert 0.5 < found["longest_gap_s"] < 4.0
    assert answers["sum_ms"] >= answers["page_ms"] > 0
    assert javascript()["gzip_bytes"] < javascript()["bytes"]
