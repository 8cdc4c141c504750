"""Jobs that give way to others.

slurm.conf: PreemptType (preempt/qos, preempt/partition_prio), PreemptMode, GraceTime; sacctmgr:
Preempt and PreemptMode of a QOS. Victims are taken in order of priority, lowest first, and among
equals the one that started last. A job that is requeued or cancelled leaves at once or after its
grace; one that is suspended keeps its memory and goes on when there is room.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.state import Books


@kernel_part
def make_room(st: Books, entry: int) -> bool:
    """Let jobs give way, so that this one may be tried again; whether any did."""
    return bool(entry < 0 and st.rules[0].nodes < 0)


@kernel_part
def grace_is_over(st: Books, job: int) -> None:
    """A victim's grace has passed."""
