"""What a scheduler knows of the configurations that jobs may run in, laid out for kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from wattline.model.cap_slack import CAP_SLACK
from wattline.model.errors import InputError
from wattline.model.jobs import IntArray, JobTable
from wattline.model.kernel import kernel
from wattline.model.machine import MOST_NODES
from wattline.model.signal import FloatArray
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.dimensions import CLASSIC, is_cap, kind_of, label
from wattline.physics.measurements import find_application
from wattline.physics.pareto import Flags, build_index, fastest_within, join
from wattline.policies.memory import Find, Memory
from wattline.policies.state import State

NONE = -1
NODES_MIN, NODES_MAX = "nodes_min", "nodes_max"
"""Figures of a job that asks for a range of nodes; without them any configuration will do."""
_FELT = 0.98


class Offers(Memory):
    """Rows are configurations of all applications together; `code` says whose a job's are.

    The first six arrays are a Pareto index. A ladder is, for each application, one configuration
    a node count, in the order of nodes: what a policy uses that does not choose cores and caps.
    """

    FIELDS = (
        "first_level", "level_nodes", "first_point", "power_w", "time_s", "row",
        "first_row", "row_nodes", "row_time_s", "row_power_w", "row_up", "row_binds",
        "first_rung", "rung_row", "set_names", "row_set", "row_cap_w", "code", "weight",
        "held_w", "least", "most",
    )
    PER_JOB: ClassVar[Mapping[str, str]] = {"code": "i8", "weight": "f8", "held_w": "f8",
                                            "least": "i8", "most": "i8"}
    first_level: Any
    level_nodes: Any
    first_point: Any
    power_w: Any
    time_s: Any
    row: Any
    first_row: Any
    row_nodes: Any
    row_time_s: Any
    row_power_w: Any
    row_up: Any
    """The row with the same nodes and cores at the next higher cap that is faster, or -1."""
    row_binds: Any
    """1 where the cap is felt: a higher one (below the highest) lets the job draw more."""
    first_rung: Any
    rung_row: Any
    set_names: Any
    """The names of all settings of the tables, as the codes of one text."""
    row_set: Any
    """Row by row what each of them is; not a number where a table does not have it."""
    row_cap_w: Any
    """Of a socket, where there is such a cap."""
    code: Any
    """For each job its application among the tables."""
    weight: Any
    """For each job the weight of its share of the power."""
    held_w: Any
    """For each job the watts that it holds, or will, beside those of its configuration."""
    least: Any
    most: Any
    """For each job how many nodes it may be given, where it asked for a range."""

    def row_settings(self, row: int) -> dict[str, Any]:
        """What a configuration asks the machine for."""
        names = "".join(map(chr, self.set_names)).split()
        values = self.row_set[row * len(names):(row + 1) * len(names)]
        return {name: int(value) if kind_of(name) == "count" else float(value)
                for name, value in zip(names, values, strict=True) if np.isfinite(value)}


def make_offers(
    jobs: JobTable,
    tables: Mapping[str, ConfigurationTable],
    *,
    asked: Mapping[str, float] | None = None,
    weights: Mapping[str, float] | None = None,
    placeable: Mapping[str, Flags] | None = None,
    refuse_unknown: bool = True,
    logged: Mapping[str, Any] | None = None,
) -> Offers:
    """The configurations of these jobs' applications; without jobs, as where they are yet to
    come, of all applications that have a table.

    `asked` are settings that make the ladder; those left out are the most or the highest of each
    table.
    `weights` are those of a job's share of the power, by the name of its queue; 1 where none is.
    `placeable` says which configurations of an application may be given at all; left out, all.
    Without `refuse_unknown` a job whose application has no table runs as it was requested.
    `logged` are further columns of the jobs: the range of nodes that each may have.
    """
    names = tables_used(jobs, tables)[0] if len(jobs) else list(tables)
    find: dict[str, Find] = {"code": partial(_codes, names, tables, refuse_unknown),
                             "weight": partial(_weights, weights or {}),
                             "least": partial(_bound, NODES_MIN, 0),
                             "most": partial(_bound, NODES_MAX, MOST_NODES)}
    chosen = [tables[name] for name in names]
    given = [(placeable or {}).get(name, np.ones(len(tables[name]), dtype=np.bool_))
             for name in names]
    index, joined = build_index(chosen, given), join(chosen)
    ladders = (_rungs(table, asked or {}) for table in chosen)
    rungs = [ladder[may[ladder]] for ladder, may in zip(ladders, given, strict=True)]
    sizes = np.array([0, *(len(one) for one in rungs)])
    ups = [_next_up(table) for table in chosen]
    offset = joined.first_row
    arrays: dict[str, Any] = {
        **index._asdict(),
        "first_row": joined.first_row, "row_nodes": joined.nodes, "row_time_s": joined.time_s,
        "row_power_w": joined.power_w,
        "row_up": np.concatenate([np.where(up >= 0, up + offset[i], NONE)
                                  for i, up in enumerate(ups)]),
        "row_binds": np.concatenate([_binds(table) for table in chosen]),
        "first_rung": np.cumsum(sizes),
        "rung_row": np.concatenate([one + offset[i] for i, one in enumerate(rungs)]),
        "set_names": np.array([ord(letter) for letter in " ".join(_names(chosen))]),
        "row_set": np.concatenate([_column(chosen, name) for name in _names(chosen)]
                                  ).reshape(len(_names(chosen)), -1).T.ravel(),
        "row_cap_w": _column(chosen, "cap_w"),
        **{column: way(jobs, logged or {}) for column, way in find.items()},
        "held_w": np.zeros(len(jobs)),
    }
    # Kernels are compiled for one kind of array: writable, contiguous, 64 bits wide.
    return Offers(find, **{
        name: np.array(values, dtype=np.float64 if values.dtype.kind == "f" else np.int64)
        for name, values in arrays.items()
    })


def _codes(
    names: list[str], tables: Mapping[str, ConfigurationTable], refuse_unknown: bool,
    jobs: JobTable, logged: Any,
) -> IntArray:
    """For each job the place of its application's table among those in use."""
    used, code, unknown = _tables_by_job(jobs, tables)
    for name in used:
        if name not in names:
            raise InputError(f"the scheduler has no table of configurations for '{name}'")
    if unknown and refuse_unknown:
        raise next(iter(unknown.values()))
    places = np.array([names.index(name) for name in used], dtype=np.int64)
    return np.where(code == NONE, NONE, places[code]) if used else code


