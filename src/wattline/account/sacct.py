"""Printing in the manner of `sacct`: fields by name, widths, parsable lines, its JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any

from wattline.account.records import NOT_STARTED
from wattline.model.errors import InputError

DEFAULT_FORMAT = "JobID,JobName,Partition,Account,AllocCPUS,State,Elapsed,ConsumedEnergy"


@dataclass(frozen=True)
class Line:
    """A job, or one of its steps, with the time at which the run's clock stood at 0."""

    job: Mapping[str, Any]
    epoch_s: float
    step: Mapping[str, Any] | None = None
    zone: tzinfo | None = None
    """In which its times are printed, with their distance from UTC; UTC without it otherwise."""

    def value(self, name: str) -> Any:
        """From the step where it has one of its own, else from the job."""
        if self.step is not None and name in self.step:
            return self.step[name]
        return self.job[name]

    @property
    def elapsed_s(self) -> float:
        return float(self.value("end_s")) - float(self.value("start_s"))

    @property
    def job_id(self) -> str:
        job = str(self.job["job_id"])
        return job if self.step is None else f"{job}.{self.step['step_id']}"


def clock(seconds: float) -> str:
    """`[days-]hh:mm:ss` as Slurm writes it."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return (f"{days}-" if days else "") + f"{hours:02d}:{minutes:02d}:{rest:02d}"


def stamp(seconds: float, zone: tzinfo | None = None) -> str:
    if zone is not None:
        return datetime.fromtimestamp(int(seconds), zone).isoformat()
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%S")


def short_energy(energy_j: float) -> str:
    """`490.60K`: two digits and a prefix above a thousand, as `sacct` prints joules."""
    value = float(round(energy_j))
    for prefix in ("", "K", "M", "G", "T"):
        if value < 1000 or prefix == "T":
            return f"{value:.0f}" if not prefix else f"{value:.2f}{prefix}"
        value /= 1000
    raise AssertionError


def _frequency(line: Line) -> str:
    found = line.job["frequency_hz"]
    return "" if found is None else f"{found / 1e9:.2f}G"


def _allocated(line: Line) -> str:
    """As the resource manager has it, else what is known of it here."""
    told = str(line.job.get("alloc_tres") or "")
    if told or _never_ran(line.job):
        return told
    joules = line.value("energy_j")
    energy = "" if joules is None else f"energy={round(float(joules))},"
    cores = "" if line.job["cores"] is None else f"cpu={line.job['cores']},"
    return f"{cores}{energy}node={line.job['nodes']}"


def _cores(line: Line, seconds: float | None = None) -> str:
    """Cores, or their seconds; nothing where nobody has kept how many there were."""
    cores = line.job["cores"]
    return "" if cores is None else str(cores if seconds is None else int(seconds * int(cores)))


def _moment(line: Line, name: str) -> str:
    """A time; of a job that never ran, or runs, what sacct writes instead."""
    if line.job["state"] == NOT_STARTED or (name == "end_s" and line.job.get("runs")):
        return "Unknown"
    if _never_ran(line.job) and name == "start_s":
        return "None"
    return stamp(line.epoch_s + float(line.value(name)), line.zone)


def _energy(line: Line, written: Callable[[float], str]) -> str:
    """Nothing where it is not known, which is not zero."""
    energy_j = line.value("energy_j")
    return "" if energy_j is None else written(float(energy_j))


def _limit(job: Mapping[str, Any]) -> str:
    return "" if job["limit_s"] is None else clock(float(job["limit_s"]))


def _submit(line: Line) -> str:
    submit_s = line.job["submit_s"]
    return "Unknown" if submit_s is None else stamp(line.epoch_s + float(submit_s), line.zone)


def _mean_power(line: Line) -> str:
    if line.elapsed_s <= 0 or line.value("energy_j") is None:
        return ""
    return f"{float(line.value('energy_j')) / line.elapsed_s:.1f}"


def _cost(line: Line) -> str:
    """Of a job; where in it the money went is not said."""
    return "" if line.step else f"{float(line.job['cost']):.4f}"


def _whole_elapsed_s(start_s: Any, end_s: Any) -> int:
    """As Slurm has it: from the whole second of the start to that of the end, both as printed."""
    return int(float(end_s)) - int(float(start_s))


def _never_ran(job: Mapping[str, Any]) -> bool:
    return int(job["nodes"]) == 0


def _exit_code(job: Mapping[str, Any]) -> str:
    """Empty for a job that failed: with which code, nobody has kept."""
    if _never_ran(job) or job["state"] == "COMPLETED":
        return "0:0"
    return "0:15" if job["state"] == "TIMEOUT" else ""


FIELDS: Mapping[str, tuple[int, Callable[[Line], str]]] = {
    # name as sacct spells it: (width, text)
    "JobID": (12, lambda r: r.job_id),
    "JobIDRaw": (12, lambda r: r.job_id),
    "JobName": (10, lambda r: str(r.job["application"])),
    "User": (9, lambda r: "" if r.step else str(r.job["user"])),
    "Account": (10, lambda r: str(r.job["account"])),
    "Partition": (10, lambda r: "" if r.step else str(r.job["partition"])),
    "AllocCPUS": (10, _cores),
    "NCPUS": (10, _cores),
    "AllocNodes": (10, lambda r: str(r.job["nodes"])),
    "NNodes": (8, lambda r: str(r.job["nodes"])),
    "NodeList": (15, lambda r: node_list(r.job)),
    "State": (10, lambda r: str(r.value("state") or "")),
    "ExitCode": (8, lambda r: _exit_code(r.job)),
    "Submit": (19, _submit),
    "Start": (19, lambda r: _moment(r, "start_s")),
    "End": (19, lambda r: _moment(r, "end_s")),
    "Elapsed": (10, lambda r: clock(_whole_elapsed_s(r.value("start_s"), r.value("end_s")))),
    "ElapsedRaw": (10, lambda r: str(_whole_elapsed_s(r.value("start_s"), r.value("end_s")))),
    "Timelimit": (10, lambda r: "" if r.step else _limit(r.job)),
    "CPUTimeRAW": (10, lambda r: _cores(r, r.elapsed_s)),
    "AveCPUFreq": (10, _frequency),
    "ReqCPUFreq": (10, lambda r: str(r.job.get("asked_frequency") or "")),
    "AllocTRES": (10, _allocated),
    "ConsumedEnergy": (14, lambda r: _energy(r, short_energy)),
    "ConsumedEnergyRaw": (17, lambda r: _energy(r, lambda energy_j: str(round(energy_j)))),
    # Ours: what sacct has no column for.
    "Restarts": (8, lambda r: "" if r.step else str(r.job["restart"])),
    "NodeClass": (10, lambda r: str(r.job["node_class"])),
    "AveWatts": (10, _mean_power),
    "Cost": (12, _cost),
    "EnergyQuality": (13, lambda r: str(r.job["quality"])),
}
TIMES = ("Submit", "Start", "End")
WIDTH_WITH_ZONE = 25
_BY_LOWER = {name.lower(): name for name in FIELDS}


@dataclass(frozen=True)
class Field:
    name: str
    width: int
    left: bool = False


def parse_format(text: str) -> list[Field]:
    """`JobID%5,Elapsed,ConsumedEnergy%-9` as `sacct -o` takes it."""
    found = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*([A-Za-z]+)(?:%(-?)(\d+))?\s*", part)
        name = _BY_LOWER.get(match[1].lower()) if match else None
        if match is None or name is None:
            raise InputError(f"-o: '{part.strip()}' is no field; known are {', '.join(FIELDS)}")
        width = int(match[3]) if match[3] else FIELDS[name][0]
        if width < 1:
            raise InputError(f"-o: '{part.strip()}': a field is at least 1 wide")
        found.append(Field(name, width, bool(match[2])))
    return found


def text_lines(
    lines: Iterable[Line], fields: Sequence[Field], *, parsable: bool = False,
    trailing: bool = False, header: bool = True,
) -> list[str]:
    """What `sacct` would print: aligned, or separated by `|`."""
    rows = [[FIELDS[field.name][1](line) for field in fields] for line in lines]
    if parsable:
        end = "|" if trailing else ""
        names = [[field.name for field in fields]] if header else []
        return ["|".join(row) + end for row in [*names, *rows]]
    heads = [[field.name for field in fields], ["-" * field.width for field in fields]]
    return [" ".join(_cell(text, field) for text, field in zip(row, fields, strict=True)).rstrip()
            for row in [*(heads if header else []), *rows]]


def _cell(text: str, field: Field) -> str:
    # sacct marks what does not fit with a plus.
    shown = text if len(text) <= field.width else text[: max(0, field.width - 1)] + "+"
    return shown.ljust(field.width) if field.left else shown.rjust(field.width)


def json_jobs(
    jobs: Iterable[Mapping[str, Any]],
    steps: Mapping[tuple[int, int], Sequence[Mapping[str, Any]]], epoch_s: float,
) -> dict[str, Any]:
    """The part of `sacct --json` that tells times, sizes and joules."""
    return {"jobs": [_json_job(job, steps.get(life(job), ()), epoch_s) for job in jobs]}


def life(job: Mapping[str, Any]) -> tuple[int, int]:
    """What tells the lives of a job apart that was started again."""
    return int(job["job_id"]), int(job["restart"])


def _json_job(
    job: Mapping[str, Any], steps: Sequence[Mapping[str, Any]], epoch_s: float
) -> dict[str, Any]:
    energy = {"type": "energy", "name": "", "id": 3, "count": round(float(job["energy_j"]))}
    return {
        "job_id": job["job_id"],
        "restart_cnt": job["restart"],
        "name": job["application"],
        "user": job["user"],
        "account": job["account"],
        "partition": job["partition"],
        "nodes": node_list(job),
        "allocation_nodes": job["nodes"],
        "required": {"CPUs": job["cores"]},
        "state": {"current": job["state"], "reason": "None"},
        "time": {
            "submission": int(epoch_s + float(job["submit_s"])),
            "start": 0 if _never_ran(job) else int(epoch_s + float(job["start_s"])),
            "end": 0 if job["state"] == NOT_STARTED else int(epoch_s + float(job["end_s"])),
            "elapsed": _whole_elapsed_s(job["start_s"], job["end_s"]),
            "limit": {"set": True, "infinite": False, "number": int(float(job["limit_s"]) // 60)},
        },
        "tres": {"allocated": [
            {"type": "cpu", "name": "", "id": 1, "count": job["cores"]},
            {"type": "node", "name": "", "id": 4, "count": job["nodes"]},
            energy,
        ]},
        "wattline": {
            "energy_j": float(job["energy_j"]), "node_class": job["node_class"],
            "quality": job["quality"], **({"cost": job["cost"]} if "cost" in job else {}),
        },
        "steps": [
            {
                "step": {"id": f"{job['job_id']}.{step['step_id']}"},
                "time": {
                    "start": int(epoch_s + float(step["start_s"])),
                    "end": int(epoch_s + float(step["end_s"])),
                    "elapsed": _whole_elapsed_s(step["start_s"], step["end_s"]),
                },
                "statistics": {"energy": {"consumed": round(float(step["energy_j"]))}},
            }
            for step in steps
        ],
    }


def node_list(job: Mapping[str, Any]) -> str:
    """Names of the nodes; `None assigned` of a job that never had any, as Slurm has it."""
    if _never_ran(job):
        return "None assigned"
    return str(job["node_list"]) or "Unknown"
