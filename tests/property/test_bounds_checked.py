"""Every choice of every axis, compiled with a check of every index, decides as plain Python does.

Compiled kernels read and write where they are told to: an index outside of its array gives a wrong
figure or a crash. numba can check each one. The kernels are kept in the project's folder `.cache`,
so that a second run compiles nothing. Plain Python checks every index too, and runs before every
commit, the structures in tests/unit/engine/test_structures.py. So before a commit one structure is
compiled with checks, to see that the checks are there; the others, and compositions of policies at
half a minute each, in `make test-long`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from tests.support.checked import ALONE, PACKED, WORLDS, Cases, Ready, every_choice_once, ready
from tests.support.choices import every
from tests.support.plain_process import CheckedProcess, PlainProcess
from tests.support.regulated import NAMES
from tests.support.thinned import mostly

pytestmark = pytest.mark.compiled

GROUPS = every_choice_once()
FIELDS = {"power": "admission", "configure": "configuration"}
"""Name of an axis in a composition, where it has another name there."""
ASK = "tests.support.checked"
STRUCTURES = (
    "test_releases_against_a_sorted_list",
    "test_releases_that_are_put_off_against_a_sorted_list",
    "test_heap_of_ends_against_a_sorted_list",
    "test_timers_against_heapq", "test_queue_against_a_sorted_list", "test_nodes_against_a_set",
)


def planned_as(cases: Cases) -> Ready:
    made = ready(cases)
    assert not isinstance(made, str), made
    return made


@pytest.fixture(scope="module")
def checked() -> Iterator[CheckedProcess]:
    process = CheckedProcess()
    yield process
    process.close()


def test_an_index_outside_of_its_array_raises_there(checked: CheckedProcess) -> None:
    assert checked.call(ASK, "read_outside", 3, 2) == "nothing"
    assert "out of bounds" in checked.call(ASK, "read_outside", 3, 3)


def test_the_combinations_have_every_choice_of_every_axis() -> None:
    chosen = {case for cases in (*GROUPS, *WORLDS.values(), ALONE) for case in cases}
    assert chosen == every() | {f"regulation.{name}" for name in NAMES}
    assert len(GROUPS) < 20


@pytest.mark.parametrize("cases", [*PACKED, *WORLDS.values()], ids=lambda cases: cases[0])
def test_a_choice_is_compiled_beside_others_as_it_is_alone(cases: Cases) -> None:
    """With moldable jobs, for one, the cap of `watts` is kept by another type."""
    for case in cases:
        axis = FIELDS.get(case.split(".")[0], case.split(".")[0])
        both, alone = (getattr(made.policy, axis) for made in map(planned_as, (cases, (case,))))
        assert type(both) is type(alone), case


@pytest.mark.parametrize("test", mostly(
    STRUCTURES, ["test_timers_against_heapq"], pytest.mark.long))
def test_a_structure_keeps_its_promises_with_checks(test: str, checked: CheckedProcess) -> None:
    checked.call("tests.unit.engine.test_structures", test)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_a_profile_keeps_its_promises_with_checks(seed: int, checked: CheckedProcess) -> None:
    checked.call("tests.unit.engine.test_structures", "test_profile_against_an_array_of_seconds",
                 seed)


@pytest.mark.long
@pytest.mark.parametrize("cases", GROUPS, ids=lambda cases: cases[0])
def test_compiled_with_checks_it_decides_as_plain_python_does(
    cases: Cases, plain: PlainProcess, checked: CheckedProcess
) -> None:
    journal = plain.call(ASK, "told", cases)
    assert journal.count("\n") > 20  # the head, and a line for each step
    assert checked.call(ASK, "told_otherwise", cases, journal) == []


@pytest.mark.long  # plain Python checks them before a commit, in tests/contract/test_choices.py
@pytest.mark.parametrize("case", ALONE)
def test_a_placement_alone_with_checks_gives_the_nodes_of_plain_python(
    case: str, plain: PlainProcess, checked: CheckedProcess
) -> None:
    nodes = plain.call(ASK, "placed", case)
    assert len(nodes) > 8
    assert all(len(set(each)) == len(each) > 0 for each in nodes)
    assert checked.call(ASK, "placed", case) == nodes


@pytest.mark.long
@pytest.mark.parametrize("world", WORLDS)
def test_a_simulated_world_with_checks_is_the_plain_one(
    world: str, plain: PlainProcess, checked: CheckedProcess
) -> None:
    ours, theirs = (each.call(ASK, "whole", WORLDS[world]) for each in (checked, plain))
    assert set(ours) == set(theirs)
    for name, values in theirs.items():
        np.testing.assert_array_equal(ours[name], values, err_msg=name)


@pytest.mark.long  # the kernels of shared nodes take minutes to compile with checks
@pytest.mark.parametrize(("module", "function", "seeds"), [
    ("shared_busy", "busy_columns", 40), ("shared_bounded", "bounded_columns", 20),
    ("shared_capped", "capped_columns", 20), ("shared_crossed", "crossed_columns", 100)])
def test_shared_nodes_with_checks_are_given_to_jobs_as_in_plain_python(
    module: str, function: str, seeds: int, plain: PlainProcess, checked: CheckedProcess
) -> None:
    for seed in range(seeds):
        ours, theirs = (each.call(f"tests.support.{module}", function, seed)
                        for each in (checked, plain))
        assert ours == theirs, seed
