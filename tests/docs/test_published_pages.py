"""Pages of published figures: there is one per study with rows, it is linked, and it adds up."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from wattline.model.errors import WattlineWarning
from wattline.studies.every import DOCUMENTS, study_all
from wattline.studies.published import VERDICTS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_study_has_a_page_that_is_linked(name: str) -> None:
    assert (ROOT / "docs" / "published" / f"{name}.md").is_file()
    for list_of_pages in ("mkdocs.yml", "docs/index.md"):
        assert f"published/{name}.md" in (ROOT / list_of_pages).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_page_counts_the_rows_and_verdicts_that_it_has(name: str) -> None:
    whole = (ROOT / "docs" / "published" / f"{name}.md").read_text(encoding="utf-8")
    text = whole.partition("\n## ")[0]  # further sections have tables of their own
    rows = [re.split(r"(?<!\\) \| ", line.strip("| "))
            for line in text.splitlines() if line.startswith("| ")][1:]
    said = re.search(r"^(\d+) figures:$", text, re.MULTILINE)
    assert said is not None
    given = [row[4] for row in rows]
    assert set(given) <= set(VERDICTS)
    assert int(said[1]) == len(rows)
    assert re.findall(r"^- (\d+) \*(.*)\*: ", text, re.MULTILINE) == [
        (str(given.count(verdict)), verdict) for verdict in VERDICTS if verdict in given]


@pytest.mark.parametrize("name", [name for name in DOCUMENTS if DOCUMENTS[name].measured])
def test_a_page_of_kept_figures_is_what_the_command_writes(name: str, tmp_path: Path) -> None:
    with pytest.warns(WattlineWarning, match="measured before"):
        page, = study_all([name]).write_pages(tmp_path)
    assert page.read_text() == (ROOT / "docs" / "published" / f"{name}.md").read_text()
