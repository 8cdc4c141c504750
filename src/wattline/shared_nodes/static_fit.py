"""Jobs that could not even run on the empty machine are refused.

sbatch: "Requested node configuration is not available". Where a job names several partitions, it
waits in those that could serve it. So is one that a limit allows too few nodes.
"""

from __future__ import annotations

from wattline.model.kernel import kernel
from wattline.shared_nodes.choosing import choose
from wattline.shared_nodes.fitting import gather
from wattline.shared_nodes.offers import offers_now
from wattline.shared_nodes.state import Books

NO_NODE = 1


@kernel
def refuse_what_never_fits(st: Books) -> None:
    for node in range(st.rules[0].nodes):
        st.mask[node] = True
    for entry in range(len(st.entry)):
        form = st.entry[entry].form
        if st.late_cycle[form] < 0:
            fits = offers_now(st, entry) and gather(st, entry) and choose(st, st.entry[entry].job)
            st.late_cycle[form] = 1 if fits else 0
        st.entry[entry].fits = st.late_cycle[form]
    for index in range(len(st.late_cycle)):
        st.late_cycle[index] = -1
    for job in range(len(st.ask)):
        first = st.ask[job].first_entry
        fitting = 0
        capped_by = 0
        for entry in range(first, first + st.ask[job].entries):
            fitting += st.entry[entry].fits
            capped_by = max(capped_by, st.entry[entry].capped_by)
        if fitting == 0 and st.ask[job].refused == 0 and st.ask[job].never == 0:
            # With more nodes it might; Slurm tries it on the empty machine with these, and refuses.
            st.ask[job].refused = capped_by if capped_by != 0 else NO_NODE
