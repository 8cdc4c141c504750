"""The demo in a server of its own, and browsers that look at it."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Looking
from tests.support.browsers import PATIENCE_S
from tests.support.dashboard import ROOT, Dashboard

pytest.importorskip("fastapi", reason="the extra `web` is not installed")
FRONTEND = ROOT / "frontend"


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """The demo at its usual speed; tests that stop it start one of their own."""
    made = Dashboard(tmp_path_factory.mktemp("served"))
    made.start()
    try:
        made.wait()
        yield made
    finally:
        made.kill()


Visit = Callable[..., Looking]


def until(seen: Looking, said: str, given: Any = None, patience_s: float = PATIENCE_S) -> None:
    """Wait for a function of the page to be true; the page's own rules forbid to wait inside it."""
    end = time.monotonic() + patience_s
    while not seen.page.evaluate(said, given):
        assert time.monotonic() < end, f"not within {patience_s:g} s: {said}"
        seen.page.wait_for_timeout(50)


def loaded(seen: Looking, page: str, patience_s: float = 3 * PATIENCE_S) -> None:
    """Wait until a page is shown, and nothing of it is on its way: a first what-if takes long."""
    until(seen, "page => document.documentElement.dataset.page === page && document.querySelector("
                "'main h1') && ![...document.querySelectorAll('main .skeleton')].some("
                "bones => bones.offsetParent)", page, patience_s)


@pytest.fixture
def visit(browser: Any) -> Iterator[Visit]:
    """Open a page of a server, and keep what goes wrong on it."""
    contexts = []

    def opened(server: Dashboard, page: str = "now", *, width: int = 1440, height: int = 900,
               query: str = "", **settings: Any) -> Looking:
        context = browser.new_context(viewport={"width": width, "height": height}, **settings)
        contexts.append(context)
        context.set_default_timeout(1000 * PATIENCE_S)
        found = Looking(context.new_page())
        found.page.on("console", lambda said: found.wrong.append(said.text))
        found.page.on("pageerror", lambda error: found.wrong.append(str(error)))
        found.page.on("request", lambda asked: asked.url.startswith(
            (server.address, "data:", "blob:")) or found.wrong.append(asked.url))
        found.page.goto(f"{server.address}{query}#/{page}")
        return found

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core, from npm: a tool of the tests, no part of the package."""
    script = FRONTEND / "node_modules" / "axe-core" / "axe.min.js"
    if not script.is_file():
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip("there is no npm to get axe-core with")
        done = subprocess.run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
                              cwd=FRONTEND, capture_output=True, text=True, timeout=120,
                              check=False)
        if done.returncode != 0:
            pytest.skip(f"npm cannot get axe-core: {done.stderr[-200:]}")
    return Path(script).read_text(encoding="utf-8")
