"""What `scontrol show node` says that each node draws, as text (`-o` or not) or as JSON.

A dump has one reading per node: its counter of joules since slurmd began, and its watts. The text
does not say when it was taken, so that has to be told; the JSON says it per node.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from wattline.account.measured.names import clean
from wattline.account.measured.records import Found, Kind, Series
from wattline.model.errors import InputError
from wattline.model.local_time import zone_of
from wattline.site.moments import moment
from wattline.site.sacct_json import plain, within
from wattline.site.slurm_energy import joules

METER = "slurm"
NO_SENSOR = "nodes without a reading of energy"


def read_scontrol(
    data: bytes, source: str, *, cluster: str = "", zone: str = "", at: str = ""
) -> Found:
    """Two series per node, of one reading each; `at` is the time of a text."""
    text = data.decode("utf-8", "replace").lstrip("\ufeff")
    mended: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    found: list[Series] = []
    as_json = text.lstrip().startswith("{")
    taken_s = math.nan if as_json and not at else _taken_s(at, zone, source)
    for name, energy_j, watts, told_s in _json_nodes(text, source) if as_json else _nodes(text):
        time_s = told_s if math.isnan(taken_s) else taken_s
        if (math.isnan(energy_j) and math.isnan(watts)) or math.isnan(time_s):
            skipped[NO_SENSOR] += 1
            continue
        entity = clean(name, mended)
        found += [Series(cluster, entity, kind, np.array([time_s]), np.array([value]), METER)
                  for kind, value in ((Kind.JOULES, energy_j), (Kind.WATTS, watts))
                  if not math.isnan(value)]
    return Found(source, series=tuple(found), skipped=dict(+skipped), mended=dict(+mended))


def _taken_s(at: str, zone: str, source: str) -> float:
    if not at:
        raise InputError(f"{source}: `scontrol show node` does not say when it was asked; say so "
                         "with --at 2026-10-01T12:00:00")
    try:
        told = moment(at, zone_of(zone).info)
    except ValueError:
        told = None
    if told is None:
        raise InputError(f"--at: '{at}' is no time; write it like 2026-10-01T12:00:00")
    return told.choices[0]


def _nodes(text: str) -> Iterator[tuple[str, float, float, float]]:
    for record in re.split(r"(?m)^(?=NodeName=)", text):
        cells = dict(re.findall(r"(?:^|\s)(NodeName|CurrentWatts|ConsumedJoules)=(\S*)", record))
        if "NodeName" in cells:
            yield (cells["NodeName"], *_figures(cells.get("ConsumedJoules"),
                                                cells.get("CurrentWatts")), math.nan)


def _json_nodes(text: str, source: str) -> Iterator[tuple[str, float, float, float]]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source}: is not JSON, or is cut off ({error})") from None
    nodes = content.get("nodes") if isinstance(content, dict) else None
    for node in nodes if isinstance(nodes, list) else []:
        energy = within(node, "energy")
        told = plain(within(energy, "last_collected"))
        yield (str(plain(within(node, "name")) or ""),
               *_figures(plain(within(energy, "consumed_energy")),
                         plain(within(energy, "current_watts"))),
               float(told) if isinstance(told, (int, float)) and told > 0 else math.nan)


def _figures(energy: Any, watts: Any) -> tuple[float, float]:
    """Joules and watts; NaN for `n/s` and for what Slurm writes where it has no sensor."""
    found = []
    for cell in (energy, watts):
        try:
            found.append(joules(cell) if cell not in ("n/s", "n/a") else math.nan)
        except ValueError:
            found.append(math.nan)
    return found[0], found[1]
