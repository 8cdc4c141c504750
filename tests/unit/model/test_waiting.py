"""The time that compiling has lasted is said where nothing moves on a screen."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator

import pytest

from wattline import model
from wattline.model.waiting import Wait


@pytest.fixture
def said() -> Iterator[list[str]]:
    lines: list[str] = []
    before = list(model.while_compiling)
    model.while_compiling[:] = [lines.append]
    yield lines
    model.while_compiling[:] = before


def test_a_long_wait_says_how_long_it_has_been_and_how_long_it_took(said: list[str]) -> None:
    wait = Wait(every_s=0.05)
    wait.begin()
    wait.begin()  # a kernel that the first one calls
    time.sleep(0.13)
    wait.end()
    assert not any(line.startswith("compiled") for line in said)
    wait.end()
    assert said[0] == "compiling, 0 s so far"
    assert said[-1] == "compiled in 0 s"


def test_a_short_wait_says_nothing_more(said: list[str]) -> None:
    wait = Wait(every_s=5.0)
    wait.begin()
    wait.end()
    assert said == []


def test_the_same_wait_can_begin_again(said: list[str]) -> None:
    wait = Wait(every_s=0.02)
    for _ in range(2):
        wait.begin()
        time.sleep(0.05)
        wait.end()
    assert sum(line.startswith("compiled") for line in said) == 2


def test_whoever_calls_from_python_hears_of_it_by_a_logger(
    caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "wattline"):
        model._log("compiling, 10 s so far")
    assert "compiling, 10 s so far" in caplog.text
