"""Signs in Slurm's accounting that jobs share nodes or use GPUs, which whole nodes cannot say."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

import numpy as np

from wattline.model.jobs import IntArray
from wattline.model.signal import FloatArray
from wattline.model.units import counted
from wattline.site.cells import Cell, is_missing
from wattline.traces.raw import known

FEW = 0.01
"""Fewer of the jobs than this may be slips of a clock, or of an administrator."""
_CPUS = re.compile(r"(?:^|,)cpu=([0-9]{1,15})(?=,|$)", re.ASCII)
_COUNT = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,3})?)([KMG]?)", re.ASCII)
"""Older versions of sacct shorten numbers: 1K is 1,024."""


def sharing(cells: Mapping[str, Sequence[Cell]], start_s: FloatArray, end_s: FloatArray,
            run_s: FloatArray, gres: Mapping[str, FloatArray], source: str,
            unit: str) -> tuple[str, ...]:
    """Say what a simulation of whole nodes (or of cores) of this log leaves out; empty if nothing.

    `run_s` is without the time for which a job was suspended: another one may have had its node.
    """
    ran = known(run_s) & np.isfinite(start_s)
    devices = np.zeros(len(ran), dtype=np.bool_)
    for name, number in gres.items():
        if name.partition(":")[0].lower() == "gres/gpu":
            devices |= known(number)
    said = []
    shared = _shared(cells, start_s, end_s, ran & (np.abs(end_s - start_s - run_s) <= 1.0)) \
        if unit == "nodes" else ""
    if shared:
        said.append(shared)
    if (ran & devices).any():
        said.append(f"{counted(int((ran & devices).sum()), 'job')} used GPUs")
    if not said:
        return ()
    gives = "whole nodes of one power" if unit == "nodes" else "cores of one power"
    return (f"{source}: {' and '.join(said)}: a simulation of the log gives each job {gives} and "
            "knows no GPU; `wattline twin make --slurm-conf slurm.conf --sacct "
            f"{shlex.quote(source)}` makes a scenario with shared nodes and GPUs",)


def _shared(cells: Mapping[str, Sequence[Cell]], start_s: FloatArray, end_s: FloatArray,
            ran: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> str:
    """Say how many jobs shared nodes, by the nodes of one-node jobs; else by CPUs alone."""
    count = len(ran)
    nodes = _counts(cells, count, "AllocNodes", "NNodes")
    cpus = _counts(cells, count, "AllocCPUS", "NCPUS")
    given = cells.get("AllocTRES", [None] * count)
    for row in np.flatnonzero(np.isnan(cpus)).tolist():
        found = _CPUS.search(str(given[row] or ""))
        cpus[row] = float(found[1]) if found else np.nan
    listed = ["" if is_missing(cell) else str(cell).strip()
              for cell in cells.get("NodeList", [None] * count)]
    named = np.array([bool(text) for text in listed], dtype=np.bool_)
    once = {(str(name), began_s): row for row, (name, began_s) in enumerate(zip(
        cells.get("JobID", range(count)), start_s.tolist(), strict=True))}
    ran = ran & np.isin(np.arange(count), list(once.values()))  # dumps may overlap
    alone = np.flatnonzero(ran & named & (nodes == 1))
    if alone.size:
        names = {text: at for at, text in enumerate(dict.fromkeys(listed))}
        node = np.array([names[listed[row]] for row in alone.tolist()], dtype=np.int64)
        together = _together(node, start_s[alone], end_s[alone])
        part = _of_the_most(node, cpus[alone])
        shares = int((together | part).sum())
        if shares < FEW * int(ran.sum()):
            return ""
        return f"{counted(shares, 'job')} had only a part of a node"
    rows = np.flatnonzero(ran & known(nodes) & known(cpus))
    part = _of_the_most(np.zeros(rows.size, dtype=np.int64), cpus[rows] / nodes[rows])
    if not part.any() or int(part.sum()) < FEW * int(ran.sum()):
        return ""
    return (f"{counted(int(part.sum()), 'job')} had at most half of the CPUs per node of others, "
            "and so a part of a node, unless nodes are of several sizes (NodeList tells)")


def _together(node: IntArray, start_s: FloatArray, end_s: FloatArray,
              ) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Jobs that ran on their node while others did."""
    found = np.zeros(node.size, dtype=np.bool_)
    latest, latest_end_s, its_node = -1, -np.inf, -1
    # By node and start: it ran beside the one before it that ended last, or beside none.
    for row in np.lexsort((start_s, node)).tolist():
        if node[row] != its_node:
            latest, latest_end_s, its_node = -1, -np.inf, int(node[row])
        if start_s[row] < latest_end_s:
            found[row] = found[latest] = True
        if end_s[row] > latest_end_s:
            latest, latest_end_s = row, float(end_s[row])
    return found


def _of_the_most(node: IntArray, cpus: FloatArray,
                 ) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Jobs with at most half of the CPUs that another one had on the same node."""
    most = np.zeros(int(node.max(initial=0)) + 1)
    np.fmax.at(most, node, cpus)
    return np.asarray(2 * cpus <= most[node])


def _counts(cells: Mapping[str, Sequence[Cell]], count: int, *columns: str) -> FloatArray:
    """The first of these columns that has a number, row by row."""
    found = np.full(count, np.nan)
    for column in columns:
        if column in cells:
            for row in np.flatnonzero(np.isnan(found)).tolist():
                cell = _COUNT.fullmatch(str(cells[column][row]).strip())
                if cell is not None:
                    found[row] = float(cell[1]) * (1 << 10 * " KMG".index(cell[2] or " "))
    return found
