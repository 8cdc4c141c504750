"""Pages of published figures: there is one per study with rows, it is linked, and it adds up."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from wattline.studies.every import DOCUMENTS, _maker
from wattline.studies.published import VERDICTS

ROOT = Path(__file__).parents[2]
WITH_ROWS = [name for name, document in DOCUMENTS.items() if _maker(document) is not None]
BY_HAND = ("dragonfly",)
"""Put together from parts that were run apart, with words of its own."""


@pytest.mark.parametrize("name", WITH_ROWS)
def test_a_study_with_rows_has_a_page_that_is_linked(name: str) -> None:
    assert (ROOT / "docs" / "published" / f"{name}.md").is_file()
    for list_of_pages in ("mkdocs.yml", "docs/index.md"):
        assert f"published/{name}.md" in (ROOT / list_of_pages).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted({*WITH_ROWS} - {*BY_HAND}))
def test_a_page_counts_the_rows_and_verdicts_that_it_has(name: str) -> None:
    whole = (ROOT / "docs" / "published" / f"{name}.md").read_text(encoding="utf-8")
    text = whole.partition("\n## ")[0]  # further sections have tables of their own
    rows = [re.split(r"(?<!\\) \| ", line.strip("| "))
            for line in text.splitlines() if line.startswith("| ")][1:]
    said = re.search(r"^(\d+) figures \((.*)\)\.$", text, re.MULTILINE)
    assert said is not None
    given = [row[4] for row in rows]
    assert int(said[1]) == len(rows)
    assert said[2] == "; ".join(f"{verdict} {given.count(verdict)}" for verdict in VERDICTS
                                if verdict in given)
