"""From a machine, requests and rules to the books of an empty machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wattline.model.records import Record
from wattline.model.run import PowerBound
from wattline.model.signal import Signal
from wattline.shared_nodes.association_tables import association_arrays
from wattline.shared_nodes.bound_tables import bound_arrays, even_shares
from wattline.shared_nodes.class_options import (
    least_option_watts,
    option_arrays,
    option_columns,
    option_numbers,
)
from wattline.shared_nodes.dependencies import dependencies_of, wait_arrays, wait_columns
from wattline.shared_nodes.devices import (
    add_asked_devices,
    choose_by_devices,
    device_columns,
    device_needs,
    gpus_of_nodes,
    typed_first,
)
from wattline.shared_nodes.filled import Filled, Pairs, fill, pairs_of
from wattline.shared_nodes.in_partition import COLUMNS, in_partition
from wattline.shared_nodes.joule_budget import JouleBudget, joule_arrays
from wattline.shared_nodes.least_on_node import least_on_node
from wattline.shared_nodes.least_watts import least_watts, same_watts
from wattline.shared_nodes.limit_tables import (
    counting_classes,
    limit_classes,
    member_tables,
)
from wattline.shared_nodes.lists import (
    device_lists,
    empty_offers,
    empty_room,
    weight_ranks,
    working_lists,
)
from wattline.shared_nodes.machine import IntArray, SharedMachine
from wattline.shared_nodes.outages import Outages
from wattline.shared_nodes.priority_factors import basic_priorities, entry_factors, job_factors
from wattline.shared_nodes.requests import Requests
from wattline.shared_nodes.reservations import (
    asked_reservations,
    reservation_arrays,
    reserved_nodes,
)
from wattline.shared_nodes.rules import BACKFILL, FAIR_TREE, MULTIFACTOR, Rules
from wattline.shared_nodes.same_rows import same_rows
from wattline.shared_nodes.sleeping import let_idle_nodes_sleep
from wattline.shared_nodes.state import (
    NEVER_S,
    Ask,
    Books,
    Live,
    PartitionRecord,
)
from wattline.shared_nodes.state_clock import Clock
from wattline.shared_nodes.state_rules import RuleNumbers
from wattline.shared_nodes.state_waiting import Entry


def make_books(
    machine: SharedMachine, requests: Requests, rules: Rules, cap: Signal | None,
    outages: Outages | None, phase_s: float, bounds: Sequence[PowerBound] = (),
    budget: JouleBudget | None = None,
) -> Books:
    requests = typed_first(requests)
    filled = fill(machine, requests, rules)
    needs = device_needs(requests)
    pairs = pairs_of(filled)
    there = in_partition(machine, requests, rules, filled.sizes, pairs.job, pairs.partition)
    job_tres = _asked_tres(machine, requests, filled, needs)
    found, member_class = limit_classes(machine, requests, rules, filled, pairs, there, job_tres)
    node_class, class_first, class_nodes = _node_classes(machine, requests, pairs)
    ask = _asks(machine, requests, rules, filled, pairs, there, job_tres)
    ask["any_gres"] = needs["need"].any(axis=1) | needs["need_task"].any(axis=1)
    exclusive = np.bincount(pairs.job, there["exclusive"], len(ask)) > 0
    counting = np.bincount(pairs.job, counting_classes(found)[member_class], len(ask)) > 0
    ask["by_devices"] = counting | choose_by_devices(machine, requests, ask["rows"], exclusive)
    for name in COLUMNS:
        ask["varies"][pairs.job[ask[name][pairs.job] != there[name]]] = 1
    options = requests.options
    entry = _entries(needs, filled, pairs, node_class, member_class, there,
                     option_numbers(options, pairs.job))
    arrays: dict[str, Any] = {
        "rules": _settings(machine, requests, rules, phase_s, {
            "capped": cap is not None, "bounded": len(bounds), "budgeted": budget is not None,
            "own_users": there["own_user"].any()}),
        "clock": _clock(machine, requests, rules, phase_s, cap),
        "ask": ask, "live": _lives(len(ask)), "entry": entry,
        "part": _parts(machine, requests, rules),
        "class_first": class_first, "class_nodes": class_nodes, "job_tres": job_tres.ravel(),
        "entry_user": np.asarray(ask["user"])[pairs.job],
        "entry_factor": (entry_factors(machine, rules.priority, pairs.partition)
                         if rules.priority.kind == MULTIFACTOR else np.zeros(len(entry))),
        **{name: counts.ravel() for name, counts in needs.items()},
        "choice_kind": _choices(machine, requests), **device_columns(machine, requests),
        "need_licence": requests.licences.astype(np.int64).ravel(),
        "licence_free": machine.licences.astype(np.int64).copy(),
        **_licence_holds(len(entry) if rules.bf_licences else 0),
        "required": requests.node_masks.ravel().copy(),
        "looked": np.zeros(len(entry) + 1, np.int64),
        "entry_key": np.zeros(len(entry)),
        "late_cycle": np.full(len(entry) + 1, -1, np.int64),
        "late_limit_s": np.zeros(len(entry) + 1),
        "never_cycle": np.full(len(entry) + 1, -1, np.int64),
        "never_limit_s": np.zeros(len(entry) + 1),
        "hint_cycle": np.full(len(entry) + 1, -1, np.int64),
        "hint_s": np.zeros(len(entry) + 1),
    }
    if cap is not None or bounds:
        entry["least_w"] = least_watts(machine, filled, pairs, entry, (class_first, class_nodes),
                                       needs, arrays["choice_kind"])
        entry["same_w"] = even_shares(bounds) & same_watts(
            machine, filled, pairs, entry, (class_first, class_nodes), ask["any_gres"] != 0, rules)
        if options is not None:
            entry["least_w"] = least_option_watts(machine, options, pairs.job, entry)
    if bounds:
        entry["node_least_w"] = least_on_node(
            machine.nodes, filled, pairs.job, entry, (class_first, class_nodes),
            (ask["by_devices"] != 0) | (options is not None))
    arrays |= _nodes(machine, rules, len(ask))
    arrays["rules"]["least_idle_w"] = machine.nodes.idle_w[
        ~arrays["node_sleeper"] | (rules.suspend_time_s < 0.0)].sum()
    arrays |= device_lists(machine, weight_ranks(machine, rules), len(requests.gres_choices),
                           bool(ask["by_devices"].any()))
    arrays |= member_tables(machine, found, requests)
    arrays |= association_arrays(machine, rules)
    arrays |= working_lists(machine, rules, len(entry), ask, outages is not None)
    arrays |= empty_offers(machine.nodes.weight, entry, class_first, class_nodes)
    arrays |= wait_arrays(dependencies_of(requests))
    arrays |= reservation_arrays(machine)
    arrays |= option_arrays(machine, options)
    arrays |= _world(outages, cap)
    arrays |= empty_room(cap, len(ask), len(entry), len(arrays["held_w"]))
    arrays |= joule_arrays(budget, len(entry), machine.nodes)
    arrays |= bound_arrays(machine.nodes, bounds, len(arrays["row_node"]), len(arrays["held_w"]),
                           len(entry))
    let_idle_nodes_sleep(arrays["clock"], arrays["timers"], arrays["node_sleeper"],
                         machine.nodes.names, rules)
    return Books(**arrays)


def _licence_holds(count: int) -> dict[str, Any]:
    """A job may be planned in each of its partitions."""
    return {"licence_hold_job": np.zeros(count, np.int64), "licence_hold_begin": np.zeros(count),
            "licence_hold_end": np.zeros(count)}


def _table(kind: type[Record], count: int, columns: dict[str, Any]) -> Any:
    table: Any = kind.table(count)
    for name, values in columns.items():
        table[name] = values
    return table


def _asks(
    machine: SharedMachine, requests: Requests, rules: Rules, filled: Filled, pairs: Pairs,
    there: dict[str, Any], job_tres: IntArray,
) -> Any:
    count = len(requests.submit_s)
    rows = np.zeros(count, np.int64)  # the most nodes in any of its partitions
    there_rows = np.where(there["min_nodes"] > len(machine.nodes.names), 0, there["max_nodes"])
    np.maximum.at(rows, pairs.job, there_rows)
    required = np.zeros(count, np.int64)
    if requests.node_masks.size:
        sizes = requests.node_masks.sum(axis=1)
        required = np.where(requests.required >= 0, sizes[np.maximum(requests.required, 0)], 0)
    columns = {name: column for name, column in filled.columns.items()
               if name not in ("asked_nodes", "capped_by")}
    columns |= {
        "required_nodes": required,
        "any_licence": requests.licences.any(axis=1) if machine.licence_names else 0,
        "first_entry": pairs.first, "entries": pairs.count,
        "first_row": np.cumsum(rows) - rows, "rows": rows,
        "refused": filled.refused, "never": filled.never,
        "factor": (job_factors(machine, rules.priority, filled.columns, job_tres)
                   if rules.priority.kind == MULTIFACTOR
                   else basic_priorities(requests.nice, requests.array)),
    }
    columns |= wait_columns(dependencies_of(requests))
    columns |= option_columns(requests.options)
    columns["reservation"] = asked_reservations(requests)
    return _table(Ask, count, columns)


def _lives(count: int) -> Any:
    never = dict.fromkeys(("start_s", "end_s", "eligible_s", "cancelled_s"), np.nan)
    return _table(Live, count, never | {"entry": -1, "reserved": -1, "gap": -1, "went_on": -1,
                                        "option": -1})


def _entries(
    needs: dict[str, IntArray], filled: Filled, pairs: Pairs, node_class: IntArray,
    member_class: IntArray, there: dict[str, Any], choices: IntArray,
) -> Any:
    job = pairs.job
    numbers = forms = np.zeros(0, np.int64)
    if len(job):
        names = ("limit_s", "tasks", "cpus_per_task", "tasks_per_node", "min_nodes", "max_nodes",
                 "widens", "gpu_cpus", "gpu_memory", "memory_node", "memory_cpu", "whole_memory",
                 "exclusive", "own_user", "required", "load", "node_w")
        columns = [there[name] if name in there else np.asarray(filled.columns[name])[job]
                   for name in names]
        columns += [node_class, pairs.partition, choices]
        columns += [column for counts in needs.values() for column in counts[job].T]
        # What a node offers depends on the user where nodes may be a user's own.
        asker = np.where(there["own_user"].any(), filled.columns["user"][job], -1)
        numbers, _ = same_rows(*columns, asker)
        watts = names.index("load")
        forms, _ = same_rows(*columns[1:watts], *columns[watts + 2:], asker)
    return _table(Entry, len(job), {"job": job, "partition": pairs.partition,
                                    "nodes": node_class, "members": member_class, "ask": numbers,
                                    "form": forms, "fits": 1, **there})


def _asked_tres(
    machine: SharedMachine, requests: Requests, filled: Filled, needs: dict[str, IntArray]
) -> IntArray:
    """CPUs, memory, nodes and devices of each job before nodes are chosen."""
    columns = filled.columns
    tres = np.zeros((len(requests.submit_s), machine.resources), np.int64)
    is_gpu = device_columns(machine, requests)["choice_is_gpu"]
    gpus = needs["own_job"][:, is_gpu].sum(axis=1)
    tres[:, 0] = np.maximum(columns["cpus"], gpus * columns["gpu_cpus"])
    per_cpu = np.maximum(columns["memory_cpu"], 0) * tres[:, 0]
    tres[:, 1] = per_cpu + columns["memory_node"] * columns["min_nodes"] \
        + gpus * columns["gpu_memory"]
    tres[:, 2] = columns["min_nodes"]
    devices = device_columns(machine, requests)
    for choice in range(len(requests.gres_choices)):
        per_node, per_job, per_task = (needs[name][:, choice] for name in (
            "own_node", "own_job", "own_task"))
        add_asked_devices(tres, devices, choice, per_node * columns["min_nodes"] + per_job
                          + per_task * columns["tasks"])
    return tres


def _choices(machine: SharedMachine, requests: Requests) -> Any:
    """Choices x kinds: which devices serve who asks so."""
    found = [bool(name == kind and type_ in ("", of_kind))
             for name, type_ in requests.gres_choices
             for kind, of_kind in machine.nodes.gres_kinds]
    return np.array(found, dtype=bool)


def _node_classes(
    machine: SharedMachine, requests: Requests, pairs: Pairs
) -> tuple[IntArray, IntArray, IntArray]:
    """Entries by candidate nodes, and the nodes of each class."""
    if not len(pairs.job):
        return np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int64)
    features, excluded = requests.features[pairs.job], requests.excluded[pairs.job]
    reserved = asked_reservations(requests)[pairs.job]
    number, rows = same_rows(pairs.partition, features, excluded, reserved)
    nodes = []
    for row in rows:
        fits = machine.partitions.nodes[pairs.partition[row]] & reserved_nodes(
            machine, int(reserved[row]))
        if features[row] >= 0:
            fits &= requests.feature_masks[features[row]]
        if excluded[row] >= 0:
            fits &= ~requests.node_masks[excluded[row]]
        nodes.append(np.flatnonzero(fits))
    first = np.concatenate(([0], np.cumsum([len(found) for found in nodes])))
    return number, first.astype(np.int64), np.concatenate(nodes).astype(np.int64)


def _settings(
    machine: SharedMachine, requests: Requests, rules: Rules, phase_s: float, used: dict[str, Any]
) -> Any:
    """`used` says which of what is not Slurm's, or seldom asked for, there is."""
    priority = rules.priority
    return _table(RuleNumbers, 1, {
        "nodes": len(machine.nodes.names),
        "largest_node": machine.nodes.cpus.max(initial=0), "kinds": len(machine.nodes.gres_kinds),
        "choices": len(requests.gres_choices), "most_gpus": gpus_of_nodes(machine).max(initial=0),
        "ranks": weight_ranks(machine, rules), "resources": machine.resources,
        "licences": len(machine.licence_names), "partitions": len(machine.partitions.names),
        "multifactor": priority.kind == MULTIFACTOR, "backfill": rules.scheduler == BACKFILL,
        "memory_counts": rules.memory_counts, "least_loaded": rules.least_loaded,
        "tree": rules.topology_tree and machine.nodes.switch_parent.size > 0,
        "switches": machine.nodes.switch_parent.size, "depth": rules.default_queue_depth,
        "part_depth": rules.partition_job_depth, "sched_interval_s": rules.sched_interval_s,
        "batch_delay_s": rules.batch_sched_delay_s, "phase_s": phase_s,
        "bf_interval_s": rules.bf_interval_s, "bf_window_s": rules.bf_window_s,
        "bf_resolution_s": max(rules.bf_resolution_s, 1.0), "unix_s": rules.unix_start_s,
        "tick_s": rules.tick_s, "bf_try_s": rules.bf_try_s, "bf_max_time_s": rules.bf_max_time_s,
        "prompt_ends": rules.prompt_ends,
        "bf_max_job_test": rules.bf_max_job_test, "bf_max_job_user": rules.bf_max_job_user,
        "bf_max_job_part": rules.bf_max_job_part, "bf_max_job_assoc": rules.bf_max_job_assoc,
        "bf_max_job_start": rules.bf_max_job_start,
        "bf_max_array_resv": max(rules.bf_max_job_array_resv, 1),
        "bf_min_age_reserve_s": rules.bf_min_age_reserve_s,
        "bf_min_prio_reserve": rules.bf_min_prio_reserve or -(1 << 60),
        "bf_licences": rules.bf_licences, "bf_one_resv": rules.bf_one_resv_per_job,
        "enforce_limits": rules.enforce_limits,
        "kill_late_s": rules.kill_late_s, "over_limit_s": rules.over_time_limit_s,
        "start_latency_s": rules.start_latency_s, "max_job_count": rules.max_job_count,
        "min_job_age_s": rules.min_job_age_s, "requeue_delay_s": rules.requeue_delay_s,
        "preempt": ("none", "qos", "partition").index(rules.preempt),
        "age": priority.age, "fairshare": priority.fairshare, "job_size": priority.job_size,
        "max_age_s": priority.max_age_s, "half_life_s": priority.half_life_s,
        "calc_period_s": priority.calc_period_s,
        "fair_tree": priority.fairshare_rule == FAIR_TREE, "dampening": priority.dampening,
        "by_joules": priority.by_joules,
        "accrue_always": priority.accrue_always, "favor_small": priority.favor_small,
        "size_by_time": priority.small_relative_to_time,
        "suspend_time_s": rules.suspend_time_s,
        "resume_timeout_s": rules.resume_timeout_s,
        "cpus": int(machine.nodes.cpus.sum()), **used,
    })


