"""What was decided on shared nodes, decided once more from the pictures that were kept."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from wattline.controller.sharing.deciding import BEFORE, decided
from wattline.controller.sharing.picture import Picture
from wattline.model.units import counted
from wattline.scenario.journals import DecidedBeside, OtherStarts
from wattline.scenario.twin.section import TwinSection


def decided_again(
    file: Path, section: TwinSection, names: Sequence[str], *, after_s: float = -math.inf,
    until_s: float = math.inf,
) -> DecidedBeside:
    """Compare the starts of every picture between two times; the file before it is read too."""
    count = different = unread = 0
    first: OtherStarts | None = None
    for said in _lines(file):
        if said is None:
            unread += 1
            continue
        picture = Picture.of(said["picture"])
        if not after_s < picture.time_s <= until_s:
            continue
        count += len(said["starts"])
        here = [[each.label, list(each.nodes)] for each in decided(section, picture, names).starts]
        if here != said["starts"]:
            different += 1
            first = first or OtherStarts(picture.time_s, _told(said["starts"]), _told(here))
    # A killed writer leaves a part of a line, of a decision that was never acted on.
    remarks = () if not unread else (
        f"{file.name}: {counted(unread, 'line')} cannot be read, as after a kill",)
    return DecidedBeside(count, different, first, remarks)


def _lines(file: Path) -> Iterator[dict[str, Any] | None]:
    """Of the file that was put away, then of this; None for a line that cannot be read."""
    for each in (file.with_suffix(BEFORE), file):
        if each.exists():
            with each.open(encoding="utf-8", errors="replace") as lines:
                yield from map(_read, lines)


def _read(line: str) -> dict[str, Any] | None:
    try:
        said = json.loads(line)
    except ValueError:
        return None
    return said if isinstance(said, dict) and {"picture", "starts"} <= said.keys() else None


def _told(starts: Sequence[Sequence[Any]]) -> tuple[str, ...]:
    return tuple(f"start {label} on {','.join(nodes)}" for label, nodes in starts)
