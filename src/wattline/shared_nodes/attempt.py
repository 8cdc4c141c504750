"""One job is tried on the nodes of `mask`, as they are now."""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.joules import charge_start
from wattline.shared_nodes.limits import may_have, may_run, may_run_there
from wattline.shared_nodes.offers import offers_now
from wattline.shared_nodes.starting import picked_tres, start_job
from wattline.shared_nodes.state import BUSY, OVER_LIMIT, STARTED, Books
from wattline.shared_nodes.waking import others_are_next
from wattline.shared_nodes.within_bounds import NOW, place_within, power_allows


@kernel_part
def attempt(st: Books, entry: int) -> int:
    """Start the job if it can: what came of it."""
    if not offers_now(st, entry) or not place_within(
            st, entry, NOW, st.clock[0].now_s, 0, 0):
        return BUSY
    if not power_allows(st, st.entry[entry].job, st.clock[0].now_s, 0, 0.0, 0):
        return BUSY
    return start_picked(st, entry)


@kernel_part
def start_picked(st: Books, entry: int) -> int:
    """Start the job on the nodes of `pick`, which power allows, if limits let it."""
    picked_tres(st, entry)
    if st.rules[0].enforce_limits != 0 and not may_have(st, entry):
        return OVER_LIMIT  # other nodes may be less
    if st.rules[0].enforce_limits != 0 and not may_run(st, entry):
        others_are_next(st)  # its limits stop it before it is tried again
        return OVER_LIMIT
    if st.rules[0].enforce_limits != 0 and not may_run_there(st, entry):
        return OVER_LIMIT  # on other nodes it might
    start_job(st, entry)
    if st.rules[0].budgeted != 0:
        charge_start(st, st.entry[entry].job)
    return STARTED


@kernel_part
def licences_free(st: Books, job: int) -> bool:
    """slurm.conf: Licenses; sbatch: --licenses."""
    count = st.rules[0].licences
    for licence in range(count):
        if st.need_licence[job * count + licence] > st.licence_free[licence]:
            return False
    return True


@kernel_part
def array_has_room(st: Books, job: int) -> bool:
    """sbatch: --array with %N, how many of an array run at once."""
    array = st.ask[job].array
    limit = st.ask[job].array_limit
    return bool(array < 0 or limit < 0 or st.array_running[array] < limit)


@kernel_part
def array_may_hold(st: Books, job: int) -> bool:
    """Whether backfill looks at further tasks of the array (bf_max_job_array_resv, and %N).

    Those behind ask for the same as the ones that it holds nodes for, which could not start.
    """
    array = st.ask[job].array
    if array < 0 or st.array_cycle[array] != st.clock[0].backfills:
        return True
    limit = st.ask[job].array_limit
    return bool(st.array_held[array] < st.rules[0].bf_max_array_resv and (
        limit < 0 or st.array_held[array] + st.array_running[array] < limit))


@kernel_part
def count_held_task(st: Books, job: int) -> None:
    """Backfill holds nodes for a task of an array."""
    array = st.ask[job].array
    if array >= 0:
        if st.array_cycle[array] != st.clock[0].backfills:
            st.array_cycle[array] = st.clock[0].backfills
            st.array_held[array] = 0
        st.array_held[array] += 1
