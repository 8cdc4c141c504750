"""Pages of published figures: there is one per study with rows, it is linked, and it adds up."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from wattline.studies.every import DOCUMENTS, study_all
from wattline.studies.published import VERDICTS, PublishedFigure, page, rows_from, sections_below

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_study_has_a_page_that_is_linked(name: str) -> None:
    assert (ROOT / "docs" / "published" / f"{name}.md").is_file()
    for list_of_pages in ("mkdocs.yml", "docs/index.md"):
        assert f"published/{name}.md" in (ROOT / list_of_pages).read_text(encoding="utf-8")


@pytest.mark.filterwarnings("ignore::wattline.model.errors.WattlineWarning")
@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_page_is_as_the_command_writes_it(name: str) -> None:
    """Head, legend, counts and rows; where figures are kept, the rows are those of the figures."""
    path = ROOT / "docs" / "published" / f"{name}.md"
    rows = rows_of(path)
    measured: tuple[str, ...] = ()
    assert {row.verdict for row in rows} <= set(VERDICTS)
    if DOCUMENTS[name].measured:
        found = study_all([name])
        assert rows == found.rows[name]
        measured = found.measured[name]
    text = page(name, DOCUMENTS[name].title, rows, data=bool(DOCUMENTS[name].files),
                measured=measured, same=DOCUMENTS[name].same)
    assert path.read_text(encoding="utf-8") == text + sections_below(path)


def rows_of(path: Path) -> tuple[PublishedFigure, ...]:
    """The rows of a page's first table; further sections have tables of their own."""
    table = path.read_text(encoding="utf-8").partition("\n## ")[0].split("|---|\n")[-1]
    cells = [[cell.replace("\\|", "|") for cell in re.split(r"(?<!\\) \| ", line[2:-2])]
             for line in table.splitlines()]
    return rows_from([*row[:-1], "" if row[-1] == "-" else row[-1]] for row in cells)