def _clock(
    machine: SharedMachine, requests: Requests, rules: Rules, phase_s: float, cap: Signal | None
) -> Any:
    first_s = float(requests.submit_s[0]) if len(requests.submit_s) else 0.0
    return _table(Clock, 1, {
        "first_running": len(requests.submit_s) + 1, "now_s": first_s,
        "pass_s": NEVER_S, "full_s": NEVER_S, "last_full_s": -NEVER_S,
        "last_pass_s": -NEVER_S, "backfill_s": NEVER_S, "replan_s": NEVER_S,
        # All loops count from the start of the scheduler, which was `phase_s` or long before.
        "last_backfill_s": _last(first_s, phase_s, rules.bf_interval_s),
        # Steps of the cap up to the first submission change nothing for anybody.
        "next_cap": 0 if cap is None else np.searchsorted(cap.time_s, first_s, side="right"),
        "priority_s": first_s, "last_priority_s": first_s,
        "power_w": float(machine.nodes.idle_w.sum()),
    })


def _last(time_s: float, first_s: float, step_s: float) -> float:
    """The last time of a grid before `time_s`."""
    return float(first_s + (np.ceil((time_s - first_s) / step_s) - 1.0) * step_s)


def _parts(machine: SharedMachine, requests: Requests, rules: Rules) -> Any:
    parts = machine.partitions
    return _table(PartitionRecord, len(parts.names), {
        "tier": parts.tier, "max_cpus_per_node": parts.max_cpus_per_node, "up": parts.up,
        "preempt_mode": parts.preempt_mode, "grace_s": parts.grace_s,
        "nodes": parts.nodes.sum(axis=1),
    })


