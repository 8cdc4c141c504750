"""The contract for each built-in choice of each axis, from the table of all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.support import regulated
from tests.support.choices import CASES, NODES, trace
from wattline.engine.prepare import Rules
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine
from wattline.model.run import Run
from wattline.policies.contract import Composition
from wattline.testing import ChoiceContract, PolicyContract, broken_clauses

SEED = 5
JOBS, JOBS_ON_NETWORK = {False: 7, True: 12}, {False: 3, True: 4}
"""Before every commit, and in the long run."""
KEEP = {"backfill.none": "in_order", "backfill.easy": "keeps_head",
        "backfill.conservative": "keeps_all"}


class Kept(PolicyContract):
    """Has two runs of the same jobs, made apart, and hands them out by turns: no clause changes a
    run, and the one that compares two gets both."""

    def __init__(self, jobs: JobTable) -> None:
        self.same_jobs = jobs
        self.runs: list[Run] = []

    def workloads(self) -> Iterator[JobTable]:
        yield self.same_jobs

    def play(self, jobs: JobTable, policy: Any = None) -> Run:
        if policy is not None or jobs is not self.same_jobs:
            return super().play(jobs, policy)
        if len(self.runs) < 2:
            self.runs.append(super().play(jobs))
        self.runs.reverse()
        return self.runs[0]


class OfCase(Kept, ChoiceContract):
    """A choice as its small scenario has it."""

    def __init__(self, case: str, many: bool) -> None:
        self.fields = {name: value for name, value in CASES[case].items() if name != "trace"}
        jobs = JOBS_ON_NETWORK if "network.groups" in self.fields else JOBS
        self.trace = trace(str(CASES[case].get("trace", "")), SEED, jobs[many])
        super().__init__(self.trace.jobs)
        self.named = "trace" in CASES[case] or "claims" in case
        self.keeps_cap = any(name.startswith("power.cap") for name in self.fields)
        if case in KEEP:
            setattr(self, KEEP[case], True)

    def workloads_about_idle(self) -> Iterator[JobTable]:
        """Not where jobs need tables or claims of their applications."""
        self.jobs, self.seeds = len(self.same_jobs), (SEED,)
        return iter(()) if self.named else super().workloads_about_idle()

    def machine_fields(self) -> Mapping[str, Any]:
        return {} if "machine.classes" in self.fields else NODES

    def logged(self, jobs: JobTable) -> dict[str, Any]:
        return {name: column[: len(jobs)] for name, column in self.trace.logged.items()}


class Regulated(Kept):
    """A policy of regulation under a small contract."""

    def __init__(self, name: str, many: bool) -> None:
        self.name = name
        super().__init__(regulated.typed_jobs(SEED, 20 if many else 12))

    def make_policy(self) -> Composition:
        return regulated.regulated(self.name)

    def machine(self) -> Machine:
        return regulated.MACHINE

    def rules(self) -> Rules:
        return Rules()


def broken(choice: str, many: bool) -> dict[str, str]:
    """The clauses that a choice does not keep."""
    axis, _, name = choice.partition(".")
    return broken_clauses(
        Regulated(name, many) if axis == "regulation" else OfCase(choice, many))
