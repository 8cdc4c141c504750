"""Jobs that are suspended, and go on later.

slurm.conf: PreemptMode=SUSPEND. The job loses its nodes and waits in the queue with what it has
done kept. Its start stays that of its first stretch, as Slurm's does; the time that it ran counts
towards its limit, the time that it was suspended does not, and costs no joules. It goes on when the
nodes that it is given are up.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.arriving import back_into_queue, write_gap
from wattline.shared_nodes.starting import stop_job
from wattline.shared_nodes.state import Books


@kernel_part
def suspend_job(st: Books, job: int) -> None:
    """A running job leaves its nodes, to go on where it stopped."""
    clock = st.clock[0]
    live = st.live[job]
    if clock.gaps >= len(st.gap):  # as for timers
        clock.overfull = 1
        return
    stop_job(st, job)
    live.left_s = max(live.left_s - max(clock.now_s - live.ready_s, 0.0), 0.0)
    live.held_s += clock.now_s - live.stretch_s
    live.gap = clock.gaps
    write_gap(st, job, 0)
    back_into_queue(st, job)
