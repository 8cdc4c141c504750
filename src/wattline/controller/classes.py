"""Which classes of nodes a job may have, for claims, which choose one class for all its nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wattline.controller.beginning import Obstacle
from wattline.controller.where import of_partition
from wattline.live.slurm.reading import SlurmJob
from wattline.policies.configuration.claimed_setup import CLASS_FIRST, CLASS_LAST

if TYPE_CHECKING:
    from wattline.controller.watching import Watcher
    from wattline.model.machine import Machine

_NONE: dict[str, float] = {CLASS_FIRST: 0, CLASS_LAST: -1}


@dataclass(frozen=True)
class Classes:
    """Their names, and by number of a node which is its."""

    names: tuple[str, ...]
    of_node: tuple[int, ...]

    @classmethod
    def of(cls, machine: Machine) -> Classes:
        return cls(tuple(group.node_class.name for group in machine.groups),
                   tuple(kind for kind, group in enumerate(machine.groups)
                         for _ in range(group.count)))

    def nodes(self, kind: int) -> set[int]:
        return {number for number, its in enumerate(self.of_node) if its == kind}

    def logged(self, watcher: Watcher, job: SlurmJob) -> dict[str, float]:
        """What the books are told: from which class to which; nothing where it may have any."""
        found, why_not = self._may_have(watcher, job)
        if why_not:
            return dict(_NONE)
        if len(found) == len(self.names):
            return {}
        return {CLASS_FIRST: found[0], CLASS_LAST: found[-1]}

    def obstacle(self, watcher: Watcher, job: SlurmJob) -> Obstacle | None:
        """Why claims cannot choose for a job."""
        why_not = self._may_have(watcher, job)[1]
        return Obstacle("not managed", f"{why_not}, and claims choose one class for all nodes of a "
                        "job: change that (scontrol update), or release it, and Slurm starts it",
                        lasts=True) if why_not else None

    def _may_have(self, watcher: Watcher, job: SlurmJob) -> tuple[Sequence[int], str]:
        own = [watcher.number[name] for name in job.required_nodes if name in watcher.number]
        if own:
            found = sorted({self.of_node[number] for number in own})
            if len(found) > 1:
                return found, f"the nodes that it names are of the classes {self._named(found)}"
            if len(own) < job.nodes:
                return found, (f"it names {len(own):,} of its {job.nodes:,} nodes, and Slurm takes "
                               "the others of any class")
            return found, ""
        there = Counter(self.of_node[number] for number in of_partition(watcher, job.partition))
        found = sorted(kind for kind, count in there.items() if count >= job.nodes)
        if not found:
            return found, f"no class has {job.nodes:,} nodes in the partition {job.partition}"
        if found[-1] - found[0] >= len(found):
            return found, (f"the partition {job.partition} has only the classes "
                           f"{self._named(found)}, which are no neighbours")
        return found, ""

    def _named(self, kinds: Sequence[int]) -> str:
        return " and ".join(self.names[kind] for kind in kinds)
