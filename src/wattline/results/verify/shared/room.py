"""Free CPUs and devices of nodes, watts of parts, and joules, at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.model.signal import FloatArray
from wattline.results.verify.shared._case import EXCLUSIVE, Case
from wattline.results.verify.shared.power import drawn_by_machine

FORBID, CHARGE_NOW, ALLOW = "forbid", "charge-now", "allow"
CARRIES = (FORBID, CHARGE_NOW, ALLOW)
"""Rule for jobs that run on into a later period, by the number in the record."""


def latest_ends(case: Case) -> FloatArray:
    """Of each stay, when its job is over at the latest: its limit, and the look at limits after."""
    limit_s = np.where(case.jobs.limit_s > 0, np.ceil(case.jobs.limit_s / 60.0) * 60.0, np.inf)
    late_s = case.late_s + 2.0 * case.rules.kill_late_s
    ends_s = case.stays.from_s + limit_s[case.stays.job] + late_s
    return np.asarray(np.maximum(ends_s, case.stays.to_s))


class Room:
    """Holdings of jobs, at one time after the other."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self._begin = np.argsort(case.given_s, kind="stable")
        self._end = np.argsort(case.stays.to_s, kind="stable")
        self._begun = self._ended = 0
        self._here = np.zeros(len(case.stays.job), bool)
        self.now_s = -np.inf
        self.latest_s = latest_ends(case)
        self._time_s, self._drawn_w = drawn_by_machine(case)
        steps_s = np.diff(self._time_s)
        self._drawn_j = (
            np.append(0.0, np.cumsum(self._drawn_w[1:-1] * steps_s))
            if len(self._time_s)
            else np.zeros(1)
        )

    def move_to(self, now_s: float) -> None:
        """Let all that begins and ends up to a time have happened."""
        given_s, to_s = self.case.given_s, self.case.stays.to_s
        while self._begun < len(self._begin) and given_s[self._begin[self._begun]] <= now_s:
            self._here[self._begin[self._begun]] = True
            self._begun += 1
        while self._ended < len(self._end) and to_s[self._end[self._ended]] <= now_s:
            self._here[self._end[self._ended]] = False
            self._ended += 1
        self.now_s = now_s

    @property
    def present(self) -> Any:
        """Rows of the stays that last now."""
        return np.flatnonzero(self._here)

    @property
    def booting_w(self) -> float:
        """Watts of jobs whose nodes still boot, which they will draw."""
        rows = self.present
        boots = self.case.stays.from_s[rows] > self.now_s
        return float(self.case.stays.watts_w[rows][boots].sum())

    def longest_s(self, job: int) -> float:
        """Longest time that a job that starts may last, the boot of its nodes included."""
        rules = self.case.rules
        boot_s = (
            rules.resume_timeout_s + 2 * rules.kill_late_s if rules.suspend_time_s >= 0 else 0.0
        )
        limit_s = np.ceil(self.case.jobs.limit_s[job] / 60.0) * 60.0
        return float(limit_s + self.case.late_s + 2 * rules.kill_late_s + boot_s)

    def nodes_for(
        self, job: int, part: int, now_s: float, rows: Any = None
    ) -> tuple[Any, Any]:
        """Nodes with room for an even part of the job, and the CPUs that it would have on each.

        Beside the stays of now, or those that are given.
        """
        case, asked, nodes = self.case, self.case.jobs, self.case.nodes
        rows = self.present if rows is None else rows
        node = case.stays.node[rows]
        count = len(nodes.names)
        used = np.bincount(node, case.stays.cpus[rows], count)
        memory = np.bincount(node, case.memory_mb[rows], count)
        open_ = self._open(job, part, now_s)
        wanted = max(int(asked.min_nodes[job]), 1)
        total = max(int(asked.tasks[job]), wanted, 1) * max(int(asked.cpus_per_task[job]), 1)
        threads = nodes.threads_per_core
        each = max(int(asked.cpus_per_task[job]), 1) * -(
            -max(int(asked.tasks[job]), wanted, 1) // wanted
        )
        cpus = np.minimum(-(-each // threads) * threads, nodes.cpus)
        open_ &= (nodes.cpus >= each) & (nodes.cpus - used >= cpus)
        whole = (
            bool(asked.exclusive[job])
            or case.partitions.sharing[part] == EXCLUSIVE
            or case.rules.select == "linear"
        )
        if whole:
            open_ &= used == 0
            cpus = nodes.cpus
        # Whoever holds nodes for its own user alone lets nobody else on them.
        alone = case.jobs.get("own_user")
        if alone is not None:
            open_ &= np.bincount(node, alone[case.stays.job[rows]], count) == 0
        if case.rules.memory_counts:
            per_node = int(asked.memory_per_node_mb[job])
            need = (
                np.full(count, per_node)
                if per_node > 0
                else (int(asked.memory_per_cpu_mb[job]) * cpus)
            )
            open_ &= nodes.memory_mb - memory >= need
        open_ &= self._has_devices(job, rows, node)
        if asked.required[job] >= 0:
            needed = asked.node_masks[asked.required[job]]
            if (needed & ~open_).any():
                return np.zeros(0, np.intp), cpus[:0]
        found = np.flatnonzero(open_)
        return (found, cpus[found]) if total <= wanted * each else (found[:0], cpus[:0])

    def _open(self, job: int, part: int, now_s: float) -> Any:
        """Nodes of its partition that it may have, and that are up and not reserved."""
        case, asked = self.case, self.case.jobs
        open_ = case.partitions.nodes[part].copy()
        if asked.features[job] >= 0:
            open_ &= asked.feature_masks[asked.features[job]]
        if asked.excluded[job] >= 0:
            open_ &= ~asked.node_masks[asked.excluded[job]]
        if case.has("outages"):
            out = case.outages
            open_[out.node[(out.start_s <= now_s) & (out.end_s >= now_s)]] = False
        if case.has("reservations"):
            kept = case.reservations
            meets = (kept.start_s < now_s + self.longest_s(job)) & (kept.end_s >= now_s)
            open_ &= ~kept.nodes[meets].any(axis=0)
        return open_

    def _has_devices(self, job: int, rows: Any, node: Any) -> Any:
        """Nodes with the devices that it asks for, as far as it is known who has some."""
        case, asked = self.case, self.case.jobs
        count = len(case.nodes.names)
        found = np.ones(count, bool)
        held = case.devices[rows]
        for at, (name, model) in enumerate(asked.gres_choices.reshape(-1, 2).tolist()):
            number = int(asked.gres_per_node[job, at])
            if number <= 0:
                continue
            same = [kind[0] == name and model in ("", kind[1]) for kind in case.kinds]
            unknown = np.bincount(node, (held[:, same] < 0).any(axis=1), count) > 0
            used = np.bincount(node, np.maximum(held[:, same], 0).sum(axis=1), count)
            found &= ~unknown & (case.nodes.gres[:, same].sum(axis=1) - used >= number)
        return found

    def left_in_bounds_w(self) -> list[float]:
        """Watts that parts of the machine have left, with those of jobs whose nodes boot taken."""
        case, rows = self.case, self.present
        left_w = []
        for bound in case.bounds:
            share = np.zeros(len(case.nodes.names))
            share[bound.nodes] = 1.0 if bound.share is None else bound.share
            drawn_w = float(share @ case.nodes.idle_w) + float(
                case.stays.watts_w[rows] @ share[case.stays.node[rows]]
            )
            left_w.append(bound.limit_w - drawn_w)
        return left_w

    def has_joules(self, job: int, now_s: float, added_w: float) -> bool:
        """Say whether this period and the next have the joules for it, beside all that runs.

        Only told where periods are of one price, and pay for what is drawn in them; what earlier
        ones left is not counted.
        """
        if not self.case.has("budget"):
            return True
        budget, rows = self.case.budget, self.present
        carry = CARRIES[int(budget.carry)]
        if (
            carry == CHARGE_NOW
            or np.diff(budget.first).max(initial=1) > 1
            or (now_s < budget.start_s)
        ):
            return False
        length_s = float(budget.length_s)
        begin_s = budget.start_s + np.floor((now_s - budget.start_s) / length_s) * length_s
        end_s = begin_s + length_s
        up_s = self.case.stays.from_s[rows]
        watts, latest_s = self.case.stays.watts_w[rows], self.latest_s[rows]
        longest_s = self.longest_s(job)

        def promised_j(from_s: float, until_s: float) -> float:
            begins_s = np.maximum(up_s, from_s)
            mine_s = max(min(now_s + longest_s, until_s) - max(now_s, from_s), 0.0)
            lasting_s = np.maximum(np.minimum(latest_s, until_s) - begins_s, 0.0)
            return float(watts @ lasting_s) + added_w * mine_s

        drawn_j = self._energy_until(now_s) - self._energy_until(begin_s)
        here_j = (
            budget.energy_j - drawn_j - budget.min_w * (end_s - now_s) - promised_j(now_s, end_s)
        )
        if here_j < 0.0 or carry == ALLOW:
            return bool(here_j >= 0.0)
        next_j = budget.energy_j - budget.min_w * length_s - promised_j(end_s, end_s + length_s)
        return bool(next_j >= 0.0)

    def _energy_until(self, time_s: float) -> float:
        """Energy of the machine from its first change to a time; less than nothing before."""
        if not len(self._time_s):
            return float(self._drawn_w[0]) * time_s
        at = int(np.searchsorted(self._time_s, time_s, "right"))
        if at == 0:
            return float(self._drawn_w[0] * (time_s - self._time_s[0]))
        return float(self._drawn_j[at - 1] + self._drawn_w[at] * (time_s - self._time_s[at - 1]))
