"""What a meter is of, by its name: a node, a GPU of it (`n01/gpu0`), or something above nodes.

What stands above nodes is written with what it is: `feed:A`, `pdu:12`, `rack:r07`.

>>> [is_above(name) for name in ("feed:A", "n01", "n01/gpu0", "n01:9100")]
[True, False, False, False]
"""

from __future__ import annotations

import re

ABOVE = ("site", "room", "row", "feed", "ups", "pdu", "cdu", "rack", "chassis", "switch", "cooling")


def node_of(entity: str) -> str:
    """The node that an entity is, or is a part of; empty for what stands above nodes."""
    return "" if is_above(entity) else entity.partition("/")[0]


def is_above(entity: str) -> bool:
    """Whether it stands above nodes, by the word before its colon."""
    kind, colon, _ = entity.partition(":")
    return bool(colon) and kind in ABOVE


def without_port(entity: str) -> str:
    """`n01` for `n01:9100`, as monitoring systems name nodes by where they ask them."""
    return entity if is_above(entity) else re.sub(r":[0-9]{2,5}(?=/|$)", "", entity)


def gpu_of(entity: str) -> int | None:
    """Which GPU of its node: 0 for `n01/gpu0`; None for whatever is no GPU."""
    found = re.fullmatch(r"[^/]+/gpu([0-9]{1,4})", entity)
    return int(found[1]) if found and not is_above(entity) else None
