"""Ids of the jobs of an `.events` file, by which others wait for them.

A job's id is the number at the end of its name (`-J jobid_12` is 12), and where a line gives no
name with one the place of the submission, as Slurm counts from FirstJobId=1. Where two ids are the
same, submissions are counted for all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence


def event_ids(names: Sequence[str]) -> list[str]:
    """The ids of submissions with these names, in the order of the file."""
    found = [own_id(name, place) for place, name in enumerate(names, start=1)]
    if len(set(found)) == len(found):
        return found
    return [str(place) for place in range(1, len(names) + 1)]


def own_id(name: str, place: int) -> str:
    """By its name, or as the so many-th submission."""
    found = re.search(r"([0-9]{1,15})$", name)
    return found[1].lstrip("0") or "0" if found else str(place)
