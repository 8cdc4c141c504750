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
from wattline.engine.prepare import Rules, prepare
from wattline.engine.simulate import simulate
from wattline.model.jobs import JobTable
from wattline.model.kernel import kernel
from wattline.model.machine import Machine
from wattline.policies.contract import Composition, counters_read, give_back, place
from wattline.policies.memory import bound, memories
from wattline.policies.placement.network.placements import PLACEMENTS
from wattline.policies.state import State
from wattline.testing.five_ways import columns_of, journal_of, parts_from

Cases = tuple[str, ...]
ALONE = tuple(f"placement.{name}" for name in PLACEMENTS if name != "rdn")
"""Placements on a network are kernels of their own, which the scheduler only calls: compiled with
it they take half a minute each, alone a few seconds. Two are had with it too."""
WORLDS: dict[str, Cases] = {
    "claims": ("configure.claims", "placement.claims", "order.claims", "power.none",
               "backfill.none"),
    "network": ("placement.rdn", "power.adaptive"),
}
"""Simulated from end to end: between them they have all that a world adds to the books."""
PACKED: tuple[Cases, ...] = (
    ("power.block", "order.fcfs", "configure.requested", "placement.counted", "backfill.easy"),
    ("power.wait", "order.sjf", "placement.first-fit", "backfill.conservative"),
    ("power.dvfs", "order.wfp"),
    ("power.watts", "order.largest", "placement.nedd"),
    ("power.budget", "order.multifactor", "placement.bounded"),
    # The four rules are one type: what is compiled for the first serves the others.
    *(("power.lending", "order.energy-share", "placement.varied", f"configure.{rule}")
      for rule in ("naive", "traditional", "fixed", "adaptive")),
)
"""Told their events: the fewest compositions that have the choices of every axis between them. The
first and the third are also those of other tests, which find them compiled."""
SEED = 3
JOBS = {False: 40, True: 32}
"""Without and with a network, whose flows take plain Python long."""
REGULATION = "regulation."


class Ready(NamedTuple):
    jobs: JobTable
    machine: Machine
    policy: Composition
    rules: Rules


def ready(cases: Cases) -> Ready | str:
    """Return what a simulation takes, or why these cases do not go together."""
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
    """Few combinations that have every choice which no world and no placement alone has.

    A choice that was added and packed with no others has one to itself.
    """
    had = {case for cases in (*PACKED, *WORLDS.values(), ALONE) for case in cases}
    return [*PACKED, *((case,) for case in CASES if case in every() - had),
            *((f"{REGULATION}{name}",) for name in regulated.NAMES)]


def placed(case: str) -> list[list[int]]:
    """The nodes that a placement gives to jobs as they come and go, asked without a scheduler."""
    made = ready((case,))
    assert not isinstance(made, str), made
    state, _, _ = prepare(made.jobs, made.machine, made.rules)
    placement = bound(made.policy, len(made.jobs)).placement
    for memory in memories(placement).values():
        memory.annotate(0, made.jobs, made.rules.logged)
    found, running = [], []
    for job in range(len(made.jobs)):
        while state.live[job].units > state.clock[0].free:
            _leave(state, placement, running.pop(len(running) // 2))
        assert place(state, placement, job)
        state.clock[0].free -= state.live[job].units
        running.append(job)
        found.append(_nodes_of(state, job))
        counters_read(state, placement, job % 3, float(job))
    return found


def _leave(state: State, placement: Any, job: int) -> None:
    give_back(state, placement, job)
    state.clock[0].free += state.live[job].units


def _nodes_of(state: State, job: int) -> list[int]:
    found: list[int] = []
    run = int(state.live[job].first_node)
    while run >= 0:
        found += range(run, run + int(state.nodes[run].length))
        run = int(state.nodes[run].next)
    return found


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
    """Return whether one more case goes beside others, and none of them gives way to another."""
    given: dict[str, Any] = {}
    for each in cases:
        given |= CASES[each]
    if any(given[field] != value for field, value in CASES[case].items() if field in given):
        return False
    return not isinstance(ready(in_order((*cases, case))), str)


def in_order(cases: Cases) -> Cases:
    return tuple(case for case in CASES if case in cases)


def told_otherwise(cases: Cases, journal: str) -> list[str]:
    """Return where the policy, asked here, decides otherwise."""
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
    """Message of a kernel that reads there in an array of so many entries."""
    try:
        _third(np.ones(size), place)
    except IndexError as error:
        return f"IndexError: {error}"
    return "nothing"
