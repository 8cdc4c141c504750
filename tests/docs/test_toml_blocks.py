"""TOML on the pages can be copied into a file."""

import re
import tomllib
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```toml\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCKS = [pytest.param(found[1], id=f"{page.relative_to(DOCS)}:{found.start()}")
          for page in sorted(DOCS.rglob("*.md")) for found in BLOCK.finditer(page.read_text())]


@pytest.mark.parametrize("text", BLOCKS)
def test_a_block_of_toml_is_toml(text: str) -> None:
    assert tomllib.loads(text)
