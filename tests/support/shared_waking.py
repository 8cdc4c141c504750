"""The loop of shared nodes with every pass and every cycle of its intervals, and rules to cross."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support.shared_busy import RULES, busy_columns
from wattline.shared_nodes import loop
from wattline.shared_nodes.arriving import become_eligible
from wattline.shared_nodes.rules import Priority, Rules
from wattline.shared_nodes.waking import something_changed

ADDED = 2
COMPARED = ("start_s", "end_s", "state", "reason", "energy_j", "allocation_node")
CHOICES: dict[str, tuple[Any, ...]] = {
    "bf_max_job_start": (0, 1, 2), "bf_max_job_user": (0, 1, 3), "bf_max_job_part": (0, 2),
    "bf_max_job_assoc": (0, 2), "bf_max_job_test": (2, 5, 500), "default_queue_depth": (1, 3, 100),
    "partition_job_depth": (0, 1, 4), "bf_interval_s": (7.0, 30.0, 400.0),
    "sched_interval_s": (13.0, 60.0, 3000.0), "bf_window_s": (600.0, 1800.0, 86400.0),
    "bf_min_age_reserve_s": (0.0, 0.0, 900.0), "bf_try_s": (0.0, 0.25), "prompt_ends": (0.0, 0.4),
    "kill_late_s": (0.0, 15.0), "over_time_limit_s": (0.0, 240.0),
}


def drawn_rules(seed: int) -> Rules:
    """Rules of a kind with any of the limits that cut passes and cycles short."""
    draw = np.random.default_rng(seed)
    chosen = {name: values[int(draw.integers(len(values)))] for name, values in CHOICES.items()}
    rules = replace(RULES[int(draw.integers(len(RULES)))], **chosen)
    if draw.random() < 0.3:
        rules = replace(rules, bf_min_prio_reserve=300, priority=Priority(
            "multifactor", age=1000, max_age_s=3600.0))
    return rules


def schedule(seed: int) -> dict[str, list[Any]]:
    """A job that only a time lets in asks for a look like any other here: Slurm sees it at the next
    look that comes, so that every look that is added might start it earlier."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "may_begin", become_eligible)
        found = busy_columns(seed, bool(seed % 2), drawn_rules(seed))
    return {name: found[name] for name in COMPARED}


def schedule_waking_always(seed: int) -> dict[str, list[Any]]:
    """The same if no pass and no cycle is left out while a job waits."""
    plain_decide: Any = loop._decide
    plain_renew: Any = loop.renew_priorities
    asked_by_priorities: list[bool] = []

    def renew(st: Any) -> bool:
        """Priorities are renewed just before the pass of the same instant, and may ask for it."""
        is_moved = bool(plain_renew(st))
        asked_by_priorities.append(is_moved or st.rules[0].bf_min_prio_reserve > 0)
        return is_moved

    def decide(st: Any) -> None:
        clock = st.clock[0]
        last_pass_s = clock.last_pass_s
        is_added = _now_is_added(clock)
        asked_by_priorities.clear()
        plain_decide(st)
        # A pass that is left out does not hold back the next that is asked for.
        if is_added and not any(asked_by_priorities):
            clock.last_pass_s = last_pass_s
        if clock.queued > 0 and _something_comes(st):
            is_changed = clock.changed
            something_changed(st)
            clock.changed = is_changed or ADDED

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "_decide", decide)
        patch.setattr(loop, "renew_priorities", renew)
        return schedule(seed)


def _now_is_added(clock: Any) -> bool:
    """Return whether the only pass of this instant is one that nothing but this module asked
    for."""
    return bool(clock.full_s <= clock.now_s < clock.pass_s and clock.changed == ADDED)


def _something_comes(st: Any) -> bool:
    """Return whether anything but passes and cycles is ahead; without it the simulation would not
    end."""
    clock = st.clock[0]
    return bool(clock.timers > 0 or clock.next_submit < len(st.ask)
                or clock.next_outage < len(st.out_start) or clock.next_return < len(st.back_s)
                or clock.next_cap < len(st.cap_s) or clock.next_resv < len(st.resv_s))
