"""Nodes of one class for a job that knows which it likes best: that one first, then the next.

Within a class nodes are chosen as ever; those of all others are shut meanwhile. All nodes of such
a job are of one class, so that it is known how long it takes there and what it draws. Where a cap
leaves a class no room any more, the job no longer waits for it: see options_left.py.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.affordable import place_affordable
from wattline.shared_nodes.placing import place_on_any
from wattline.shared_nodes.state import Books


@kernel_part
def place_by_class(st: Books, entry: int, ended: int, bank: int) -> bool:
    """Choose nodes: now (`ended` below 0), after the ends of running jobs, or in the copy."""
    ask = st.ask[st.entry[entry].job]
    option = ask.first_option
    last = option + ask.options
    if option == last:
        if st.rules[0].budgeted != 0:
            return place_affordable(st, entry, ended, bank)
        return place_on_any(st, entry, ended, bank)
    now_s = st.clock[0].now_s
    found = False
    while option < last and not found:
        if st.option_after_s[option] < now_s <= st.option_until_s[option]:
            found = place_on_class(st, entry, option, ended, bank)
        option += 1
    return found


@kernel_part
def place_on_class(st: Books, entry: int, option: int, ended: int, bank: int) -> bool:
    """The same on nodes of the class of one option alone, of which the job then draws its watts."""
    clock = st.clock[0]
    ask = st.ask[st.entry[entry].job]
    ask.option = option
    ask.node_w = st.option_w[option]
    masked = clock.masked
    shut = _shut_others(st, entry, st.option_kind[option])
    if ended >= 0:
        _list_open(st)
    found = place_on_any(st, entry, ended, bank)
    for index in range(shut):
        st.mask[st.shut_nodes[index]] = True
    if ended >= 0:
        for index in range(masked):
            st.open_nodes[index] = st.were_open[index]
        clock.masked = masked
    return found


@kernel_part
def _shut_others(st: Books, entry: int, kind: int) -> int:
    """Take nodes of other classes out of `mask`; how many."""
    row = st.entry[entry]
    shut = 0
    for place in range(st.class_first[row.nodes], st.class_first[row.nodes + 1]):
        node = st.class_nodes[place]
        if st.mask[node] and st.kind_of_node[node] != kind:
            st.mask[node] = False
            st.shut_nodes[shut] = node
            shut += 1
    return shut


@kernel_part
def _list_open(st: Books) -> None:
    """Keep the list of open nodes, and leave only those of `mask` in it."""
    clock = st.clock[0]
    count = 0
    for index in range(clock.masked):
        node = st.open_nodes[index]
        st.were_open[index] = node
        if st.mask[node]:
            st.open_nodes[count] = node
            count += 1
    clock.masked = count


@kernel_part
def run_as_chosen(st: Books, job: int) -> None:
    """Let a job that starts, or goes on, take as long as it does on the class that it got."""
    live = st.live[job]
    option = st.ask[job].option
    if live.gap < 0:
        live.left_s = st.option_s[option]
    elif st.option_s[live.option] > 0.0:  # of its work the same part is left; of none, none
        live.left_s *= st.option_s[option] / st.option_s[live.option]
    live.option = option
