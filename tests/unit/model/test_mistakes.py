"""Mistakes in a scenario are said in our words: what would be right, and what it is."""

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
    ("power.cap", [5], "power.cap: a list holds steps, each with time_s and watts (it is [5])"),
    ("power.levels", "x", "power.levels: this is a list, like [0.5, 1.0] (it is 'x')"),
])
def test_a_mistake_says_what_would_be_right(field: str, value: Any, said: str) -> None:
    with pytest.raises(InputError) as caught:
        validate(changed(GOOD, {field: value}), "it")
    assert said in str(caught.value)
    assert "Input should" not in str(caught.value)


@pytest.mark.parametrize(("field", "value", "said"), [
    ("machine.node", 8, "machine.node: there is no such field; did you mean 'nodes'?"),
    ("policy.ordr", "fcfs", "policy.ordr: there is no such field; did you mean 'order'?"),
    ("power.capp", "80%", "power.capp: there is no such field; did you mean 'cap'?"),
    ("machin", 3, "machin: there is no such field; did you mean 'machine'?"),
    ("machine.zzz", 8, "machine.zzz: there is no such field"),
    ("machine.nodes", 0, "machine.nodes: must be at least 1 and at most 20,000,000 (it is 0)"),
])
def test_a_field_that_is_not_there_names_the_one_that_was_meant(
    field: str, value: Any, said: str
) -> None:
    with pytest.raises(InputError) as caught:
        validate(changed(GOOD, {field: value}), "it")
    assert said in str(caught.value)
    assert "did you mean" in said or "did you mean" not in str(caught.value)


def test_a_generator_that_is_not_there_names_the_one_that_was_meant() -> None:
    with pytest.raises(InputError, match=r"no generator 'lublim'; .*; did you mean 'lublin'\?"):
        validate(changed(GOOD, {"trace": {"generate": "lublim"}}), "it")
    with pytest.raises(InputError, match=r"no parameter 'lod'; .*; did you mean 'load'\?"):
        validate(changed(GOOD, {"trace": {"generate": "lublin", "parameters": {"lod": 1}}}), "it")
