"""docs/traces.md says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from wattline.traces.cleaning import RULES
from wattline.traces.column_map import TARGETS, parse_map
from wattline.traces.generators import MODELS
from wattline.traces.generators.poisson import read_mix

PAGE = (Path(__file__).parents[3] / "docs" / "traces.md").read_text()


def test_every_rule_stands_there_in_its_own_words_and_order() -> None:
    said = re.findall(r"^\| `(\w+)` \| (.*) \|$", PAGE, re.MULTILINE)
    assert said == [(name, statement) for name, (_, statement) in RULES.items()]


def test_the_examples_work(tmp_path: Path) -> None:
    column_map, mix = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert parse_map(column_map, "page").entries["power_w"].factor == 1000
    (tmp_path / "mix.toml").write_text(mix)
    types, options = read_mix(tmp_path / "mix.toml")
    assert types[0].sizes == (1, 2, 4)
    assert options == {"load": 0.8}


def test_fields_and_models_are_listed() -> None:
    listed = " ".join(PAGE.split())
    assert all(field in listed for field in TARGETS)
    for name in MODELS:
        assert f"**{name}**" in PAGE
