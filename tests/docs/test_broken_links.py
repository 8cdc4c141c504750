"""A broken link fails the build of the documentation (of the whole: tests/browser/test_site.py)."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.documentation import mkdocs
from tests.support.plain import ROOT


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
