"""Do jobs that choose among classes of node keep to one? By what they held, from results alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wattline.shared_nodes.class_options import of_chosen
from wattline.shared_nodes.machine import FloatArray
from wattline.shared_nodes.outcome import Schedule
from wattline.shared_nodes.requests import Requests


def needed_s(requests: Requests, found: Schedule) -> FloatArray:
    """What each job needs at least; of one that was suspended the least on any of its classes."""
    options = requests.options
    if options is None:
        return requests.run_s
    least_s = requests.run_s.copy()
    job = np.repeat(np.arange(len(least_s)), np.diff(options.first))
    np.minimum.at(least_s, job, options.run_s)
    return np.where(found.suspended_s > 0.0, least_s,
                    of_chosen(requests.run_s, options.run_s, found.option))


def of_one_class(requests: Requests, found: Schedule) -> Iterator[str]:
    """All nodes of a job are of the class of the option that it ran by, which is one of its own."""
    options = requests.options
    if options is None:
        return
    rows = np.flatnonzero(found.option[found.allocation_job] >= 0)
    job, node = found.allocation_job[rows], found.allocation_node[rows]
    other = options.class_of_node[node] != options.kind[found.option[job]]
    foreign = (found.option >= 0) & ~((found.option >= options.first[:-1])
                                      & (found.option < options.first[1:]))
    for bad, said in ((job[other], "has a node of another class than it chose"),
                      (np.flatnonzero(foreign), "ran by an option of another job")):
        if bad.size:
            yield f"job in row {bad[0]} {said}"