def _nodes(machine: SharedMachine, rules: Rules, jobs: int) -> dict[str, Any]:
    nodes = machine.nodes
    count = len(nodes.names)
    _, rank = np.unique(nodes.weight, return_inverse=True)
    excluded = np.isin(np.array(nodes.names), np.array(rules.suspend_excluded))
    return {
        "node_cpus": nodes.cpus.astype(np.int64).copy(),
        "node_memory": nodes.memory_mb.astype(np.int64).copy(),
        "node_threads": np.maximum(nodes.threads_per_core, 1).astype(np.int64),
        "node_gres": nodes.gres.astype(np.int64).ravel().copy(),
        "node_weight": rank.astype(np.int64), "own_weight": rank.astype(np.int64),
        "node_leaf": nodes.leaf.astype(np.int64).copy(),
        "node_idle_w": nodes.idle_w.astype(np.float64).copy(),
        "node_cpu_w": nodes.cpu_w.astype(np.float64).copy(),
        "kind_w": np.broadcast_to(nodes.gres_w, nodes.gres.shape).astype(np.float64).ravel(),
        "part_nodes": machine.partitions.nodes.ravel().copy(),
        "part_cpus": np.zeros(len(machine.partitions.names) * count, np.int64),
        "node_state": np.zeros(count, np.int64), "node_power": np.zeros(count, np.int64),
        "node_idle_since": np.full(count, -NEVER_S), "node_sleeper": ~excluded,
        "node_generation": np.zeros(count, np.int64), "node_out": np.zeros(count, np.int64),
        "cpus_free": np.tile(nodes.cpus.astype(np.int64), 2),
        "memory_free": np.tile(nodes.memory_mb.astype(np.int64), 2),
        "gres_free": np.tile(nodes.gres.astype(np.int64).ravel(), 2),
        "jobs_on": np.zeros(2 * count, np.int64), "user_on": np.full(2 * count, -1),
        "own_on": np.zeros(2 * count, np.int64),
        "switch_parent": nodes.switch_parent.astype(np.int64).copy(),
        "switch_nodes": np.zeros(nodes.switch_parent.size + 1, np.int64),
        "switch_used": np.zeros(nodes.switch_parent.size + 1, np.int64),
        "switch_first": np.zeros(nodes.switch_parent.size + 1, np.int64),
    }


def _world(outages: Outages | None, cap: Signal | None) -> dict[str, Any]:
    none = np.zeros(0, np.int64)
    found: dict[str, Any] = {
        "out_node": none, "out_start": np.zeros(0), "out_drain": np.zeros(0, bool),
        "back_node": none.copy(), "back_s": np.zeros(0),
        "cap_s": np.zeros(0), "cap_w": np.zeros(0),
    }
    if outages is not None and len(outages.node):
        order = np.argsort(outages.start_s, kind="stable")
        back = np.argsort(outages.end_s, kind="stable")
        back = back[np.isfinite(outages.end_s[back])]
        found |= {
            "out_node": outages.node[order].astype(np.int64),
            "out_start": outages.start_s[order].astype(np.float64),
            "out_drain": outages.drain[order].astype(bool),
            "back_node": outages.node[back].astype(np.int64),
            "back_s": outages.end_s[back].astype(np.float64),
        }
    if cap is not None:
        found |= {"cap_s": cap.time_s.copy(), "cap_w": cap.value.copy()}
    return found

