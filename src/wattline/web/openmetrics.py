"""The machine in OpenMetrics: names end in their unit, and each has help."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from wattline.web.sources.shape import Now, Source

TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"


@dataclass(frozen=True)
class Metric:
    name: str
    kind: str
    unit: str
    help: str


METRICS: tuple[Metric, ...] = (
    Metric("wattline_power_watts", "gauge", "watts", "Power of the whole machine."),
    Metric("wattline_power_cap_watts", "gauge", "watts",
           "The cap that holds now, reserved watts taken off; absent without a cap."),
    Metric("wattline_power_target_watts", "gauge", "watts",
           "The power that a contract asks for now; absent without one."),
    Metric("wattline_power_idle_watts", "gauge", "watts", "All nodes on and idle."),
    Metric("wattline_power_max_watts", "gauge", "watts", "All nodes active at full speed."),
    Metric("wattline_power_measured", "gauge", "",
           "1 where the power is measured, 0 where it is that of the books."),
    Metric("wattline_part_power_watts", "gauge", "watts",
           "Power of a part of the machine; labels kind (class, rack, feed) and name."),
    Metric("wattline_part_power_cap_watts", "gauge", "watts",
           "What a part may draw; absent where it has no limit."),
    Metric("wattline_energy_joules", "counter", "joules",
           "Energy of the whole machine since the source's start."),
    Metric("wattline_nodes", "gauge", "", "Nodes of the machine."),
    Metric("wattline_nodes_busy", "gauge", "", "Nodes that jobs hold."),
    Metric("wattline_jobs_running", "gauge", "", "Jobs that run."),
    Metric("wattline_jobs_queued", "gauge", "", "Jobs that wait."),
    Metric("wattline_jobs_finished", "counter", "", "Jobs that are over; label state."),
    Metric("wattline_user_energy_joules", "gauge", "joules",
           "Energy of a user's jobs so far; at most 100 users, the greatest."),
    Metric("wattline_account_energy_joules", "gauge", "joules",
           "Energy of an account's jobs so far; at most 100 accounts, the greatest."),
    Metric("wattline_budget_joules", "gauge", "joules",
           "Energy budget of the period that holds now; absent without a budget."),
    Metric("wattline_budget_used_joules", "gauge", "joules", "What that period has used."),
    Metric("wattline_alarms", "gauge", "", "Alarms that hold; label level."),
    Metric("wattline_source_stale_seconds", "gauge", "seconds",
           "How long the source has been silent; 0 where it speaks."),
    Metric("wattline_source_time_seconds", "gauge", "seconds",
           "Seconds since the source's start."),
    Metric("wattline_viewers", "gauge", "", "Open live pages."),
    Metric("wattline_build", "info", "", "Version and source."),
)
OF_THE_MOMENT = frozenset((
    "wattline_power_watts", "wattline_power_cap_watts", "wattline_power_target_watts",
    "wattline_power_measured", "wattline_part_power_watts", "wattline_nodes_busy",
    "wattline_jobs_running", "wattline_jobs_queued"))
"""Metrics without sample while the source is silent: a dead controller is no flat, healthy line."""
MOST = 100
Samples = Iterable[tuple[Mapping[str, str], float | None]]


def exposition(source: Source, viewers: int) -> str:
    """All metrics as text; one without a value now has no sample."""
    now = source.now()
    values = dict(_samples(source, now, viewers))
    if now.stale_s > 0:
        values = {name: found for name, found in values.items() if name not in OF_THE_MOMENT}
    lines = []
    for metric in METRICS:
        lines += [f"# TYPE {metric.name} {metric.kind}"]
        lines += [f"# UNIT {metric.name} {metric.unit}"] if metric.unit else []
        lines += [f"# HELP {metric.name} {_escaped(metric.help)}"]
        suffix = {"counter": "_total", "info": "_info"}.get(metric.kind, "")
        for labels, value in values.get(metric.name, ()):
            if value is not None:
                lines.append(f"{metric.name}{suffix}{_labelled(labels)} {float(value)!r}")
    return "\n".join([*lines, "# EOF\n"])


def _samples(source: Source, now: Now, viewers: int) -> Iterator[tuple[str, Samples]]:
    about = source.about()
    yield from _of_now(now)
    yield "wattline_energy_joules", [({}, source.energy_j())]
    yield "wattline_jobs_finished", [
        ({"state": state}, count) for state, count in sorted(source.finished().items())]
    for by in ("user", "account"):
        rows = source.accounts(by, None).rows[:MOST]
        yield f"wattline_{by}_energy_joules", [({by: row.name}, row.energy_j) for row in rows]
    periods = source.budget().periods
    if periods:
        yield "wattline_budget_joules", [({}, periods[-1].budget_j)]
        yield "wattline_budget_used_joules", [({}, periods[-1].used_j)]
    yield "wattline_viewers", [({}, viewers)]
    yield "wattline_build", [({"version": about.version, "source": about.source.kind,
                               "name": about.source.name}, 1)]


def _of_now(now: Now) -> Iterator[tuple[str, Samples]]:
    yield "wattline_power_watts", [({}, now.power_w)]
    yield "wattline_power_cap_watts", [({}, now.cap_w)]
    yield "wattline_power_target_watts", [({}, now.target_w)]
    yield "wattline_power_idle_watts", [({}, now.idle_w)]
    yield "wattline_power_max_watts", [({}, now.max_w)]
    yield "wattline_power_measured", [({}, int(now.measured))]
    parts = [({"kind": kind, "name": part.name}, part) for kind, found in now.by.items()
             for part in found]
    yield "wattline_part_power_watts", [(labels, part.power_w) for labels, part in parts]
    yield "wattline_part_power_cap_watts", [(labels, part.cap_w) for labels, part in parts]
    yield "wattline_nodes", [({}, now.nodes)]
    yield "wattline_nodes_busy", [({}, now.busy_nodes)]
    yield "wattline_jobs_running", [({}, now.running)]
    yield "wattline_jobs_queued", [({}, now.queued)]
    yield "wattline_alarms", [({"level": level}, sum(each.level == level for each in now.alarms))
                              for level in ("warning", "critical")]
    yield "wattline_source_stale_seconds", [({}, now.stale_s)]
    yield "wattline_source_time_seconds", [({}, now.time_s)]


def _labelled(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
