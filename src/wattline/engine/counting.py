"""Books whose nodes make no difference, without them: units are counted, which is quicker."""

from __future__ import annotations

from copy import copy
from typing import Any

from wattline.books import Books
from wattline.engine.congestion import NoCongestion
from wattline.engine.world import Nature
from wattline.policies.contract import Composition
from wattline.policies.placement.counted import Counted
from wattline.policies.placement.first_fit import FirstFit
from wattline.policies.traits import regulates

OF_NODES = ("nodes", "node_free", "free_in_block", "node_down", "node_out", "scratch_nodes")


def nodes_are_alike(books: Books, policy: Composition, nature: Nature) -> bool:
    """Whether these books go on under a policy to the same starts whichever nodes jobs get.

    Not where a node that is out of order is still a job's, or nodes are off or on the way there:
    the books know those by their numbers.
    """
    clock = books.state.clock[0]
    return (
        isinstance(policy.placement, FirstFit) and isinstance(nature.network, NoCongestion)
        and not regulates(policy.regulation) and len(books.state.kinds) < 2
        and clock.down_owed == clock.off == clock.changing == 0)


def counting(policy: Composition) -> Composition:
    """The same policy for units that are counted."""
    return policy._replace(placement=Counted())


def without_nodes(books: Books) -> Books:
    """The same books, whose policy counts units."""
    found = sharing(books, **{name: getattr(books.state, name)[:0] for name in OF_NODES})
    found.policy = counting(books.policy)
    return found


def sharing(books: Books, **arrays: Any) -> Books:
    """Books with other arrays of the state; all the rest is that of the given ones."""
    found = copy(books)
    found.state = books.state.with_arrays(**arrays)
    return found
