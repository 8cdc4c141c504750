"""Jobs that the simulation will turn away for what they ask: known before it is run."""

from __future__ import annotations

import numpy as np

from wattline.scenario.twin.asked import Counter
from wattline.scenario.twin.site import Site
from wattline.shared_nodes.filled import Filled, fill
from wattline.shared_nodes.machine import BoolArray, IntArray
from wattline.shared_nodes.outcome import REASONS


def foreseen(site: Site) -> tuple[str, ...]:
    """By reason, in the words of the simulation; jobs that are known to be unfit are left out."""
    requests, said = site.made.requests, Counter()
    found = fill(site.machine, requests, site.rules)
    known = np.zeros(len(found.never), dtype=np.int64) if requests.refused is None \
        else requests.refused
    waits = (found.never > 0) & (found.refused == 0)
    for row in np.flatnonzero((known == 0) & ((found.refused > 0) | waits)).tolist():
        what = "waits for ever" if waits[row] else "refused at its submission"
        reason = REASONS[int(found.never[row] if waits[row] else found.refused[row])]
        said.note(f"{what}: {reason}", requests.job_ids[row])
    rest = (known == 0) & (found.refused == 0) & (found.never == 0)
    most = _most_cpus(site, found, rest)
    for row in np.flatnonzero(rest & (found.sizes["cpus"] > most)).tolist():
        nodes = int(found.sizes["max_nodes"][row])
        said.note(f"more CPUs than {nodes:,} node{'' if nodes == 1 else 's'} of its partitions can "
                  f"have ({int(found.sizes['cpus'][row]):,}, the most is {int(most[row]):,})",
                  requests.job_ids[row])
    return said.lines()


def _most_cpus(site: Site, found: Filled, rows: BoolArray) -> IntArray:
    """CPUs of the largest nodes that each of these jobs may have, as many as it may have."""
    nodes, partitions = site.machine.nodes, site.machine.partitions
    totals: dict[bytes, IntArray] = {}
    most = np.zeros(len(rows), dtype=np.int64)
    for row in np.flatnonzero(rows).tolist():
        key = found.allowed[row].tobytes()
        if key not in totals:
            inside = partitions.nodes[found.allowed[row]].any(axis=0)
            totals[key] = np.cumsum(np.sort(nodes.cpus[inside])[::-1])
        several = totals[key]
        most[row] = several[min(int(found.sizes["max_nodes"][row]), len(several)) - 1] \
            if len(several) else 0
    return most
