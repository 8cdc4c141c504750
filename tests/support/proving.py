"""Pairs of choices along two axes, made into plans that must decide the same in five ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any
from zlib import crc32

import numpy as np

from tests.support.choices import CASES, NODES, trace
from tests.support.packing import REFUSED, SAME, Bundle, Cases, tell_apart
from wattline.model.errors import InputError
from wattline.model.jobs import NO_JOB
from wattline.policies.contract import Composition
from wattline.results.verify.judge import verify
from wattline.scenario.build import Plan, plan
from wattline.scenario.load import changed, validate
from wattline.testing.five_ways import differences
from wattline.traces import Trace


def pairs() -> list[tuple[str, str]]:
    """Each choice of each axis with each of every other; of the networks' placements three."""
    kept = [case for case in CASES if "network.groups" not in CASES[case]
            or case.split(".")[1] in ("rdn", "nedd", "low-stall-router")]
    return [(one, other) for one, other in combinations(kept, 2)
            if one.split(".")[0] != other.split(".")[0]]


def planned_pair(one: str, other: str, seed: int, jobs: int) -> Plan | str:
    """The plan of two cases together, or why there is none."""
    return planned_cases((one, other), seed, jobs)


def planned_cases(cases: Sequence[str], seed: int, jobs: int) -> Plan | str:
    """The plan of several cases together, or why there is none."""
    given: dict[str, Any] = {}
    for case in cases:
        both = _together(given, CASES[case])
        if isinstance(both, str):
            return both
        given = both
    kind = str(given.pop("trace", ""))
    random = np.random.default_rng([seed, crc32(" ".join(cases).encode())])
    machine = {} if "machine.classes" in given else NODES | _size(random)
    drawn = _in_chains(trace(kind, seed, int(random.integers(jobs - 4, jobs + 5))), seed)
    made = _plan(cases, machine | given | _reserved(random), drawn)
    # Not all go with a reservation of nodes; then they are tried without.
    return made if isinstance(made, Plan) else _plan(cases, machine | given, drawn)


def _plan(cases: Sequence[str], fields: dict[str, Any], drawn: Trace) -> Plan | str:
    try:
        made = validate(changed({"name": "pair", "trace": {"file": "made"}}, fields),
                        " with ".join(cases))
        return plan(made, drawn)
    except InputError as error:
        return str(error)


def _size(random: np.random.Generator) -> dict[str, Any]:
    """Room for the largest job, in two to six racks."""
    return {"machine.nodes": int(random.choice([13, 16, 20, 23])),
            "machine.nodes_per_rack": int(random.choice([4, 5, 8]))}


def _reserved(random: np.random.Generator) -> dict[str, Any]:
    """On half of the machines nodes are reserved, for now or for a while to come."""
    if random.random() < 0.5:
        return {}
    return {"reservations": [{"start_s": float(random.integers(0, 500)),
                              "duration_s": float(random.integers(50, 400)),
                              "nodes": int(random.integers(1, 9))}]}


def _in_chains(found: Trace, seed: int) -> Trace:
    """A quarter of the jobs come after the one before them, some with time to think."""
    random = np.random.default_rng(seed)
    count = len(found.jobs)
    follows = (random.random(count) < 0.25) & (np.arange(count) > 0)
    return replace(found, jobs=found.jobs.with_columns(
        after_job=np.where(follows, np.arange(count) - 1, NO_JOB),
        think_s=np.where(follows, random.integers(0, 30, count), 0).astype(np.float64)))


def _together(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any] | str:
    if one.get("trace", "") != other.get("trace", "") and "trace" in one and "trace" in other:
        return "the two cases are about different jobs"
    both = one | other
    if any(field.startswith("power.cap.") for field in both):
        both.pop("power.cap", None)
    if "machine.classes" in both:
        both.pop("machine.nodes", None)
    return both


def prove(ready: Plan) -> list[str]:
    """Return what is wrong with a plan's run: by the independent checker, and between the five
    ways."""
    assert isinstance(ready.policy, Composition)
    run = ready.run()
    found = [f"checker: {problem}" for problem in verify(run).sentences[:3]]
    return found or differences(ready.jobs, ready.machine, ready.policy, ready.rules, run)


def some_jobs(cases: Sequence[str], seed: int, many: bool = False) -> int:
    """About how many: another number for all cases and seeds, so that none is special; fewer on a
    network, whose flows take plain Python long."""
    on_network = any("network.groups" in CASES[case] for case in cases)
    least, more = (8, 7) if many else (6, 3) if on_network else (7, 5)
    return least + (crc32(" ".join(cases).encode()) + seed) % more


def proved(
    cases: list[tuple[str, str]], seed: int, jobs: int | None = None
) -> dict[str, list[str]]:
    """Return what is wrong, by pair; called in a process where nothing is compiled."""
    found = {}
    for one, other in cases:
        ready = planned_pair(one, other, seed, jobs or some_jobs((one, other), seed))
        found[f"{one} with {other}"] = (
            ["refused", ready] if isinstance(ready, str) else prove(ready))
    return found


def proved_together(bundles: list[Bundle], seed: int, many: bool = False) -> dict[str, str]:
    """Return what becomes of each pair of some compositions, and of those that are wrong as a
    whole."""
    def outcome(cases: Cases) -> str:
        ready = planned_cases(cases, seed, some_jobs(cases, seed, many))
        if isinstance(ready, str):
            return f"{REFUSED}: {ready}"
        return next(iter(prove(ready)), SAME)

    return {" with ".join(cases): found for bundle in bundles
            for cases, found in tell_apart(bundle, outcome)}
