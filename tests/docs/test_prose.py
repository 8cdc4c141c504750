"""Pages are written for people: lines that fit, paragraphs that end, "per job" where meant."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
SOURCES = sorted((ROOT / "src" / "wattline").rglob("*.py"))
LONGEST_LINE = 120
LONGEST_PARAGRAPH = 1100
"""In characters: some eleven lines."""
EACH = ("job|node|server|socket|core|row|event|kWh|MWh|second|hour|user|run|router|hop|line|cycle|"
        "link|channel|group|workload|key")
AMOUNT = (r"row|\d[\d,.]*|W|kW|MW|MB|kJ|GHz|jobs|decisions|firings|transitions|cores|packages|"
          "links|one|value|messages|nodes(?= a router)|routers|cell|colour")
FOR_PER = re.compile(rf"\b(?:{AMOUNT}) an? (?:{EACH})\b(?! (?:that|of|with|which|had|is))")


def prose(text: str) -> str:
    """A page without code, tables, pictures and headings."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"^(?:\||#|!\[|    |<!--).*$", "", text, flags=re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_lines_and_paragraphs_have_a_length_that_people_read(page: Path) -> None:
    said = prose(page.read_text(encoding="utf-8"))
    assert [line for line in said.splitlines() if len(line) > LONGEST_LINE] == []
    parts = re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", said)
    assert [part[:80] for part in parts if len(part) > LONGEST_PARAGRAPH] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_per_is_said_where_it_is_meant(page: Path) -> None:
    assert FOR_PER.findall(page.read_text(encoding="utf-8")) == []


BETWEEN_LINES = re.compile(r"""[\s"'#]*[\s"'#]f?["']?""")
"""Characters that can stand between two words of a text in a source."""


def said_in(path: Path) -> Iterator[str]:
    """Strings, docstrings and comments of a source, each in one line."""
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield " ".join(node.value.split())
    comments = [token.string.lstrip("# ")
                for token in tokenize.generate_tokens(io.StringIO(text).readline)
                if token.type == tokenize.COMMENT]
    yield " ".join(comments)


def may_say(path: Path) -> bool:
    """Return whether it is said at all, in one line or over several; to take all sources apart is
    slow."""
    return FOR_PER.search(BETWEEN_LINES.sub(" ", path.read_text(encoding="utf-8"))) is not None


def test_per_is_said_in_sources_too() -> None:
    found = [f"{path.relative_to(ROOT)}: {match.group()}" for path in SOURCES if may_say(path)
             for text in said_in(path) for match in FOR_PER.finditer(text)]
    assert found == []


def test_what_stands_in_two_lines_of_a_source_is_found(tmp_path: Path) -> None:
    for text in ('SAID = ("a row "\n        "a job")\n', '# They draw 62 W\n# a node.\n',
                 '"""62 W\n    a node."""\n', 'SAID = f"{watts} W "f"a node"\n'):
        (tmp_path / "source.py").write_text(text)
        assert may_say(tmp_path / "source.py"), text


def test_what_is_not_meant_would_be_found() -> None:
    assert FOR_PER.search("a row a job, 62 W a node")
    assert not FOR_PER.search("62 W per node; at f = 0.5 a job that draws less")
    assert "long" not in prose("| long |\n```\nlong\n```\n")