def _weights(by_queue: Mapping[str, float], jobs: JobTable, logged: Any) -> FloatArray:
    found = np.array([by_queue.get(jobs.name_of("queue", int(code)), 1.0) for code in jobs.queue],
                     dtype=np.float64)
    if not np.all(np.isfinite(found) & (found > 0)):
        raise InputError("every job needs a priority weight greater than 0")
    return found


def _bound(figure: str, usual: int, jobs: JobTable, logged: Any) -> IntArray:
    """One end of the ranges of nodes that jobs ask for."""
    said = np.asarray(logged.get(figure, np.full(len(jobs), np.nan)), dtype=np.float64)
    return np.where(np.isnan(said), usual, said).astype(np.int64)


@kernel
def fastest_for(offers: Any, job: int, units: int, power_w: float) -> int:
    """Row of the job's fastest configuration of at most these units and watts, or -1."""
    code = offers.code[job]
    row = fastest_within(offers, code, min(units, offers.most[job]), power_w)
    if row < 0 or offers.row_nodes[row] >= offers.least[job]:
        return int(row)
    found = -1  # a smaller one is faster, and the job asked for more nodes
    for other in range(offers.first_row[code], offers.first_row[code + 1]):
        nodes = offers.row_nodes[other]
        if (offers.least[job] <= nodes <= min(units, offers.most[job])
                and offers.row_power_w[other] <= power_w
                and (found < 0 or offers.row_time_s[other] < offers.row_time_s[found])):
            found = other
    return found


@kernel
def thriftiest_for(offers: Any, job: int, units: int, power_w: float) -> int:
    """Row of the job's configuration of at most these units and watts that draws least, or -1."""
    code = offers.code[job]
    found = -1
    for point in range(offers.first_point[offers.first_level[code]],
                       offers.first_point[offers.first_level[code + 1]]):
        row = offers.row[point]  # rows of the index alone may be given
        if (offers.least[job] <= offers.row_nodes[row] <= min(units, offers.most[job])
                and offers.row_power_w[row] <= power_w
                and (found < 0 or offers.row_power_w[row] < offers.row_power_w[found])):
            found = row
    return int(found)


@kernel
def job_bound_w(st: State, offers: Any, job: int, cap_w: float) -> float:
    """The fair share of a bound: weight x requested nodes / nodes of the machine x bound."""
    return float(offers.weight[job] * st.jobs[job].units / st.clock[0].units * cap_w)


@kernel
def beside_idle_w(st: State, cap_w: float) -> float:
    """Watts that one job can have when nothing else runs and its units idle beside the others."""
    return float(cap_w - st.clock[0].units * st.clock[0].idle_w)


@kernel
def most_possible_w(st: State, cap_w: float) -> float:
    """The same with the slack of the cap, to compare powers with."""
    return float(beside_idle_w(st, cap_w) * (1.0 + CAP_SLACK))


@kernel
def adopt(st: State, offers: Any, position: int, row: int) -> None:
    """Put a queue entry into a configuration.

    Its deadline is the requested time, or the configuration's own where that is longer, so that
    no job is killed for a choice that it did not make.
    """
    entry = st.queue[position]
    live = st.live[entry.job]
    time_s = offers.row_time_s[row]
    requested_s = max(st.jobs[entry.job].requested_s, time_s)
    entry.units = offers.row_nodes[row]
    entry.requested_s = requested_s
    live.units = offers.row_nodes[row]
    live.requested_s = requested_s
    live.watts = offers.row_power_w[row]
    live.own_watts = 1
    live.config = row + 1
    st.clock[0].leaders = 0  # what the order said of its key holds no more


