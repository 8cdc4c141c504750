"""Jobs that gave nodes back while they ran: `sacct` has a record of each size.

In Slurm 22.05 all have the start of the first; in 24.11 each has its own, which is when the one
before it ended. What is submitted then is not the job: of later sizes that time is nobody's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from wattline.account.measured.holdings import hosts_of
from wattline.account.measured.records import Life, LifeKey, Stay

RESIZING = "RESIZING"


def as_one_life(lives: Iterable[Life]) -> list[Life]:
    """Records of one source in their order, those of later sizes with the start of the first."""
    found = list(lives)
    resized = {(each.key.cluster, each.key.label) for each in found if each.state == RESIZING}
    places = [at for at, each in enumerate(found)
              if (each.key.cluster, each.key.label) in resized]
    went_on: dict[tuple[str, str, float], LifeKey] = {}
    """By when a record of a size that holds no more ended."""
    for at in sorted(places, key=lambda at: (found[at].key.start_s, _until_s(found[at]))):
        life = found[at]
        cluster, label, start_s = life.key.cluster, life.key.label, life.key.start_s
        first = went_on.get((cluster, label, life.submit_s))
        if first is not None and start_s in (first.start_s, life.submit_s):
            life = found[at] = replace(life, key=first, submit_s=math.nan)
        if life.state == RESIZING and not math.isnan(life.seen_s):
            went_on[cluster, label, life.seen_s] = life.key
    return found


def given_back(lives: Iterable[Life]) -> tuple[Stay, ...]:
    """Of records of one source: the nodes that a later record of a life has no more, and when.

    Each record of a size that holds no more says until when it did. Nodes that a job got later are
    its own from its start: no record of a job that grew was seen.
    """
    records: dict[LifeKey, list[Life]] = {}
    for life in lives:
        records.setdefault(life.key, []).append(life)
    return tuple(stay for key, each in records.items() if len(each) > 1
                 for stay in _left(key, sorted(each, key=_until_s)))


def _left(key: LifeKey, sizes: list[Life]) -> list[Stay]:
    found = []
    for at, size in enumerate(sizes[:-1]):
        later = frozenset[str]().union(*(hosts_of(each.node_list) for each in sizes[at + 1:]))
        if size.state == RESIZING and later:
            found += [Stay(key, node, told_s=size.seen_s)
                      for node in sorted(hosts_of(size.node_list) - later)]
    return found


def _until_s(life: Life) -> float:
    """Until when a record holds; the last one may have no end."""
    until_s = life.seen_s if math.isnan(life.end_s) else life.end_s
    return math.inf if math.isnan(until_s) else until_s
