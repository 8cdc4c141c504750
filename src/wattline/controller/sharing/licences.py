"""Watts of CPUs and devices as licences, with idle power set aside.

A job's licences are what it adds to its nodes. What nodes draw without jobs is drawn whoever is on
them, and is no job's to take: so many licences less there are.
"""

from __future__ import annotations

from collections.abc import Iterable

from wattline.controller.elsewhere import part_here
from wattline.controller.sharing.parts import SharedParts
from wattline.live.slurm.reading import ACTIVE, ENDING, STARTING, WATTS, SlurmJob


def allowed_above_w(
    parts: SharedParts, jobs: Iterable[SlurmJob], cap_w: float, drawn_w: float
) -> float:
    """How many licences jobs may hold together: all of the cap but what no licence stands for.

    That is idle power, and what runs without licences or draws more than its own. What jobs leave
    of their licences stays theirs, and so do those for nodes that are not among these. `drawn_w` is
    what the machine draws by the books.
    """
    running = [job for job in jobs if job.node_list and job.state in (*ACTIVE, *STARTING, *ENDING)]
    held_w = sum(job.licenses.get(WATTS, 0) for job in running)
    here_w = sum(part.licenses.get(WATTS, 0) for job in running
                 if (part := part_here(job, parts.nodes)).node_list)
    return cap_w - max(drawn_w - here_w, parts.idle_w) + held_w - here_w
