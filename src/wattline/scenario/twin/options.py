"""Options of `sbatch` put into what a job asks for."""

from __future__ import annotations

import re
from collections.abc import Callable

from wattline.model.errors import InputError
from wattline.scenario.twin.asked import AskedJob
from wattline.site.dependency import dependency_of
from wattline.site.licences import licences_of
from wattline.site.sbatch import (
    Options,
    array_of,
    count,
    gres_asked,
    limit_s,
    megabytes,
    node_range,
)

LATEST_S = 3650 * 86400
BEGIN_BY_THE_CLOCK = "begin by the clock, which the log does not have: it may begin at once"
_OTHER_EXCLUSIVE = ("mcs", "topo")
"""Nodes, or a whole leaf of them, for jobs of one label or for this one: not modelled."""
_Put = Callable[[AskedJob, str, str], None]


def apply_options(job: AskedJob, options: Options, where: str) -> list[str]:
    """Put them in; those that stand in no field are given back."""
    unread = []
    for name, value in options.values.items():
        if name == "exclusive" and value.strip().lower() in _OTHER_EXCLUSIVE:
            unread.append(f"{name}={value.strip().lower()}")
        elif name == "begin" and _by_the_clock(value):
            unread.append(BEGIN_BY_THE_CLOCK)
        elif name in _READERS:
            _READERS[name](job, value, where)
        else:
            unread.append(name)
    return unread


def _text(field: str) -> _Put:
    return lambda job, value, where: setattr(job, field, value.strip())


def _flag(field: str, to: bool = True) -> _Put:
    return lambda job, value, where: setattr(job, field, to)


def _at_least_one(field: str, what: str) -> _Put:
    def put(job: AskedJob, value: str, where: str) -> None:
        number = count(value, what, where)
        if number < 1:
            raise InputError(f"{where}: {what} is {value.strip()}, must be at least 1")
        setattr(job, field, number)

    return put


def _exclusive(job: AskedJob, value: str, where: str) -> None:
    word = value.strip().lower()
    if word not in ("", "exclusive", "user"):
        raise InputError(f"{where}: exclusive is '{value[:40]}', must be alone or user, mcs, topo")
    job.exclusive, job.own_user = word != "user", word == "user"


def _nodes(job: AskedJob, value: str, where: str) -> None:
    job.min_nodes, job.max_nodes = node_range(value, where)
    job.node_range = job.max_nodes > job.min_nodes


def _memory(field: str, what: str) -> _Put:
    return lambda job, value, where: setattr(job, field, megabytes(value, what, where))


def _gres(field: str, usual: str = "") -> _Put:
    def put(job: AskedJob, value: str, where: str) -> None:
        merged = dict(getattr(job, field))
        for kind, number in gres_asked(value, where, usual).items():
            merged[kind] = merged.get(kind, 0) + number
        setattr(job, field, merged)

    return put


def _time(job: AskedJob, value: str, where: str) -> None:
    job.limit_s = limit_s(value, where)


_CLOCK = re.compile(
    r"(?:today|tomorrow|midnight|noon|elevenses|fika|teatime"
    r"|[0-9]{6}|[0-9]{1,2}[/.][0-9]{1,2}(?:[/.][0-9]{2,4})?|[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"|[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?)(?:[ t-]*[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?)?(?: ?[ap]m)?")
"""Times of the day and dates, as sbatch takes them."""


def _by_the_clock(value: str) -> bool:
    return _CLOCK.fullmatch(value.strip().lower()) is not None


def _begin(job: AskedJob, value: str, where: str) -> None:
    found = re.fullmatch(r"now(?:\+([0-9]{1,12})(seconds?|minutes?|hours?|days?|weeks?)?)?",
                         value.strip().lower())
    if found is None:
        raise InputError(f"{where}: begin is '{value[:40]}', must be like now+3600 or now+1hour")
    unit = (found[2] or "second").rstrip("s")
    scale = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}[unit]
    wait_s = int(found[1] or 0) * scale
    if wait_s > LATEST_S:
        raise InputError(f"{where}: begin is '{value[:40]}', must be within ten years")
    job.begin_s = job.submit_s + wait_s


def _nice(job: AskedJob, value: str, where: str) -> None:
    found = re.fullmatch(r"[+-]?[0-9]{1,10}", value.strip() or "100")
    if found is None:
        raise InputError(f"{where}: nice is '{value[:40]}', must be a whole number")
    job.nice = int(found[0])


def _after(job: AskedJob, value: str, where: str) -> None:
    job.dependency = dependency_of(value, where)


def _kill_invalid(job: AskedJob, value: str, where: str) -> None:
    job.kill_invalid = value.strip().lower() not in ("no", "n")


def _array(job: AskedJob, value: str, where: str) -> None:
    job.array_limit = array_of(value, where)[1]


def _licences(job: AskedJob, value: str, where: str) -> None:
    job.licences = licences_of(value, where)


_READERS: dict[str, _Put] = {
    "time": _time, "nodes": _nodes, "ntasks": _at_least_one("tasks", "ntasks"),
    "ntasks-per-gpu": _at_least_one("tasks_per_gpu", "ntasks-per-gpu"),
    "ntasks-per-node": _at_least_one("tasks_per_node", "ntasks-per-node"),
    "cpus-per-task": _at_least_one("cpus_per_task", "cpus-per-task"),
    "mem": _memory("memory_per_node_mb", "mem"),
    "mem-per-cpu": _memory("memory_per_cpu_mb", "mem-per-cpu"),
    "cpus-per-gpu": _at_least_one("cpus_per_gpu", "cpus-per-gpu"),
    "mem-per-gpu": _memory("memory_per_gpu_mb", "mem-per-gpu"),
    "gres": _gres("gres_per_node"), "gpus-per-node": _gres("gres_per_node", "gpu"),
    "gpus": _gres("gres_per_job", "gpu"), "gpus-per-task": _gres("gres_per_task", "gpu"),
    "constraint": _text("constraint"), "exclusive": _exclusive,
    "partition": _text("partition"), "qos": _text("qos"), "account": _text("account"),
    "begin": _begin, "nice": _nice, "dependency": _after, "array": _array,
    "kill-on-invalid-dep": _kill_invalid, "job-name": _text("name"),
    "reservation": _text("reservation"),
    "licenses": _licences, "exclude": _text("exclude"), "nodelist": _text("require"),
    "requeue": _flag("requeue"), "no-requeue": _flag("requeue", False), "hold": _flag("held"),
    "use-min-nodes": _flag("use_min_nodes"),
}
