"""The jobs and steps of `sacct --json`, in the words of its text.

Each version of Slurm writes it a little differently: numbers plain or as {set, infinite, number},
states as a word or as a base and flags, ids of steps as text or as parts. What the text has in a
coarser form (frequencies, processor time) is written as coarsely, so that both give one ledger.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from wattline.model.errors import InputError
from wattline.site.cells import Cell

_STEP_NAMES = {4294967290: "interactive", 4294967291: "batch", 4294967292: "extern",
               -6: "interactive", -5: "batch", -4: "extern"}
STATE_FLAGS = ("COMPLETING", "STAGE_OUT", "CONFIGURING", "EXPEDITING", "RESIZING", "REQUEUED",
               "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "STOPPED", "REVOKED",
               "RESV_DEL_HOLD", "SIGNALING")
"""Flags of a state that Slurm's text prints instead of its base, the first of them that is set."""
_SILENT_FLAGS = frozenset({"LAUNCH_FAILED", "RECONFIG_FAIL", "POWER_UP_NODE"})
"""Flags that its text never prints."""


def read_jobs(data: bytes | str, source: str) -> list[Any]:
    """What stands in the list of jobs."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source}: is not JSON, or is cut off ({error})") from None
    jobs = content.get("jobs") if isinstance(content, dict) else None
    if not isinstance(jobs, list):
        raise InputError(f"{source}: has no list 'jobs', which the output of sacct --json has")
    return jobs


def job_cells(job: Mapping[str, Any]) -> dict[str, Cell]:
    """The cells of a job as sacct's text names them."""
    times = job["time"]
    tres = job.get("tres") if isinstance(job.get("tres"), dict) else {}
    allocated, requested = _counts(within(tres, "allocated")), _counts(within(tres, "requested"))
    return {
        "JobID": _label(job),
        "JobIDRaw": plain(job.get("job_id")),
        "Cluster": plain(job.get("cluster")),
        "Submit": plain(times.get("submission")),
        "Start": plain(times.get("start")) or None,
        "End": plain(times.get("end")) or None,
        "ElapsedRaw": plain(times.get("elapsed")),
        "Suspended": plain(times.get("suspended")),
        "TimelimitRaw": plain(times.get("limit")),
        "Timelimit": "UNLIMITED" if within(times, "limit", "infinite") else None,
        "TotalCPU": _processor_s(times.get("total")) or _processor_s(
            *(within(step, "time", "total") for step in _steps(job))),
        "AllocNodes": plain(job.get("allocation_nodes")) or allocated.get("node"),
        "ReqNodes": requested.get("node"),
        "AllocCPUS": allocated.get("cpu"),
        "ReqCPUS": requested.get("cpu") or plain(within(job, "required", "CPUs")),
        "ReqMem": _memory(job.get("required")),
        "NodeList": plain(job.get("nodes")),
        "ConsumedEnergyRaw": allocated.get("energy"),
        "AllocTRES": tres_text(within(tres, "allocated")),
        "ReqTRES": tres_text(within(tres, "requested")),
        "User": plain(job.get("user")) or plain(within(job, "association", "user")),
        "Account": plain(job.get("account")) or plain(within(job, "association", "account")),
        "Partition": plain(job.get("partition")),
        "QOS": plain(job.get("qos")),
        "JobName": plain(job.get("name")),
        "State": state_word(within(job, "state", "current") or job.get("state")),
        "Restarts": plain(job.get("restart_cnt")),
        "Dependency": plain(job.get("dependency")),
        "Eligible": plain(times.get("eligible")) or None,
        "Constraints": plain(job.get("constraints")),
        "Licenses": plain(job.get("licenses")),
        "SubmitLine": plain(job.get("submit_line")),
        "Reservation": plain(within(job, "reservation", "name")),
        "ArrayLimit": plain(within(job, "array", "limits", "max", "running", "tasks")),
    }


def step_cells(job: Mapping[str, Any]) -> list[dict[str, Cell]]:
    """The steps of a job in the same words."""
    return [{
        "JobID": f"{_label(job)}.{_step_name(step)}",
        "State": state_word(within(step, "state")),
        "Start": plain(within(step, "time", "start")),
        "End": plain(within(step, "time", "end")) or None,
        "ElapsedRaw": plain(within(step, "time", "elapsed")),
        "Suspended": plain(within(step, "time", "suspended")),
        "NodeList": plain(within(step, "nodes", "range")),
        "ConsumedEnergyRaw": plain(within(step, "statistics", "energy", "consumed")),
        "AllocTRES": tres_text(within(step, "tres", "allocated")),
        "AveCPUFreq": _short_khz(within(step, "statistics", "CPU", "actual_frequency")),
        "TotalCPU": _processor_s(within(step, "time", "total")),
    } for step in _steps(job)]


