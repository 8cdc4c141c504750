"""What a scenario has wrong is said in our words: what would be right, and what it is."""

from __future__ import annotations

from typing import Any

import pytest

from wattline.model.errors import InputError
from wattline.scenario.load import changed, validate

GOOD = {"name": "x", "trace": {"file": "log.swf"}, "machine": {"nodes": 8}}


@pytest.mark.parametrize(("field", "value", "said"), [
    ("name", "x" * 300, "name: must have at most 200 characters (it is 'xxx"),
    ("name", 5, "name: must be a text, in quotes (it is 5)"),
    ("machine.nodes", 8.5, "machine.nodes: must be a whole number (it is 8.5)"),
    ("trace.file", 5, "trace.file: must be the name of a file, in quotes (it is 5)"),
    ("trace.strict", "yes", "trace.strict: must be true or false, without quotes (it is 'yes')"),
    ("shares", 5, "shares: must be a table, like { name = 1 } (it is 5)"),
    ("reservations", 5, "reservations: these are sections, each written as [[reservations]]"),
    ("reservations", [5], "reservations.0: this is a section, written as [[reservations]]"),
    ("power.cap", [5], "power.cap.0: this is a section, written as [[power.cap]] (it is 5)"),
    ("power.levels", "x", "power.levels: this is a list, like [0.5, 1.0] (it is 'x')"),
])
def test_a_mistake_says_what_would_be_right(field: str, value: Any, said: str) -> None:
    with pytest.raises(InputError) as caught:
        validate(changed(GOOD, {field: value}), "it")
    assert said in str(caught.value)
    assert "Input should" not in str(caught.value)
