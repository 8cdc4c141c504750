"""When nodes of a twin are out: by the file of events, and by slurm.conf itself."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import numpy as np

from wattline.model.errors import InputError
from wattline.scenario.twin.against_log import Span
from wattline.scenario.twin.asked import NO_CLOCK, Log
from wattline.scenario.twin.told import Told
from wattline.shared_nodes.outages import Outages
from wattline.site.down import DOWN, DRAINS, SLEEPS, STRANGE, Down, read_down
from wattline.site.slurm_conf import SlurmConf

_EFFECTS = {
    DOWN: "down, whose jobs are lost or requeued",
    DRAINS: "drained, failing, in maintenance, reserved or before a reboot, where what runs may "
            "end",
    SLEEPS: "powered down to save power, which are not out: SuspendTime lets them sleep here"}
DOWN_DRAWS = "nodes that are down or drained draw their idle power, as those do that are up"
DOWN_SLEEPS = ("nodes that are down or drained draw their idle power for SuspendTime, and then "
               "nothing, as those do that are up")
_OF_CONF = ("DOWN", "DRAIN", "FAIL")
_UP = ("UP", "UNKNOWN", "IDLE", "CLOUD", "FUTURE", "EXTERNAL", "RESUME")


def spans_of(down: str | None, conf: SlurmConf, log: Log, told: Told) -> list[Span]:
    """From the file of events, and from nodes that slurm.conf itself has down."""
    row = {node.name: at for at, node in enumerate(conf.nodes)}
    spans: list[Span] = []
    for each in conf.down:
        spans += _of_conf([row[name] for name in each.nodes if name in row], each.state,
                          f"{conf.source}: DownNodes {', '.join(each.nodes[:5])}", told)
    for node in conf.nodes:
        spans += _of_conf([row[node.name]], node.settings.get("state", "UNKNOWN"), node.where, told)
    if down is None:
        told.assumed.append("no file of nodes that were down: all are up throughout, but for what "
                            "slurm.conf says")
        return spans
    listed = _known(read_down(down, log.zone.info), row, down, conf, told)
    begin_s = _begin_s(listed, log, down, told)
    placed = [Span(row[each.node], each.start_s - begin_s,
                   math.inf if each.end_s is None else each.end_s - begin_s,
                   each.effect == DRAINS, each.is_reserved)
              for each in listed if each.effect != SLEEPS]
    _say_outside(placed, log, down, told)
    return spans + [each for each in placed if each.end_s > 0]


def outages_of(spans: Sequence[Span], told: Told, sleeps: bool) -> Outages | None:
    """As the simulation takes them."""
    if not spans:
        return None
    told.assumed.append(DOWN_SLEEPS if sleeps else DOWN_DRAWS)
    rows = sorted((max(0.0, each.start_s), each.end_s, each.node, each.drains) for each in spans)
    start, end, node, drain = zip(*rows, strict=True)
    return Outages(np.array(node, dtype=np.int64), np.array(start), np.array(end),
                   np.array(drain, dtype=np.bool_))


def _of_conf(rows: Iterable[int], state: str, where: str, told: Told) -> list[Span]:
    """Nodes that are out from the beginning to the end."""
    word = state.strip().upper()
    if word.startswith(_OF_CONF):
        return [Span(row, 0.0, math.inf, word.startswith("DRAIN")) for row in rows]
    if word not in _UP:
        told.unknown.append(f"{where}: State={state} is no state of a node that is known here: the "
                            "nodes count as up")
    return []


def _known(listed: Iterable[Down], row: dict[str, int], source: str, conf: SlurmConf,
           told: Told) -> list[Down]:
    """Those of nodes and in states that are known; the others are named."""
    strange: dict[str, None] = {}
    effects: dict[str, int] = {}
    odd: dict[tuple[str, bool], list[Down]] = {}
    found = []
    for each in listed:
        for word in each.strange:
            odd.setdefault((word, each.effect == STRANGE), []).append(each)
        if each.node not in row:
            strange[each.node] = None
        elif each.effect != STRANGE:
            effects[each.effect] = effects.get(each.effect, 0) + 1
            found.append(each)
    if strange:
        names = list(strange)
        told.contradictions.append(
            f"{source} has nodes that {conf.source} does not: {', '.join(names[:5])}"
            f"{', ...' if len(names) > 5 else ''}; they are left out")
    told.unknown += [_odd_state(word, alone, several) for (word, alone), several in odd.items()]
    told.understood += [f"{source}: {_spans(count)} of nodes {_EFFECTS[effect]}"
                        for effect, count in effects.items()]
    return found


def _odd_state(word: str, alone: bool, several: Sequence[Down]) -> str:
    first = several[0]
    more = f" and {_spans(len(several) - 1)} more" if len(several) > 1 else ""
    what = f"'{word}' is no state of a node that is known here" if word else "it has no state"
    return (f"{first.where}: State={first.state} of {first.node}{more}: {what}"
            f"{'; it counts as no outage' if alone else ''}")


def _begin_s(listed: Iterable[Down], log: Log, source: str, told: Told) -> float:
    """The log's first moment by the clock of the file of events."""
    if log.unix_start_s is not None:
        if any(each.local for each in listed):
            told.assumed.append(f"{source}: {log.zone.note()}")
        return log.unix_start_s
    for each in listed:
        if each.by_calendar:
            raise InputError(f"{each.where}: {NO_CLOCK}")
    told.assumed.append(f"{source}: its times count from the beginning of the log")
    return 0.0


def _say_outside(spans: Sequence[Span], log: Log, source: str, told: Told) -> None:
    """Spans that no job of the log can have met."""
    if not spans or not log.jobs:
        return
    last_s = _last_s(log)
    outside = [each for each in spans if each.end_s <= 0 or each.start_s >= last_s]
    if not outside:
        return
    if log.unix_start_s is None:
        told.assumed.append(f"{source}: {_spans(len(outside))} after the last submission of the "
                            f"log (at {last_s:,.0f} s): only jobs that wait or run then meet them")
        return
    between = " to ".join(datetime.fromtimestamp(each, UTC).strftime("%Y-%m-%dT%H:%M:%S")
                          for each in (log.unix_start_s, log.unix_start_s + last_s))
    if len(outside) == len(spans):
        told.contradictions.append(f"{source}: none of its {_spans(len(spans))} lies in the time "
                                   f"of the log ({between})")
    else:
        told.understood.append(f"{source}: {len(outside):,} of {_spans(len(spans))} outside of the "
                               f"time of the log ({between})")


def _last_s(log: Log) -> float:
    """The last time that a log has; of one of submissions, the last of these."""
    times = np.array([(job.submit_s, job.start_s, job.end_s) for job in log.jobs])
    return float(np.nanmax(times))


def _spans(count: int) -> str:
    return f"{count:,} span{'' if count == 1 else 's'}"
