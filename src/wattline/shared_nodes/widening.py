"""Jobs that ask for a range of nodes.

sbatch(1), --nodes: "The job will be allocated as many nodes as possible within the range specified
and without delaying the initiation of the job". With --use-min-nodes it gets the fewest.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.state import Books

WIDENS, TASKS_TOO = 1, 2
"""Of `ask.widens`: with the tasks that it says, or with as many on each node as it says."""


@kernel_part
def ask_for_nodes(st: Books, job: int, nodes: int) -> None:
    """Let the job ask for so many nodes at least."""
    ask = st.ask[job]
    ask.min_nodes = nodes
    if ask.widens == TASKS_TOO or ask.tasks >= ask.tasks_per_node > 0:
        ask.cpus = max(ask.cpus, nodes * max(ask.tasks_per_node, 1) * ask.cpus_per_task)
