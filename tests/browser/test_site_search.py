"""The documentation can be searched where it lies on a disk, without a server."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.browser
def test_a_site_that_is_read_from_a_folder_finds_its_pages(browser: Any, tmp_path: Path) -> None:
    site = tmp_path / "site"
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)],
                   cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, check=True,
                   capture_output=True)
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / "tutorials" / "operator.html").as_uri())
    page.click(".md-search__input")
    page.keyboard.type("backfilling", delay=20)
    page.wait_for_selector(".md-search-result__item", timeout=60_000)
    found = page.locator(".md-search-result__link").evaluate_all("all => all.map(a => a.href)")
    assert any("policies.html" in link for link in found)
    assert all(url.startswith("file:") for url in asked)
    page.close()
