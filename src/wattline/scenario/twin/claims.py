"""What claims know of a twin's jobs: for each its classes of node, best first, time and watts.

The application of a job is its name. A setting (threads, caps, GPUs) is an option for a job that
can have it: threads up to its CPUs on a node, caps where it has its nodes alone, GPUs as it asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isnan, prod

import numpy as np

from wattline.model.errors import InputError
from wattline.model.fields import name_of
from wattline.model.machine import Machine
from wattline.physics.claims import Claim, Objective
from wattline.physics.claims.latency import with_cap_latency
from wattline.physics.claims.logged import AS_CLAIMED, AS_LOGGED, ENDS_AS_LOGGED, as_it_ran
from wattline.policies.configuration.claimed_setup import (
    ClaimsParameters,
    book_of,
    known_options,
)
from wattline.policies.registry import choose
from wattline.policies.setting import Outside
from wattline.scenario.model import Scenario
from wattline.scenario.twin.asked import NEVER_ENDS_S, AskedJob, Counter
from wattline.scenario.twin.claimed_classes import classes_of
from wattline.scenario.twin.site import Site
from wattline.shared_nodes.class_options import ClassOptions
from wattline.shared_nodes.filled import Filled, fill
from wattline.shared_nodes.machine import EXCLUSIVE
from wattline.shared_nodes.requests import Requests
from wattline.shared_nodes.rules import LINEAR, Rules
from wattline.site.lines import hosts_of

CLAIMS = "claims"
Pair = tuple[Claim, Claim]
"""What is claimed, and what is true of the same class and setting."""
Row = tuple[int, float, float, float, float]
"""Of an option: class, score, claimed seconds, seconds that it takes, watts of each node."""
BELOW_IDLE = "claimed below the idle power of nodes of a class: there it counts as idle power"
NO_SETTING = "claims know its application, but no setting that it can have: it runs as if they " \
    "did not"


@dataclass(frozen=True, eq=False)
class ClaimedJobs:
    """Options of the jobs, and what they rest on."""

    options: ClassOptions
    classes: tuple[str, ...]
    said: tuple[str, ...]


@dataclass(frozen=True)
class Size:
    """What settings a job can have."""

    nodes: int
    cpus: int
    """On each node."""
    gpus: int
    """On each node; -1 where they are not equal."""
    models: frozenset[str]
    alone: bool

    def has(self, claim: Claim, node_cpus: int) -> bool:
        """Whether the job can run in the setting of a claim, on nodes with so many CPUs."""
        setting = claim.setting
        threads = prod(int(part) for part in setting.threads.split("x")) if setting.threads else 0
        return (threads <= (node_cpus if self.alone else self.cpus)
                and (self.alone or not setting.capped) and setting.gpus == self.gpus
                and (not setting.gpu or not self.models or setting.gpu in self.models))


def claimed_jobs(
    scenario: Scenario, site: Site, rules: Rules, machine: Machine, outside: Outside
) -> ClaimedJobs | None:
    """The options of `policy.configure = claims` with `policy.placement = claims`."""
    if name_of(scenario.policy.placement) != CLAIMS:
        return None
    given = choose("configure", scenario.policy.configure).given
    assert isinstance(given, ClaimsParameters)
    return _Reading(site, rules, given, machine, outside).made()


class _Reading:
    """Goes through the jobs once; what is to be said of them is counted."""

    def __init__(self, site: Site, rules: Rules, given: ClaimsParameters, machine: Machine,
                 outside: Outside) -> None:
        self.site, self.given, self.said = site, given, Counter()
        self.book = book_of(outside, given)
        self.objective = replace(Objective.parse(given.objective),
                                 caution=given.caution).among(self.book)
        self.truth = with_cap_latency(self.book, given.cap_latency_s)
        self.classes = classes_of((claim.node_class for claim in self.book), site.machine, machine)
        if given.logged_on and given.logged_on not in self.classes.names:
            raise InputError(f"policy.configure.logged_on: '{given.logged_on}' is no class of the "
                             f"claims that the twin has; it has {', '.join(self.classes.names)}")
        self.cpus = {name: int(site.machine.nodes.cpus[self.classes.of_node == row].min())
                     for row, name in enumerate(self.classes.names)}
        self.idle_w = [float(site.machine.nodes.idle_w[self.classes.of_node == row].min())
                       for row in range(len(self.classes.names))]
        self.node_row = {name: row for row, name in enumerate(site.machine.nodes.names)}
        self.pairs: dict[tuple[str, int], list[Pair]] = {}
        self.filled = fill(site.machine, site.made.requests, rules)
        self.alone = _alone(site, rules)

    def made(self) -> ClaimedJobs:
        requests, known = self.site.made.requests, frozenset(self.book.applications)
        rows: list[Row] = []
        first = [0]
        spoken = 0
        for row, job in enumerate(self.site.log.jobs):
            if job.name in known:
                found = self._options(row, job, requests)
                spoken += bool(found)
                rows += found
            first.append(len(rows))
        columns = np.array(rows, dtype=np.float64).reshape(len(rows), 5)
        options = ClassOptions(
            class_of_node=self.classes.of_node, first=np.array(first),
            kind=columns[:, 0].astype(np.int64), score=columns[:, 1], claimed_s=columns[:, 2],
            run_s=columns[:, 3], power_per_node_w=columns[:, 4], patience=self.given.patience)
        return ClaimedJobs(options, self.classes.names, (*self._of_all(spoken), *(
            f"claims: {line}" for line in self.said.lines())))

    def _of_all(self, spoken: int) -> list[str]:
        jobs = len(self.site.log.jobs)
        others = "" if spoken == jobs else "; the others run as if there were none"
        return [*self.classes.said,
                f"claims speak of {spoken:,} of {jobs:,} jobs, whose application is the job's name "
                "(JobName of sacct; -J, or the script, of .events; the column application of a "
                f"table){others}",
                "claims: a job keeps the time limit that it asked for on every class, and backfill "
                "plans with it"]

    def _options(self, row: int, job: AskedJob, requests: Requests) -> list[Row]:
        """Rows of a job's options, best first; of equal ones that of the earlier claim."""
        size = _size(row, requests, self.filled, bool(self.alone[row]))
        fitting = [pair for pair in self._known(job.name, size.nodes)
                   if size.has(pair[0], self.cpus[pair[0].node_class])]
        if not fitting:
            self.said.note(NO_SETTING, job.job_id)
            return []
        fitting.sort(key=lambda pair: self.objective.score(pair[0]))
        base = self._logged_on(job, size, fitting)
        self.said.note(AS_LOGGED if base is not None else ENDS_AS_LOGGED if _ends_early(job)
                       else AS_CLAIMED, job.job_id)
        rows = [(self.classes.names.index(claim.node_class), self.objective.score(claim),
                 _run_s(job, claim, base), _run_s(job, real, base),
                 _node_w(row, requests, real, base, size))
                for claim, real in fitting]
        if any(node_w < self.idle_w[kind] for kind, *_, node_w in rows):
            self.said.note(BELOW_IDLE, job.job_id)
        return rows

    def _known(self, application: str, nodes: int) -> list[Pair]:
        key = application, nodes
        if key not in self.pairs:
            self.pairs[key] = known_options(self.book, self.truth, application,
                                            self.classes.names, nodes)
        return self.pairs[key]

    def _logged_on(self, job: AskedJob, size: Size, fitting: Sequence[Pair]) -> Claim | None:
        """What is true of the job as it ran by the log: on one class, without a cap of its own."""
        as_asked = ("", str(size.cpus))
        if not job.node_list:
            return as_it_ran((real for _, real in fitting), self.given.logged_on, as_asked)
        nodes = hosts_of(job.node_list, job.where)
        kinds = {int(self.classes.of_node[self.node_row[name]]) if name in self.node_row else -1
                 for name in nodes}
        if len(kinds) != 1 or -1 in kinds:
            return None
        return as_it_ran((real for _, real in fitting), self.classes.names[kinds.pop()], as_asked)


