"""What a scenario is compared with, where nothing else is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WITHOUT_CAP = "the same jobs, machine and policies without a cap"
USUAL = "the same jobs and machine without a cap under FCFS with EASY backfilling"
GIVEN = "as given"


def baseline_of(fields: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """The fields of the baseline, and what it is in words.

    Without a cap nothing keeps one and no configuration is chosen for it. A scenario that has no
    cap changes the other policies, so that those are the usual ones in its baseline.
    """
    found = {name: value for name, value in fields.items() if name != "name"}
    policy = dict(found.get("policy") or {})
    power = {name: value for name, value in (found.get("power") or {}).items()
             if name not in ("cap", "watch_cap", "cap_counts")}
    changed = [name for name in ("power", "configure", "regulation") if name in policy]
    capped = "cap" in (found.get("power") or {}) or changed
    for name in changed:
        del policy[name]
    if not capped:
        for name in ("order", "backfill"):
            policy.pop(name, None)
    found["policy"], found["power"] = policy, power
    left = {name: value for name, value in found.items() if value != {}}
    return {**left, "name": "baseline"}, WITHOUT_CAP if capped else USUAL
