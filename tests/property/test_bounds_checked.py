"""Every choice of every axis, compiled with a check of every index, decides as plain Python does.

Compiled kernels read and write where they are told to: an index outside of its array gives a wrong
figure or a crash. numba can check each one. The kernels are kept in the project's folder `.cache`,
so that a second run compiles nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from tests.support.checked import Cases, every_choice_once
from tests.support.choices import every
from tests.support.plain_process import CheckedProcess, PlainProcess
from tests.support.regulated import NAMES

pytestmark = pytest.mark.compiled

GROUPS = every_choice_once()
WORLDS: dict[str, Cases] = {
    "counted": ("order.fcfs",),
    "claims": ("configure.claims",),
    "network": ("placement.nedd", "power.adaptive"),
}
"""Between them they have all that a simulated world adds to the books."""
ASK = "tests.support.checked"


@pytest.fixture(scope="module")
def checked() -> Iterator[CheckedProcess]:
    process = CheckedProcess()
    yield process
    process.close()


def test_an_index_outside_of_its_array_raises_there(checked: CheckedProcess) -> None:
    assert checked.call(ASK, "read_outside", 3, 2) == "nothing"
    assert "out of bounds" in checked.call(ASK, "read_outside", 3, 3)


def test_the_combinations_have_every_choice_of_every_axis() -> None:
    chosen = [case for cases in GROUPS for case in cases]
    assert set(chosen) == every() | {f"regulation.{name}" for name in NAMES}
    assert len(GROUPS) < 35


@pytest.mark.parametrize("cases", GROUPS, ids=lambda cases: cases[0])
def test_compiled_with_checks_it_decides_as_plain_python_does(
    cases: Cases, plain: PlainProcess, checked: CheckedProcess
) -> None:
    journal = plain.call(ASK, "told", cases)
    assert journal.count("\n") > 20  # the head, and a line for each step
    assert checked.call(ASK, "told_otherwise", cases, journal) == []


@pytest.mark.parametrize("world", WORLDS)
def test_a_simulated_world_with_checks_is_the_plain_one(
    world: str, plain: PlainProcess, checked: CheckedProcess
) -> None:
    ours, theirs = (each.call(ASK, "whole", WORLDS[world]) for each in (checked, plain))
    assert set(ours) == set(theirs)
    for name, values in theirs.items():
        np.testing.assert_array_equal(ours[name], values, err_msg=name)
