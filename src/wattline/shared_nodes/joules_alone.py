"""Jobs that no period of an energy budget has the joules for are refused, or held.

A job is put on the empty machine, where the site's rules would put it, and lasts as long as it may:
what it adds there is held against an idle machine at the beginning of each slot. Where it names
several partitions, it waits in those where it has room. Nodes that are too dear for it are passed
over then and later: see affordable.py.
"""

from __future__ import annotations

from wattline.model.kernel import kernel, kernel_part
from wattline.physics.budget_terms import KEEP
from wattline.shared_nodes.affordable import may_be_too_dear
from wattline.shared_nodes.in_partition import ask_as_in_partition
from wattline.shared_nodes.joule_book import gives_j, no_period_has_room
from wattline.shared_nodes.joules import longest_s
from wattline.shared_nodes.offers import offers_now
from wattline.shared_nodes.power import picked_watts
from wattline.shared_nodes.state import Books
from wattline.shared_nodes.within_bounds import NOW, place_within

NO_JOULES = 24
"""Row of REASONS in outcome.py."""
NOWHERE, ANYWHERE, SOMEWHERE = range(3)
"""On which of its nodes a period has the joules for a job."""


@kernel
def turn_away_without_joules(st: Books, hold: bool) -> None:
    for node in range(st.rules[0].nodes):
        st.mask[node] = True
    for entry in range(len(st.entry)):
        row = st.entry[entry]
        if row.fits == 0:
            continue
        ask_as_in_partition(st, entry)
        if st.hint_cycle[row.ask] < 0:
            st.hint_cycle[row.ask] = _room_alone(st, entry)
            st.hint_s[row.ask] = st.alone_w[entry]
        st.alone_w[entry] = st.hint_s[row.ask]
        st.alone_s[entry] = longest_s(st, row.job)
        row.dear = 1 if st.hint_cycle[row.ask] == SOMEWHERE else 0
        if st.hint_cycle[row.ask] == NOWHERE:
            row.fits = 0
    for index in range(len(st.hint_cycle)):
        st.hint_cycle[index] = -1
        st.hint_s[index] = 0.0
    for job in range(len(st.ask)):
        first = st.ask[job].first_entry
        fitting = 0
        for entry in range(first, first + st.ask[job].entries):
            fitting += st.entry[entry].fits
        if fitting == 0 and st.ask[job].refused == 0 and st.ask[job].never == 0:
            if hold:
                st.ask[job].never = NO_JOULES
            else:
                st.ask[job].refused = NO_JOULES
    if st.book[0].unspent == KEEP:
        _wait_for_savings(st)


@kernel_part
def _room_alone(st: Books, entry: int) -> int:
    """On which nodes a period has the joules for a job that is alone; its watts are written down.
    """
    row = st.entry[entry]
    now_s = st.clock[0].now_s
    st.alone_w[entry] = 0.0
    if offers_now(st, entry) and place_within(st, entry, NOW, now_s, 0, 0):
        st.alone_w[entry] = picked_watts(st, row.job, 0)
    lacks = no_period_has_room(st, st.alone_w[entry], longest_s(st, row.job))
    if not may_be_too_dear(st, entry):
        return NOWHERE if lacks else ANYWHERE
    if lacks:
        dearest_w = st.alone_w[entry]
        st.alone_w[entry] = -1.0  # whatever it draws is looked at
        row.dear = 1
        if not place_within(st, entry, NOW, now_s, 0, 0):
            st.alone_w[entry] = dearest_w
            return NOWHERE
        st.alone_w[entry] = picked_watts(st, row.job, 0)
    return SOMEWHERE


@kernel_part
def _wait_for_savings(st: Books) -> None:
    """Slots are waited for until enough is saved up for any job on the idle machine."""
    most_j = 0.0
    for entry in range(len(st.entry)):
        if st.entry[entry].fits != 0:
            most_j = max(most_j, st.alone_w[entry] * st.alone_s[entry])
    if most_j > 0.0:
        st.book[0].patience_s += most_j / gives_j(st) * st.book[0].length_s
