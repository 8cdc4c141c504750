"""Jobs that could not even run on the empty machine are refused.

sbatch: "Requested node configuration is not available". Where a job names several partitions, it
waits in those that could serve it.
"""

from __future__ import annotations

from wattline.model.kernel import kernel
from wattline.shared_nodes.choosing import choose
from wattline.shared_nodes.fitting import gather
from wattline.shared_nodes.state import Books

NO_NODE = 1


@kernel
def refuse_what_never_fits(st: Books) -> None:
    for node in range(st.rules[0].nodes):
        st.mask[node] = True
    for entry in range(len(st.entry)):
        form = st.entry[entry].form
        if st.unfit_since[form] < 0:
            fits = gather(st, entry, 0) and choose(st, st.entry[entry].job)
            st.unfit_since[form] = 1 if fits else 0
        st.entry[entry].fits = st.unfit_since[form]
    for index in range(len(st.unfit_since)):
        st.unfit_since[index] = -1
    for job in range(len(st.ask)):
        first = st.ask[job].first_entry
        fitting = 0
        for entry in range(first, first + st.ask[job].entries):
            fitting += st.entry[entry].fits
        if fitting == 0 and st.ask[job].refused == 0 and st.ask[job].never == 0:
            st.ask[job].refused = NO_NODE
