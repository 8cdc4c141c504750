"""Every built-in choice of every axis keeps the contract that plug-ins are held to."""

from __future__ import annotations

import pytest

from tests.support.choices import CASES, every
from tests.support.plain_process import PlainProcess
from tests.support.regulated import NAMES
from tests.support.thinned import mostly

CHOICES = [*(case for case in CASES if case in every()), *(f"regulation.{name}" for name in NAMES)]


def test_every_choice_has_a_scenario() -> None:
    assert every() <= set(CHOICES)
    assert {choice.split(".")[0] for choice in CHOICES} == {
        "order", "backfill", "power", "configure", "placement", "regulation"}


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("many", mostly([False, True], [False], pytest.mark.long))
def test_the_choice_keeps_the_contract(choice: str, many: bool, plain: PlainProcess) -> None:
    assert plain.call("tests.contract.choices", "broken", choice, many) == {}