def state_word(state: Any) -> str | None:
    """The state in one word, as the text prints it.

    Newer versions write a base and flags: `["PENDING", "REQUEUED"]` of a life that was requeued.
    """
    words = [word.upper() for word in (state if isinstance(state, list) else [state])
             if isinstance(word, str) and word]
    flags = [flag for flag in STATE_FLAGS if flag in words]
    bases = [word for word in words if word not in _SILENT_FLAGS]
    return next(iter((*flags, *bases, *words)), None)


def within(value: Any, *keys: str) -> Any:
    """What lies so deep in a tree; None where there is nothing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def plain(value: Any) -> Cell:
    """A number or text; newer versions wrap numbers as {set, infinite, number}."""
    if isinstance(value, dict):
        if value.get("infinite") or value.get("set") is False:
            return None
        value = value.get("number")
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    return value


def _label(job: Mapping[str, Any]) -> Cell:
    """`300_1` of a task of an array, `12+0` of a part of a job of several, else the number."""
    array, task = plain(within(job, "array", "job_id")), plain(within(job, "array", "task_id"))
    if array and task is not None:
        return f"{array}_{task}"
    whole, part = plain(within(job, "het", "job_id")), plain(within(job, "het", "job_offset"))
    if whole and part is not None:
        return f"{whole}+{part}"
    return plain(job.get("job_id"))


def _step_name(step: Any) -> str:
    found = within(step, "step", "id")
    if isinstance(found, dict) and "step_id" in found:
        found = found["step_id"]
    name = plain(found)
    if isinstance(name, str):
        name = name.rpartition(".")[2]
    if isinstance(name, (int, str)) and str(name).lstrip("-").isdecimal():
        return _STEP_NAMES.get(int(name), str(name))
    return str(name or "")


def _memory(required: Any) -> str | None:
    """Megabytes per CPU (`500Mc`) or per node (`2000Mn`), as older versions have it in their text.

    0 is what was asked for (`--mem=0`) only where it is said to be set.
    """
    for name, by in (("memory_per_cpu", "c"), ("memory_per_node", "n")):
        value = within(required, name)
        amount = plain(value)
        if isinstance(amount, int) and (amount > 0 or isinstance(value, dict)) and (
                0 <= amount < 2**53):
            return f"{amount}M{by}"
    return None


def _steps(job: Mapping[str, Any]) -> list[Any]:
    steps = job.get("steps")
    return steps if isinstance(steps, list) else []


def _processor_s(*parts: Any) -> Cell:
    """Processor time of seconds and microseconds, summed; None where nothing says it.

    As the text has it: whole seconds from an hour on, milliseconds below.
    """
    found_us = []
    for part in parts:
        whole, rest = (plain(within(part, name)) for name in ("seconds", "microseconds"))
        if isinstance(whole, (int, float)) and 0 <= whole < 2**53:
            more = rest if isinstance(rest, (int, float)) and 0 <= rest < 2**53 else 0
            found_us.append(int(whole) * 1_000_000 + int(more))
    if not found_us:
        return None
    total_us = sum(found_us)
    unit_us = 1_000_000 if total_us >= 3_600_000_000 else 1000
    return total_us // unit_us * unit_us / 1e6


def _short_khz(value: Any) -> Cell:
    """A frequency in kHz as the text has it: `2.45G`."""
    khz = plain(value)
    return with_unit(khz, "K", 1000) if isinstance(khz, (int, float)) and khz < 2**53 else None


def with_unit(number: float, unit: str, by: int, *, exact: bool = False) -> str:
    """A number with Slurm's prefixes, as many as it can have, or as lose no digit but a half."""
    place = " KMGTP".index(unit)
    while number >= by and place < 5 and not (exact and int(number) % (by // 2)):
        number, place = number / by, place + 1
    digits = f"{number:.0f}" if number == int(number) else f"{number:.2f}"
    return f"{digits}{' KMGTP'[place].strip()}" if number >= 1 else "0"


def _known(items: Any) -> list[tuple[str, str, int]]:
    """Type, name and count; Slurm writes 2^64 - 2, or -2, for a count that it does not know."""
    listed = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    return [(str(item.get("type")), str(item.get("name") or ""), count) for item in listed
            if isinstance(count := plain(item.get("count")), int) and 0 <= count < 2**53]


def _counts(items: Any) -> dict[str, Cell]:
    return {kind: count for kind, _, count in _known(items)}


def tres_text(items: Any) -> str | None:
    """`cpu=64,energy=5760000,gres/gpu=4,mem=62.50G` as the text has it: sorted, memory in MB."""
    if isinstance(items, str):
        return items
    return ",".join(sorted(
        f"{kind}{'/' if name else ''}{name}="
        f"{with_unit(count, 'M', 1024, exact=True) if _is_memory(kind, name) else count}"
        for kind, name, count in _known(items))) or None


def _is_memory(kind: str, name: str) -> bool:
    return kind in ("mem", "bb") or name.lower() == "gpumem"
