"""A broken link fails the build of the documentation (of the whole: tests/browser/test_site.py)."""

from __future__ import annotations

from pathlib import Path

from tests.support.documentation import mkdocs
from tests.support.plain import ROOT


def test_a_broken_link_fails_the_build(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text(
        "# Home\n\n[a link](nowhere.md) and [a link](other.md#no-such-heading)\n")
    (tmp_path / "docs" / "other.md").write_text("# Other\n")
    (tmp_path / "mkdocs.yml").write_text(
        f"INHERIT: {ROOT}/mkdocs.yml\ndocs_dir: docs\nhooks: []\nplugins: []\n"
        "nav: [index.md, other.md]\n")
    done = mkdocs("--config-file", str(tmp_path / "mkdocs.yml"), "--site-dir",
                  str(tmp_path / "site"))
    assert done.returncode == 1
    warnings = [line for line in done.stderr.splitlines() if line.startswith("WARNING")]
    assert ["nowhere.md" in line for line in warnings] == [True, False]
    assert "no-such-heading" in warnings[1]
    # Each of them is one too many.
    assert "Aborted with 2 warnings in strict mode" in done.stdout + done.stderr
