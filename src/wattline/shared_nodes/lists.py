"""Lists, tables and scratch that kernels fill, as they are before anything happened."""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.model.signal import Signal
from wattline.shared_nodes.devices import gpus_of_nodes
from wattline.shared_nodes.machine import IntArray, SharedMachine
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.state_times import Gap, Stay, Timer

LOG_ROWS = 1024
MOVES = 4096
"""Jobs that came or went, of those last, from which offers are brought up to date."""
MOST_SOONEST = 16
"""Nodes that a job of more nodes waits for before it is planned in detail."""
MOST_STEPS = 64
"""Ends of running jobs by which a plan that is kept was found."""
MOST_OFFERS = 2_000_000
"""Forms of requests x nodes for which offers are kept, at most: 33 bytes each."""


def working_lists(
    machine: SharedMachine, rules: Rules, entries: int, ask: Any, any_outage: bool
) -> dict[str, Any]:
    """Lists and scratch."""
    may_lose = rules.preempt != "none" or any_outage
    nodes, jobs = len(machine.nodes.names), len(ask)
    rows = int(ask["rows"].sum())
    spans = max(64, 4 * nodes + int(rules.bf_max_job_test) * 8)
    if machine.reservations is not None:
        spans += int(machine.reservations.nodes.sum())
    ints = {name: np.zeros(nodes + 1, np.int64) for name in (
        "avail", "near", "kept_node", "open_nodes", "chosen", "pick", "pick_cpus", "set_start",
        "set_end", "set_cpus", "set_nodes", "set_weight", "set_most")}
    kinds = len(machine.nodes.gres_kinds)
    stays = 4 * int(machine.nodes.cpus.sum()) if may_lose else 0
    return ints | {
        "used": np.zeros(kinds, np.int64),
        "with_cpus": np.zeros(int(machine.nodes.cpus.max(initial=0)) + 1, np.int64),
        "mask": np.zeros(nodes, bool), "mask_before": np.zeros(nodes, bool),
        "shut": np.zeros(nodes, bool),
        "queue": np.zeros(entries + 1, np.int64),
        "queue_scratch": np.zeros(entries + 1, np.int64),
        # Places before the first one and behind the last, see running.py.
        "running": np.zeros(2 * jobs + 3, np.int64), "running_end": np.zeros(2 * jobs + 3),
        "running_node": np.zeros(2 * jobs + 3, np.int64),
        # A job is told of when it starts and when it is cancelled.
        "victims": np.zeros(jobs + 1, np.int64), "told": np.zeros(2 * jobs + 1, np.int64),
        "ended_s": np.zeros(jobs + 1),
        "failed": np.zeros(len(machine.partitions.names), np.int64),
        "tried": np.zeros(len(machine.partitions.names), np.int64),
        "gap": Gap.table(4 * (jobs + 1) if may_lose else 0),  # see loop.py
        "stay": Stay.table(stays), "stay_gres": np.zeros(stays * kinds, np.int64),
        "timers": Timer.table((4 if rules.suspend_time_s >= 0.0 else 2)  # see loop.py
                              * (jobs + nodes + int(ask["waits"].sum())) + LOG_ROWS),
        "held_nodes": np.zeros(nodes, np.int64),
        "span_head": np.full(nodes, -1), "span_begin": np.zeros(spans),
        "span_end": np.zeros(spans), "span_next": np.full(spans, -1),
        "soonest": np.zeros(MOST_SOONEST), "step": np.zeros(MOST_STEPS, np.int64),
        "held_begin": np.zeros(spans), "held_end": np.zeros(spans), "held_w": np.zeros(spans),
        "held_sum": np.zeros(spans),
        "over_s": np.zeros(jobs + 1), "over_w": np.zeros(jobs + 1),
        "ended_w": np.zeros(jobs + 1),
        "row_node": np.zeros(rows, np.int64), "row_cpus": np.zeros(rows, np.int64),
        "row_memory": np.zeros(rows, np.int64), "row_gres": np.zeros(rows * kinds, np.int64),
        "row_next": np.full(rows, -1), "row_end": np.zeros(rows),
        "row_job": np.repeat(np.arange(jobs), ask["rows"]), "node_first": np.full(nodes, -1),
        "log_s": np.zeros(LOG_ROWS), "log_w": np.zeros(LOG_ROWS),
        "log_busy": np.zeros(LOG_ROWS, np.int64),
    }


def weight_ranks(machine: SharedMachine, rules: Rules) -> int:
    """How many weights nodes can have: where some may sleep, these share one above all others."""
    return len(np.unique(machine.nodes.weight)) + int(rules.suspend_time_s >= 0.0)


def device_lists(
    machine: SharedMachine, ranks: int, choices: int, any_by_devices: bool
) -> dict[str, Any]:
    """Scratch of choices by devices; empty where no job has such a one."""
    nodes = len(machine.nodes.names)
    size = nodes if any_by_devices else 0
    if any_by_devices:
        ranks *= 2 * (int(gpus_of_nodes(machine).max(initial=0)) + 1)
    return {
        "has": np.zeros(size * choices, np.int64), "near_gpus": np.zeros(size, np.int64),
        "near_rank": np.zeros(size, np.int64), "got": np.zeros(choices, np.int64),
        "pick_devices": np.zeros(size * choices, np.int64),
        "rank_nodes": np.zeros(ranks, np.int64), "rank_cpus": np.zeros(ranks, np.int64),
    }


def empty_offers(
    weight: IntArray, entry: Any, first: IntArray, class_nodes: IntArray
) -> dict[str, Any]:
    """Tables of what nodes could give to each form of request; where these are many, they share."""
    nodes = len(weight)
    has = np.zeros((len(first) - 1, nodes), bool)
    has[np.repeat(np.arange(len(first) - 1), np.diff(first)), class_nodes] = True
    forms = int(entry["form"].max(initial=0)) + 1
    slots = max(1, min(forms, MOST_OFFERS // max(nodes, 1)))
    joins = np.zeros(len(class_nodes), bool)
    joins[1:] = (np.diff(class_nodes) == 1) & (np.diff(weight[class_nodes]) == 0)
    return {
        "class_joins": joins, "class_has": has.ravel(), "moved_node": np.zeros(MOVES, np.int64),
        "slot_form": np.full(slots, -1), "slot_offers": np.full(slots, -1),
        "slot_readys": np.full(slots, -1), "slot_able": np.zeros(slots, np.int64),
        "offer": np.zeros(slots * nodes, np.int32), "ready": np.zeros(slots * nodes),
        "is_ready_known": np.zeros(slots * nodes, bool),
        "after_from": np.zeros(slots * nodes), "after_to": np.zeros(slots * nodes),
        "after_cpus": np.zeros(slots * nodes, np.int32),
    }


def empty_room(cap: Signal | None, jobs: int, entries: int, spans: int) -> dict[str, Any]:
    """Steps of the watts that the cap leaves: see room.py. Without a cap there are none."""
    steps = 0 if cap is None else 2 * (jobs + spans) + len(cap.time_s) + 3
    requests = 0 if cap is None else entries + 1
    return {
        "room_s": np.zeros(steps), "room_w": np.zeros(steps),
        "room_cycle": np.full(requests, -1), "room_from_s": np.zeros(requests),
        "room_over_s": np.zeros(requests),
        "room_seen": np.full(requests, -1),
    }