def _alone(site: Site, rules: Rules) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Jobs that have their nodes alone in every partition that they name."""
    requests, sharing = site.made.requests, site.machine.partitions.sharing
    named = requests.partitions
    return np.asarray(requests.exclusive | (rules.select == LINEAR) | (
        named.any(axis=1) & ~(named & (sharing != EXCLUSIVE)[None, :]).any(axis=1)))


def _size(row: int, requests: Requests, filled: Filled, alone: bool) -> Size:
    nodes, tasks = (int(filled.sizes[name][row]) for name in ("min_nodes", "tasks"))
    gpus, models = 0, set()
    for at, (name, model) in enumerate(requests.gres_choices):
        number = int(requests.gres_per_node[row, at]) * nodes + int(
            requests.gres_per_job[row, at]) + int(requests.gres_per_task[row, at]) * tasks
        if name == "gpu" and number:
            gpus += number
            models |= {model} if model else set()
    return Size(nodes, int(filled.sizes["cpus"][row]) // nodes,
                gpus // nodes if gpus % nodes == 0 else -1, frozenset(models), alone)


def _ends_early(job: AskedJob) -> bool:
    """Whether it ended for another reason than that its work was done."""
    return not job.exit_ok or job.run_s >= NEVER_ENDS_S


def _run_s(job: AskedJob, there: Claim, base: Claim | None) -> float:
    if base is not None:
        return job.run_s * (there.time_s / base.time_s)  # on its own class to the last bit
    return job.run_s if _ends_early(job) else there.time_s


def _node_w(row: int, requests: Requests, real: Claim, base: Claim | None, size: Size) -> float:
    """Watts of each node: what is claimed, or what was measured times the ratio of the claims."""
    measured_w = float(requests.power_per_node_w[row])
    if base is None or isnan(measured_w):
        return real.power_w / size.nodes
    return measured_w * real.power_w / base.power_w
