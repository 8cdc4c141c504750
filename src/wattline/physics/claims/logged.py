"""A log beside claims: its time and watts hold on the class that a job ran on, ratios elsewhere.

Whole nodes and shared nodes take the same rule, and say it in the same words.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from wattline.physics.claims.claim import Claim

AS_LOGGED = "time and watts of the class that it ran on by the log are the log's, where that has " \
    "them; on others the ratio of the claims is taken"
AS_CLAIMED = "the log does not say on which class it ran, or nothing is claimed of its setting " \
    "there: time and watts are those claimed"
ENDS_AS_LOGGED = "it failed, or ran into its limit, and the log does not say on which class, or " \
    "nothing is claimed of its setting there: it runs as long on every class"


def as_it_ran(
    best_first: Iterable[Claim], node_class: str, threads: Container[str]
) -> Claim | None:
    """The claim of a job as it ran by its log: on this class, without a cap of its own.

    Of several the one with its own `threads` counts, else the best. None where nothing is claimed.
    """
    there = [claim for claim in best_first
             if claim.node_class == node_class and not claim.setting.capped]
    there.sort(key=lambda claim: claim.setting.threads not in threads)
    return there[0] if there else None
