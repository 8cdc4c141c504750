"""The documentation builds into a site without a complaint, which needs neither network nor server.

To build it takes half a minute, and a browser looks for a word in it: so all tests of the whole
site stand here, where it is built once.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.browsers import soon
from tests.support.documentation import mkdocs
from tests.support.plain import ROOT

pytestmark = pytest.mark.browser

# What a page or a style fetches by itself; a link that people may follow is no such thing.
FETCHED = re.compile(r"""<(?:script|link|img|iframe|source|video)\b[^>]*?"""
                     r"""(?:src|href)=["']?((?:https?:)?//[^"'\s>]+)""")
STYLED = re.compile(r"""(?:@import\s*["']?|url\(["']?)((?:https?:)?//[^"')]+)""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole site, built once."""
    place = tmp_path_factory.mktemp("built") / "site"
    done = mkdocs("--site-dir", str(place))
    assert done.returncode == 0, done.stderr[-3000:]
    return place


def test_the_site_builds_with_every_link_and_anchor_in_place(site: Path) -> None:
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
             for path in (ROOT / "docs").rglob("*.md")}
    there = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    assert pages <= there
    assert {"CONTRIBUTING.html", "CHANGELOG.html", "examples/index.html"} <= there


def test_no_page_or_style_fetches_anything_from_another_host(site: Path) -> None:
    fetched = [(path.name, address) for path in site.rglob("*.html")
               for address in FETCHED.findall(path.read_text(encoding="utf-8"))]
    styled = [(path.name, address) for path in site.rglob("*.css")
              for address in STYLED.findall(path.read_text(encoding="utf-8"))]
    assert fetched + styled == []


def test_what_would_be_fetched_is_recognised() -> None:
    font = '<link rel="stylesheet" href="https://fonts.example/css?family=Roboto">'
    assert FETCHED.findall(font + '<a href="https://example.org">') == [
        "https://fonts.example/css?family=Roboto"]
    assert STYLED.findall("@import url(//fonts.example/a.css)") == ["//fonts.example/a.css"]


def test_pages_show_tables_and_not_their_source(site: Path) -> None:
    raw = [path.name for path in site.rglob("*.html")
           if re.search(r"<p>[^<]*\|\s*-{3}|<!-- generated", path.read_text(encoding="utf-8"))]
    assert raw == []


def test_the_reference_is_on_the_pages(site: Path) -> None:
    assert "wattline advise cap" in (site / "commands.html").read_text(encoding="utf-8")
    assert 'id="wlsimulate"' in (site / "reference" / "python.html").read_text(encoding="utf-8")
    fields = (site / "scenario.html").read_text(encoding="utf-8")
    assert "number, W, ≥ 0" in fields


def test_a_site_that_is_read_from_a_folder_finds_its_pages(browser: Any, site: Path) -> None:
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / "tutorials" / "operator.html").as_uri())
    page.click(".md-search__input")
    page.keyboard.type("backfilling", delay=20)
    page.wait_for_selector(".md-search-result__item", timeout=60_000)
    results = page.locator(".md-search-result__link")
    soon(lambda: results.evaluate_all("all => all.map(a => a.href)"),  # they come one by one
         lambda found: any("policies.html" in link for link in found))
    assert all(url.startswith("file:") for url in asked)
    page.close()


@pytest.mark.parametrize("name", ["index", "advice", "web"])
def test_a_narrow_screen_shows_pictures_as_wide_as_they_can_be_read(
    browser: Any, site: Path, name: str
) -> None:
    page = browser.new_page(viewport={"width": 400, "height": 900})
    page.goto((site / f"{name}.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    for picture in page.locator(".md-typeset p > img").all():
        width = picture.bounding_box()["width"]
        if "-phone." in picture.get_attribute("src"):
            assert width <= 400
            continue
        assert width >= 700
        box = picture.locator("xpath=..")
        assert box.evaluate("box => (box.scrollLeft = 300, box.scrollLeft)") == 300
    page.close()
