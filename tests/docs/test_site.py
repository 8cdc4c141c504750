"""The documentation builds into a site without a complaint and without a network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8").replace("$(BIN)", "bin")
# What a page or a style fetches by itself; a link that people may follow is no such thing.
FETCHED = re.compile(r"""<(?:script|link|img|iframe|source|video)\b[^>]*?"""
                     r"""(?:src|href)=["']?((?:https?:)?//[^"'\s>]+)""")
STYLED = re.compile(r"""(?:@import\s*["']?|url\(["']?)((?:https?:)?//[^"')]+)""")


def mkdocs(*arguments: str) -> subprocess.CompletedProcess[str]:
    """As `make docs` calls it: an option there can make a broken link pass."""
    (said,) = re.findall(r"bin/mkdocs (build.*)", MAKEFILE)
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run([sys.executable, "-m", "mkdocs", *said.split(), *arguments], cwd=ROOT,
                          env=environment, capture_output=True, text=True, check=False)


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


@pytest.mark.parametrize("link", ["nowhere.md", "other.md#no-such-heading"])
def test_a_broken_link_fails_the_build(link: str, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text(f"# Home\n\n[a link]({link})\n")
    (tmp_path / "docs" / "other.md").write_text("# Other\n")
    (tmp_path / "mkdocs.yml").write_text(
        f"INHERIT: {ROOT}/mkdocs.yml\ndocs_dir: docs\nhooks: []\nplugins: []\n"
        "nav: [index.md, other.md]\n")
    done = mkdocs("--config-file", str(tmp_path / "mkdocs.yml"), "--site-dir",
                  str(tmp_path / "site"))
    assert done.returncode == 1
    assert link.partition("#")[2] in done.stderr
    assert "WARNING" in done.stderr
