"""What a meter is of, by its name: a node, a GPU of it (`n01/gpu0`), or something above nodes.

What stands above nodes is written with what it is: `feed:A`, `pdu:12`, `rack:r07`.
"""

from __future__ import annotations

import re


def node_of(entity: str) -> str:
    """The node that an entity is, or is a part of; empty for what stands above nodes."""
    return "" if is_above(entity) else entity.partition("/")[0]


def is_above(entity: str) -> bool:
    return ":" in entity.partition("/")[0]


def gpu_of(entity: str) -> int | None:
    """Which GPU of its node: 0 for `n01/gpu0`; None for whatever is no GPU."""
    found = re.fullmatch(r"[^/]+/gpu([0-9]{1,4})", entity)
    return int(found[1]) if found and not is_above(entity) else None
