"""Jobs that gave nodes back while they ran: `sacct` has a record of each size, all of one start."""

from __future__ import annotations

import math
from collections.abc import Iterable

from wattline.account.measured.holdings import hosts_of
from wattline.account.measured.records import Life, LifeKey, Stay


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
        if size.state == "RESIZING" and later:
            found += [Stay(key, node, told_s=size.seen_s)
                      for node in sorted(hosts_of(size.node_list) - later)]
    return found


def _until_s(life: Life) -> float:
    """Until when a record holds; the last one may have no end."""
    until_s = life.seen_s if math.isnan(life.end_s) else life.end_s
    return math.inf if math.isnan(until_s) else until_s
