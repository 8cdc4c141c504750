"""The notebook of examples/ runs, and prints what it shows."""

from __future__ import annotations

import json
import warnings
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOK: dict[str, Any] = json.loads((EXAMPLES / "tour.ipynb").read_text(encoding="utf-8"))
CODE = [cell for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]


def printed(cell: dict[str, Any]) -> str:
    """Return what the notebook shows below a cell, without pictures."""
    return "".join("".join(each["text"]) for each in cell["outputs"]
                   if each["output_type"] == "stream")


def test_every_cell_runs_and_prints_what_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES)
    names: dict[str, object] = {}
    with warnings.catch_warnings():
        for number, cell in enumerate(CODE):
            said = StringIO()
            with redirect_stdout(said):
                exec(compile("".join(cell["source"]), f"tour.ipynb, cell {number}", "exec"), names)
            assert said.getvalue() == printed(cell), "".join(cell["source"])


def test_it_shows_tables_and_pictures_and_stays_small() -> None:
    outputs = [each for cell in CODE for each in cell["outputs"]]
    drawn = [each for each in outputs if "image/png" in each.get("data", {})]
    assert len(drawn) == 2
    assert sum(bool(printed(cell)) for cell in CODE) >= 6
    assert (EXAMPLES / "tour.ipynb").stat().st_size < 200_000


def test_it_is_a_notebook_that_others_open() -> None:
    assert (NOTEBOOK["nbformat"], NOTEBOOK["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in NOTEBOOK["cells"]]
    assert len(set(ids)) == len(ids)
