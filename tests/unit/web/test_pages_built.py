"""The pages as they lie in the package: small, no inline code, built from their sources."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FRONTEND = ROOT / "frontend"
BUILT = ROOT / "src" / "wattline" / "web" / "static" / "app"
MOST_BYTES = 150_000


def test_all_javascript_is_at_most_150_kb_compressed() -> None:
    packed = sum(len(gzip.compress(path.read_bytes())) for path in BUILT.glob("*.js"))
    assert 10_000 < packed <= MOST_BYTES


def test_the_page_has_no_inline_script_or_style_and_asks_for_nothing_from_elsewhere() -> None:
    page = (BUILT / "index.html").read_text(encoding="utf-8")
    assert re.findall(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", page) == []
    asked = re.findall(r'(?:src|href)="([^"#]+)"', page)
    assert "app/app.js" in asked
    assert [address for address in asked if "//" in address or address.startswith("/")] == []
    styles = (BUILT / "app.css").read_text(encoding="utf-8")
    assert re.findall(r"url\(|@import", styles) == []


def test_no_source_makes_html_from_text() -> None:
    """Names of users and jobs come from logs: they are put into pages as text only."""
    guilty = [path.name for path in sorted((FRONTEND / "src").rglob("*.js"))
              if re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(",
                           path.read_text(encoding="utf-8"))]
    assert guilty == []


def test_the_licence_of_what_is_built_in_comes_along() -> None:
    text = (BUILT / "LICENSES.txt").read_text(encoding="utf-8")
    assert "uPlot" in text
    assert "MIT License" in text


def test_sources_stay_small() -> None:
    long = {path.name: lines for path in (FRONTEND / "src").rglob("*.*")
            if (lines := path.read_text(encoding="utf-8").count("\n")) > 300}
    assert long == {}


def test_a_rebuild_gives_the_same_bytes(tmp_path: Path) -> None:
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("there is no npm")
    if not (FRONTEND / "node_modules" / "esbuild").is_dir():
        done = subprocess.run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
                              cwd=FRONTEND, capture_output=True, text=True, timeout=120,
                              check=False)
        if done.returncode != 0:
            pytest.skip(f"npm cannot get esbuild: {done.stderr[-200:]}")
    subprocess.run([node, "build.mjs", str(tmp_path)], cwd=FRONTEND, check=True, timeout=60)
    built = {path.name: path.read_bytes() for path in BUILT.iterdir()}
    assert built == {path.name: path.read_bytes() for path in tmp_path.iterdir()}


def test_every_picture_of_the_pages_is_shown_and_small() -> None:
    images = {path.name: path.stat().st_size for path in (ROOT / "docs" / "images").iterdir()}
    said = "".join(path.read_text(encoding="utf-8")
                   for path in (ROOT / "docs" / "web.md", ROOT / "README.md"))
    assert set(images) == set(re.findall(r"!\[[^]]+\]\((?:docs/)?images/([\w-]+\.png)\)", said))
    assert {name: size for name, size in images.items() if size > 120_000} == {}
