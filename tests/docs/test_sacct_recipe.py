"""The line of sacct in the docs has dates, and the columns that are read, all and no more."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wattline.account.measured.from_sacct import read_sacct as read_measured
from wattline.model.errors import InputError
from wattline.scenario.twin.from_sacct import read_sacct as read_twin
from wattline.site.sacct_text import COMMAND, FIELDS
from wattline.traces import read

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
OTHER = {
    "AllocNodes": "2", "ReqNodes": "1", "NCPUS": "8", "Elapsed": "00:10:00",
    "TimelimitRaw": "20", "ConsumedEnergy": "1.20M", "UID": "1001", "Group": "lab", "GID": "9",
    "ReqCPUFreqGov": "Unknown", "CPUTimeRAW": "4800", "ExitCode": "0:0", "Restarts": "0",
    "Flags": "SchedMain", "Reason": "None", "Priority": "5", "WorkDir": "/", "Comment": ""}
"""Further columns of `sacct --helpformat` that say the same or nothing that is used."""
JOBS = [
    {"JobID": "7_1", "JobIDRaw": "8", "JobName": "solve", "Cluster": "alpha", "User": "ada",
     "Account": "lab", "Partition": "gpu", "QOS": "high", "Submit": "2025-03-01T10:00:00",
     "Eligible": "2025-03-01T10:00:30", "Start": "2025-03-01T10:01:00",
     "End": "2025-03-01T10:12:00", "ElapsedRaw": "600", "Suspended": "00:01:00",
     "Timelimit": "00:20:00", "ReqCPUS": "6", "ReqMem": "8000M",
     "ReqTRES": "billing=6,cpu=6,mem=8000M,node=1,gres/gpu=4",
     "AllocTRES": "billing=8,cpu=8,mem=8000M,node=2,gres/gpu=4", "AllocCPUS": "8", "NNodes": "2",
     "NodeList": "n[1-2]", "Constraints": "fast", "State": "COMPLETED",
     "ConsumedEnergyRaw": "1200000", "TotalCPU": "01:02:00", "AveCPUFreq": "2.4G",
     "ReqCPUFreqMin": "1200000", "ReqCPUFreqMax": "2400000", "Reservation": "week",
     "SubmitLine": "sbatch --nice=50 -n 6 a.sh"},
    {"JobID": "9", "JobIDRaw": "9", "JobName": "plain", "Cluster": "alpha", "User": "bob",
     "Account": "lab", "Partition": "cpu", "QOS": "normal", "Submit": "2025-03-01T10:00:00",
     "Eligible": "2025-03-01T10:00:00", "Start": "2025-03-01T10:02:00",
     "End": "2025-03-01T10:22:00", "ElapsedRaw": "1200", "Suspended": "00:00:00",
     "Timelimit": "00:30:00", "ReqCPUS": "3", "ReqMem": "4000M",
     "ReqTRES": "billing=3,cpu=3,node=1", "AllocTRES": "",
     "AllocCPUS": "4", "NNodes": "1", "NodeList": "n3", "Constraints": "", "State": "TIMEOUT",
     "ConsumedEnergyRaw": "", "TotalCPU": "00:40:00", "AveCPUFreq": "", "ReqCPUFreqMin": "Unknown",
     "ReqCPUFreqMax": "Unknown", "Reservation": "", "SubmitLine": ""}]


def _dump(path: Path, columns: list[str]) -> Path:
    rows = [{**OTHER, "AllocNodes": job["NNodes"], "NCPUS": job["AllocCPUS"],
             "Elapsed": {"600": "00:10:00", "1200": "00:20:00"}[job["ElapsedRaw"]],
             "TimelimitRaw": str(int(job["Timelimit"][3:5])),
             "ConsumedEnergy": job["ConsumedEnergyRaw"], **job} for job in JOBS]
    path.write_text("\n".join(["|".join(columns)] + [
        "|".join(row[column] for column in columns) for row in rows]) + "\n")
    return path


def _found(path: Path, columns: list[str]) -> list[str]:
    """All that the readers of the twin, of a log and of the ledger make of a dump."""
    _dump(path, columns)
    ways: list[Any] = [
        lambda: _twin(path),
        lambda: _trace(path, "nodes"), lambda: _trace(path, "cores"),
        lambda: repr(read_measured(path.read_bytes(), "dump", zone="UTC"))]
    found = []
    for way in ways:
        try:
            found.append(way())
        except InputError as error:
            found.append(f"{type(error).__name__}: {error}")
    return found


def _twin(path: Path) -> str:
    log = read_twin(path)
    return repr((log.jobs, log.filled, log.left_out, log.not_modelled))


def _trace(path: Path, unit: Any) -> str:
    found = read(path, unit=unit)
    with np.printoptions(threshold=10**6):
        return repr((found.to_pandas().to_dict(), found.jobs.names, found.remarks))


def test_every_column_is_read_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "sacct.txt"
    whole = _found(path, list(FIELDS))
    assert not [each for each in whole if re.match(r"\w+Error: ", each)]
    for column in FIELDS:
        fewer = [name for name in FIELDS if name != column]
        assert _found(path, fewer) != whole, f"{column} is not read"
    for column in OTHER:
        assert _found(path, [*FIELDS, column]) == whole, f"{column} is read"


def _recipes() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8").replace("\\\n", "")
        for line in re.findall(r"(?:TZ=\w+ )?sacct -[^`\n]*", text):
            joined = re.sub(r",\s+(?=[A-Z])", ",", line)
            if "--format" in joined or "-o " in joined or ">" in joined:
                found.append((page.name, joined))
    return found


def test_docs_have_the_line() -> None:
    assert {page for page, _ in _recipes()} >= {"how-to.md", "twin.md"}


@pytest.mark.parametrize(("page", "line"), _recipes())
def test_each_line_of_the_docs(page: str, line: str) -> None:
    assert line.startswith(f"TZ=UTC {COMMAND}")