@kernel
def is_settled(st: State, job: int) -> bool:
    """A job that has run already (and was paused) keeps its configuration."""
    return bool(st.live[job].start_s == st.live[job].start_s)


def tables_used(
    jobs: JobTable, tables: Mapping[str, ConfigurationTable]
) -> tuple[list[str], IntArray]:
    """List the tables needed, and the one that each job uses; -1: its application has none.

    Where no job's has one, that is a mistake.
    """
    used, code, unknown = _tables_by_job(jobs, tables)
    if unknown and not used:
        raise next(iter(unknown.values()))
    return used, code


def _tables_by_job(
    jobs: JobTable, tables: Mapping[str, ConfigurationTable]
) -> tuple[list[str], IntArray, dict[int, InputError]]:
    """The same, and why applications have none."""
    names: list[str] = []
    code = np.full(len(jobs), NONE, dtype=np.int64)
    unknown: dict[int, InputError] = {}
    for application in np.unique(jobs.application).tolist():
        own = jobs.application == application
        if application < 0:
            row = int(np.flatnonzero(own)[0])
            unknown[application] = InputError(
                f"job {jobs.job_id[row]} names no application; a policy that chooses "
                "configurations needs one for every job")
            continue
        try:
            name = find_application(tables, jobs.name_of("application", application))[0].application
        except InputError as error:
            unknown[application] = error
            continue
        if name not in names:
            names.append(name)
        code[own] = names.index(name)
    return names, code, unknown


def _names(tables: Sequence[ConfigurationTable]) -> list[str]:
    """All settings that one of the tables has."""
    return list(dict.fromkeys(name for table in tables for name in table.names))


def _column(tables: Sequence[ConfigurationTable], name: str) -> FloatArray:
    """A setting of all rows; not a number where a table does not have it."""
    return np.concatenate([table.settings.get(name, np.full(len(table), np.nan))
                           for table in tables])


def _rungs(table: ConfigurationTable, asked: Mapping[str, float]) -> IntArray:
    """One row per node count: all of a node at the highest caps, or what was asked for instead."""
    wanted = table.extreme(packed=True, fast=True)
    for name in asked:
        if name not in wanted:
            raise InputError(f"'{table.application}' has no setting '{name}'; it has "
                             f"{', '.join(wanted)}")
    wanted |= asked
    rows = np.flatnonzero(table.set_like(wanted))
    if not rows.size:
        there = " and ".join(f"{name} {_listed(values)}" for name, values in table.settings.items())
        named = label(0, wanted).partition(" ")[2].rstrip(")")
        if table.names == CLASSIC:
            named = f"{wanted['cores']:g} cores and a cap of {wanted['cap_w']:g} W"
            there = f"cores {_listed(table.cores)} and caps {_listed(table.cap_w)}"
        raise InputError(f"'{table.application}' has no configuration with {named}; it has {there}")
    ordered: IntArray = rows[np.argsort(table.nodes[rows])]
    return ordered


def _next_up(table: ConfigurationTable) -> IntArray:
    """For each row the nearest that differs in higher caps alone and is faster."""
    up = np.full(len(table), NONE, dtype=np.int64)
    levels = [np.unique(values, return_inverse=True)[1].ravel()
              for values in _caps(table).values()]
    for same in _alike(table):
        steps = np.stack([np.zeros(len(same), np.int64), *(level[same] for level in levels)],
                         axis=1)
        height, time_s = steps.sum(axis=1), table.time_s[same]
        # Row by row, which of the others are above it and faster.
        better = (np.all(steps[None, :] >= steps[:, None], axis=2)
                  & (height[None, :] > height[:, None]) & (time_s[None, :] < time_s[:, None]))
        nearest = np.where(better, height[None, :], np.iinfo(np.int64).max).argmin(axis=1)
        up[same] = np.where(better.any(axis=1), same[nearest], NONE)
    return up


def _binds(table: ConfigurationTable) -> IntArray:
    """Whether the most that this many nodes and cores draw under a cap is clearly more."""
    binds = np.zeros(len(table), dtype=np.int64)
    capped = np.zeros(len(table), dtype=bool)
    for values in _caps(table).values():
        capped |= values < values.max()
    for alike in _alike(table):
        same = alike[capped[alike]]
        if same.size:
            binds[same] = table.power_w[same] < _FELT * table.power_w[same].max()
    return binds


def _caps(table: ConfigurationTable) -> dict[str, FloatArray]:
    return {name: values for name, values in table.settings.items() if is_cap(name)}


def _alike(table: ConfigurationTable) -> list[IntArray]:
    """Rows that differ in nothing but caps, in the order of the table."""
    others = [values for name, values in table.settings.items() if not is_cap(name)]
    keys = np.stack([table.nodes, *others], axis=1).astype(np.float64)
    group = np.unique(keys, axis=0, return_inverse=True)[1].ravel()
    return [np.flatnonzero(group == code) for code in range(int(group.max()) + 1)]


def _listed(values: Any) -> str:
    return ", ".join(f"{value:g}" for value in np.unique(values))
