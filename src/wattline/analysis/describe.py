"""A run in words, for someone who was not there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np

from wattline.analysis.budget import budget_lines
from wattline.analysis.scenario_fields import fields
from wattline.analysis.summary import energy_text, lookup, number_text, power_text, time_text
from wattline.model.run import LOST, Run
from wattline.model.signal import Signal
from wattline.model.states import STOPPED
from wattline.model.units import counted

_LAST_DATE_S = 253_402_300_800.0
"""The end of the year 9999, after which Python has no dates."""


def unix_start_s(run: Run) -> float | None:
    """The Unix time of the log's second 0, where the log has a date."""
    trace = run.scenario.get("trace")
    value = trace.get("unix_start_s") if isinstance(trace, Mapping) else None
    dated = isinstance(value, (int, float)) and 0 < value < value + run.end_s < _LAST_DATE_S
    return float(value) if dated and value is not None else None


def date_text(unix_s: float) -> str:
    return datetime.fromtimestamp(unix_s, UTC).strftime("%Y-%m-%d")


def sentences(run: Run, figures: Mapping[str, Any]) -> list[str]:
    """The workload, the machine, the rules and what came of it."""
    said = (f"{line[:1].upper()}{line[1:].rstrip('.')}." for line in run.remarks)
    # A budget that was not kept is a result and a remark: it is said once.
    return list(dict.fromkeys((_workload(run), *_machine(run), *_policy(run), _cap(run),
                               *_result(run, figures), *said)))


def _workload(run: Run) -> str:
    count = len(run.jobs)
    if not count:
        return "The log has no jobs."
    first_s, last_s = float(run.jobs.submit_s[0]), float(run.jobs.submit_s[-1])
    text = f"{counted(count, 'job')}, submitted over {time_text(last_s - first_s)}"
    origin_s = unix_start_s(run)
    if origin_s is not None:
        text += f" ({date_text(origin_s + first_s)} to {date_text(origin_s + last_s)})"
    users = np.unique(run.jobs.user[run.jobs.user >= 0]).size
    return text + (f" by {counted(users, 'user')}." if users else ".")


def _machine(run: Run) -> Iterator[str]:
    groups = [
        f"{group.count:,} {group.node_class.name if group.node_class.name != 'node' else ''} nodes "
        f"of {power_text(group.node_class.power_w_idle)} idle and "
        f"{power_text(group.node_class.power_w_active)} active each"
        for group in run.machine.groups
    ]
    by_core = run.units != run.machine.node_count
    counted = f", shared out by the core ({run.units:,} cores)" if by_core else ""
    text = " ".join(" and ".join(groups).split())
    yield (f"The machine has {text}{counted}: {power_text(run.machine.power_w_idle)} when idle, "
           f"{power_text(run.machine.power_w_max)} when all of it is active{_own_powers(run)}.")


def _own_powers(run: Run) -> str:
    """Why the machine may draw more than its nodes are said to."""
    own = int(np.count_nonzero(~np.isnan(run.jobs.power_w)))
    if not own:
        return ""
    who = "all jobs have" if own == len(run.jobs) else f"{own:,} of the jobs have"
    return f" at that power; {who} powers of their own, which may be higher or lower"


def _beyond_nodes(run: Run) -> str:
    """A peak above what the nodes are said to draw looks like a mistake until it is explained."""
    own = bool(np.any(~np.isnan(run.jobs.power_w)))
    if not own or run.power_w_peak <= run.machine.power_w_max:
        return ""
    return (f" (above the {power_text(run.machine.power_w_max)} of all nodes active, because jobs "
            "have powers of their own)")


def _policy(run: Run) -> Iterator[str]:
    policy = run.scenario.get("policy")
    if isinstance(policy, Mapping) and policy:
        parts = [f"{path.replace('_', ' ')} {value}" for path, value in fields(policy)]
        yield f"The rules: {', '.join(parts)}."


def _cap(run: Run) -> str:
    if run.cap_w is None:
        return "There is no power cap."
    inside = _during(run.cap_w, run.start_s, run.end_s)
    low, high = float(inside.min()), float(inside.max())
    what, kept = "The power cap", ""
    if run.watched:
        what, kept = "The power cap that is watched", "; it is measured against and not kept"
    if low == high:
        return f"{what} is {power_text(low)} all the time{kept}."
    top = power_text(high) if np.isfinite(high) else "no limit"
    return (f"{what} changes {inside.size - 1:,} times, between {power_text(low)} "
            f"and {top}{kept}.")


def _during(cap_w: Signal, start_s: float, end_s: float) -> Any:
    inner = (cap_w.time_s > start_s) & (cap_w.time_s < end_s)
    return np.concatenate(([cap_w.at(start_s)], cap_w.value[inner]))


def as_sentence(line: str) -> str:
    """With a capital, unless it begins with the name of a field."""
    return line if "." in line.partition(" ")[0] else f"{line[:1].upper()}{line[1:]}"


def _half_waited(wait_s: float) -> str:
    return (f"Half of them waited for at most {time_text(wait_s)}" if wait_s
            else "Half of them did not wait")


def _result(run: Run, figures: Mapping[str, Any]) -> Iterator[str]:
    counts = figures["jobs"]
    ran = counts["total"] - counts["not_run"]
    text = "All jobs ran" if not counts["not_run"] else (
        f"{counted(ran, 'job')} ran, {counts['not_run']:,} never did")
    if counts["killed"]:
        text += f"; {counts['killed']:,} were killed at their requested time"
    for lost in LOST:
        if counts.get(lost.name.lower()):
            text += f"; {counts[lost.name.lower()]:,} were lost ({STOPPED[lost]})"
    if ran:
        text += (f". {_half_waited(lookup(figures, 'wait_s.p50'))}, "
                 f"and on average they waited {time_text(lookup(figures, 'wait_s.mean'))}")
    yield text + "."
    share = lookup(figures, "utilisation")
    if ran:
        yield (f"{number_text(round(100 * share, 1))} % of the machine was in use over "
               f"{time_text(figures['makespan_s'])}; it took {energy_text(run.energy_j)}, "
               f"{power_text(lookup(figures, 'power_w.mean'))} on average and "
               f"{power_text(run.power_w_peak)} at its peak{_beyond_nodes(run)}.")
    if run.cap_w is not None:
        power = "The power of running jobs" if run.cap_counts == "jobs" else "Power"
        yield (f"{power} was above the cap for {time_text(run.time_above_cap_s)} "
               f"({energy_text(run.energy_above_cap_j)} in excess of it)."
               if run.time_above_cap_s else f"{power} never rose above the cap.")
    for line in budget_lines(run):
        yield f"{as_sentence(line)}."
