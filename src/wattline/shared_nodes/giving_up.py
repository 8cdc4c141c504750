"""The end of a simulation in which some jobs wait for what will not happen: what that is."""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.attempt import licences_free
from wattline.shared_nodes.by_class import place_by_class
from wattline.shared_nodes.joule_book import no_period_has_room
from wattline.shared_nodes.joules import joules_allow, longest_s
from wattline.shared_nodes.limits import may_have, may_run, may_run_there
from wattline.shared_nodes.offers import offers_now
from wattline.shared_nodes.outcome import NEVER
from wattline.shared_nodes.power import picked_watts
from wattline.shared_nodes.reserving import close_nodes, open_nodes
from wattline.shared_nodes.starting import picked_tres
from wattline.shared_nodes.state import BLOCKED, QUEUED, STARTED, TO_COME, UP, Books
from wattline.shared_nodes.within_bounds import NOW, OVER_PART, place_within

OVER_JOB_LIMIT, OTHER, NO_LICENCES, OVER_CAP, OVER_GROUP_LIMIT, NO_FREE_NODES = 8, 9, 14, 15, 16, 17
NO_JOULES_THERE = 25
"""Rows of REASONS in outcome.py."""


@kernel_part
def give_up(st: Books) -> None:
    """Nothing will happen any more: what still waits, waits for ever."""
    for node in range(st.rules[0].nodes):
        st.mask[node] = st.node_state[node] == UP
    for job in range(len(st.live)):
        live = st.live[job]
        if live.phase in (BLOCKED, QUEUED, TO_COME):
            if live.phase == QUEUED and live.reason == 0:
                live.reason = _what_is_missing(st, job)
            live.state = NEVER


@kernel_part
def _what_is_missing(st: Books, job: int) -> int:
    """Why a job of the queue does not start; in several partitions what comes last of these."""
    if st.ask[job].any_licence != 0 and not licences_free(st, job):
        return NO_LICENCES
    reason = OTHER
    first = st.ask[job].first_entry
    for entry in range(first, first + st.ask[job].entries):
        if st.rules[0].enforce_limits != 0 and not may_run(st, entry):
            reason = max(reason, OVER_GROUP_LIMIT)
        elif not _has_nodes(st, entry):
            if _has_dear_nodes(st, entry):
                return NO_JOULES_THERE
            reason = max(reason, NO_FREE_NODES)
        elif st.rules[0].enforce_limits != 0 and not _may_have_picked(st, entry):
            return OVER_JOB_LIMIT
        elif st.rules[0].enforce_limits != 0 and not may_run_there(st, entry):
            reason = max(reason, OVER_GROUP_LIMIT)
        elif st.rules[0].bounded != 0 and not place_within(
                st, entry, NOW, st.clock[0].now_s, 0, 0):
            return OVER_PART
        elif st.rules[0].budgeted != 0 and _lacks_joules(st, st.entry[entry].job):
            _note_joules(st, entry)
            return NO_JOULES_THERE
        elif st.rules[0].capped != 0:
            return OVER_CAP
    return reason


@kernel_part
def _lacks_joules(st: Books, job: int) -> bool:
    """Whether it is joules that a job waits for on the nodes that were picked.

    Beside a cap only where no period has them: what happens to be left of this one comes again.
    """
    if joules_allow(st, job, 0.0, 0):
        return False
    return st.rules[0].capped == 0 or bool(
        no_period_has_room(st, picked_watts(st, job, 0), longest_s(st, job)))


@kernel_part
def _has_nodes(st: Books, entry: int) -> bool:
    """Whether the nodes that are up, and reserved for nobody else, are enough as they are now."""
    if len(st.resv) > 0:
        close_nodes(st, entry)
    found = offers_now(st, entry) and place_by_class(st, entry, NOW, 0)
    if len(st.resv) > 0:
        open_nodes(st, entry, STARTED)
    return bool(found)


@kernel_part
def _has_dear_nodes(st: Books, entry: int) -> bool:
    """Whether there are nodes for the job that no period has the joules for."""
    if st.entry[entry].dear == 0:
        return False
    st.entry[entry].dear = 0
    found = _has_nodes(st, entry)
    if found:
        _note_joules(st, entry)
    return found


@kernel_part
def _note_joules(st: Books, entry: int) -> None:
    """Write down what the job would need on the nodes that were picked."""
    job = st.entry[entry].job
    first = st.ask[job].first_entry
    for other in range(first, first + st.ask[job].entries):
        st.alone_w[other] = picked_watts(st, job, 0)
        st.alone_s[other] = longest_s(st, job)


@kernel_part
def _may_have_picked(st: Books, entry: int) -> bool:
    picked_tres(st, entry)
    return may_have(st, entry)
