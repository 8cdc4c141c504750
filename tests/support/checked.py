"""Compositions to run compiled with a check of every index, beside the same as plain Python.

What is compiled takes seconds for each combination of policies, so a few combinations between them
have every choice of every axis. A policy is asked through the books: the plain process writes the
journal of a simulation, the checked one is told its events and must decide the same.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tests.support import regulated
from tests.support.choices import CASES, every
from tests.support.proving import planned_cases
from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.jobs import JobTable
from wattline.model.kernel import kernel
from wattline.model.machine import Machine
from wattline.policies.contract import Composition
from wattline.testing.five_ways import columns_of, journal_of, parts_from

Cases = tuple[str, ...]
SEED = 3
JOBS = {False: 40, True: 14}
"""Without and with a network, whose flows take plain Python long."""
REGULATION = "regulation."


class Ready(NamedTuple):
    jobs: JobTable
    machine: Machine
    policy: Composition
    rules: Rules


def ready(cases: Cases) -> Ready | str:
    """What a simulation takes, or why these cases do not go together."""
    if cases[0].startswith(REGULATION):
        name = cases[0].removeprefix(REGULATION)
        return Ready(regulated.typed_jobs(SEED, JOBS[False]), regulated.MACHINE,
                     regulated.regulated(name), Rules())
    on_network = any("network.groups" in CASES[case] for case in cases)
    made = planned_cases(cases, SEED, JOBS[on_network])
    if isinstance(made, str):
        return made
    assert isinstance(made.policy, Composition)
    for axis, choice in (case.split(",")[0].split(".") for case in cases):
        chosen = getattr(made.scenario.policy, axis)
        if choice != (chosen if isinstance(chosen, str) else chosen["name"]):
            return f"the other cases need another policy.{axis} than {choice}"
    return Ready(made.jobs, made.machine, made.policy, made.rules)


def every_choice_once() -> list[Cases]:
    """Few combinations that have every choice; the axis with most left leads, others join it."""
    left: dict[str, list[str]] = {}
    for case in CASES:
        if case in every():
            left.setdefault(case.split(".")[0], []).append(case)
    found = []
    while any(left.values()):
        axes = sorted(left, key=lambda axis: -len(left[axis]))
        cases: Cases = (left[axes[0]].pop(0),)
        for axis in axes[1:]:
            for case in left[axis]:
                if not isinstance(ready((*cases, case)), str):
                    cases = (*cases, case)
                    left[axis].remove(case)
                    break
        found.append(cases)
    return found + [(f"{REGULATION}{name}",) for name in regulated.NAMES]


def told(cases: Cases) -> str:
    """The journal of a simulation."""
    made = ready(cases)
    assert not isinstance(made, str), made
    return journal_of(*made)


def told_or_refused(cases: Cases) -> tuple[str, str]:
    """The journal of a simulation and nothing, or nothing and why the cases do not go together."""
    made = ready(cases)
    return ("", made) if isinstance(made, str) else (journal_of(*made), "")


def possible(pairs: list[tuple[str, str]]) -> list[str]:
    """Of each pair why it does not go together; nothing where it does."""
    return [made if isinstance(made := ready(pair), str) else "" for pair in pairs]


def joins(cases: Cases, case: str) -> bool:
    """Whether one more case goes beside others, and none of them gives way to another."""
    given: dict[str, Any] = {}
    for each in cases:
        given |= CASES[each]
    if any(given[field] != value for field, value in CASES[case].items() if field in given):
        return False
    return not isinstance(ready(in_order((*cases, case))), str)


def in_order(cases: Cases) -> Cases:
    return tuple(case for case in CASES if case in cases)


def told_otherwise(cases: Cases, journal: str) -> list[str]:
    """Where the policy, asked here, decides otherwise."""
    made = ready(cases)
    assert not isinstance(made, str), made
    return parts_from(journal, *made)


def whole(cases: Cases) -> dict[str, Any]:
    """Every column of a simulation from end to end."""
    made = ready(cases)
    assert not isinstance(made, str), made
    return columns_of(simulate(*made))


@kernel
def _third(values: Any, place: int) -> float:
    return float(values[place])


def read_outside(size: int, place: int) -> str:
    """What a kernel says that reads there in an array of so many entries."""
    try:
        _third(np.ones(size), place)
    except IndexError as error:
        return f"IndexError: {error}"
    return "nothing"
