"""What was noted while power was divided among jobs, and must be said of the outcome."""

from __future__ import annotations

from dataclasses import dataclass, field

from wattline.account.measured.doubts import suspects_said
from wattline.account.measured.names import some_of
from wattline.account.measured.rules import Rules


@dataclass
class Notes:
    """Counted, or by the name of the node or the number of the life."""

    unreadable: int = 0
    suspended: int = 0
    blind_gpus: set[int] = field(default_factory=set)
    several: dict[str, set[str]] = field(default_factory=dict)
    impossible: dict[str, int] = field(default_factory=dict)
    unsure: set[str] = field(default_factory=set)
    suspect_j: dict[str, float] = field(default_factory=dict)
    suspects: int = 0
    by_gpus: set[str] = field(default_factory=set)
    undivided: set[str] = field(default_factory=set)
    without_memory: set[int] = field(default_factory=set)

    def remarks(self, rules: Rules) -> tuple[str, ...]:
        said = []
        if self.several:
            said.append(f"{some_of(self.several)}: of several meters one counts, with a counter "
                        "before one that samples, then by name: "
                        + ", ".join(f"'{each}'" for each in sorted(set().union(
                            *self.several.values()))))
        if self.by_gpus:
            said.append(f"{some_of(self.by_gpus)}: without a meter of the node, its GPUs stand "
                        "for it while they have one")
        if self.impossible:
            said.append(f"{some_of(self.impossible)}: {sum(self.impossible.values())} readings "
                        "that no hardware could draw, or around a reset, are gaps")
        if self.unsure:
            said.append(f"{some_of(self.unsure)}: at {rules.highest_w:g} W, which nodes may draw, "
                        f"a counter with a range of {rules.range_j:g} J goes round more than once "
                        "between two readings; these are gaps. --highest-w W says what nodes draw "
                        "at most")
        if self.suspect_j:
            said.append(suspects_said(self.suspect_j, self.suspects))
        if self.blind_gpus:
            said.append(f"which GPUs {len(self.blind_gpus)} jobs held is not told; for each they "
                        "have the mean of the node's GPUs that no job names, and what is left of "
                        "these is unattributed")
        if self.without_memory:
            said.append(f"{len(self.without_memory)} jobs do not say which memory they hold "
                        "(`AllocTRES`), and have no part of the idle power of nodes that they "
                        "share with others who do")
        if self.undivided:
            said.append(f"{some_of(self.undivided)}: kept and not divided; parts of nodes that are "
                        "no GPUs (written like n01/gpu0) are in what the node draws")
        if self.suspended:
            said.append(f"{self.suspended} jobs were suspended for a time; when is not told, and "
                        "they count as holding their nodes throughout")
        if self.unreadable:
            said.append(f"{self.unreadable} jobs have lists of nodes that cannot be read, and "
                        "nothing is divided among them")
        return tuple(said)
