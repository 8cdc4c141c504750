"""On which nodes a job starts: those that the books chose, as far as the job may have them.

The books know how many nodes a job takes, not which of them its user, its partition or Slurm allow.
So the nodes that a user named stay named, a partition's own nodes take the place of others, so do
nodes that are not reserved for others before the job would end, and a job that Slurm has refused on
nodes of our choice is started wherever Slurm finds some for it.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wattline.live.slurm.commands import SlurmError

if TYPE_CHECKING:
    from wattline.controller.told import Told
    from wattline.controller.watching import Watcher


class NotFree(SlurmError):
    """Nodes that a job must have are in use: nothing was done, and it is tried again."""


@dataclass(frozen=True)
class Where:
    """So many nodes, and who names them to Slurm."""

    nodes: tuple[int, ...]
    own: bool = False
    """Its user has named some of them: that list stays as it is."""
    anywhere: bool = False
    """Slurm chooses: `nodes` only says how many."""

    def wishes(self) -> dict[str, bool]:
        """What Slurm's client has to know beside the nodes."""
        said = {"own": self.own, "anywhere": self.anywhere}
        return {name: True for name, holds in said.items() if holds}


def where_to(
    watcher: Watcher, told: Told, chosen: Sequence[int], busy: Set[int], kind: int | None = None
) -> Where:
    """Where a job that was decided upon starts; raises `NotFree` where it cannot just now.

    `busy` are the nodes of the others, `kind` is the class of node that was chosen for it: no node
    of another takes one's place.
    """
    if told.row is None:  # of an earlier controller, and not seen since
        return Where(tuple(chosen))
    job = watcher.as_asked(told.row)
    own = job.required_nodes
    if told.anywhere and not own:
        return Where(tuple(chosen), anywhere=True)
    kept = watcher.numbers_of(watcher.kept_from(job))
    allowed = of_partition(watcher, job.partition) - kept
    if kind is not None and watcher.classes is not None:
        allowed = allowed & watcher.classes.nodes(kind)
    if not own and busy.isdisjoint(chosen) and allowed.issuperset(chosen):
        return Where(tuple(chosen))
    gone = watcher.down | watcher.off
    free = {number for name, number in watcher.number.items()
            if number not in busy and number not in kept and name not in gone}
    taken = [name for name in own if watcher.number.get(name, -1) not in free]
    if taken:
        raise NotFree(f"it asks for {taken[0]}, which " + (
            "a reservation of Slurm's has or will have before it would end"
            if watcher.number.get(taken[0]) in kept else "is not free"))
    fits = free & allowed
    order = dict.fromkeys([*(watcher.number[name] for name in own),
                           *(each for each in chosen if each in fits), *sorted(fits)])
    if len(order) < len(chosen):
        raise NotFree(f"it asks for {len(chosen):,} nodes of the partition {job.partition}, of "
                      f"which {len(fits):,} are free{but(kept)}")
    return Where(tuple(list(order)[:len(chosen)]), own=bool(own))


def but(kept: Set[int]) -> str:
    """What to say of nodes that a job does not get."""
    return (f", beside {len(kept):,} that reservations of Slurm's have or will have before it "
            "would end") if kept else ""


def busy_nodes(watcher: Watcher, but: Told | None = None) -> set[int]:
    """Nodes on which a job runs or is about to, another one than that."""
    return {number for each in watcher.told.values() if each.running and each is not but
            for number in each.nodes}


def of_partition(watcher: Watcher, partition: str) -> set[int]:
    """Our nodes of a partition, or of several (`a,b`); all where Slurm does not say."""
    known = watcher.in_partition.get(partition)
    if known is None:
        names = set(partition.split(","))
        known = {watcher.number[node.name] for node in watcher.nodes_seen
                 if node.name in watcher.number and not names.isdisjoint(node.partitions)}
        known = watcher.in_partition[partition] = known or set(watcher.number.values())
    return known
