"""`sacct` as text and as JSON tells of the same jobs: the same rows of the ledger.

`recorded/slurm22.*` is what Slurm 22.05.8 printed of the same jobs in both forms: plain, requeued,
cancelled, suspended, in arrays, of several parts, made smaller, killed by their limit, pending.
Newer versions write a state as a base and flags and numbers as {set, infinite, number}.
"""

from __future__ import annotations

import json
import lzma
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.shared_data import shared
from tests.support.measured import rows_of

from wattline.account.measured.book import MeasuredLedger
from wattline.account.measured.from_sacct import NEVER_STARTED, read_sacct
from wattline.account.measured.tables import lives, steps
from wattline.account.store import Store
from wattline.scenario.twin.from_sacct import read_sacct as read_twin
from wattline.site.sacct_json import state_word
from wattline.site.sacct_text import read_records
from wattline.traces import slurm

RECORDED = Path(__file__).parent / "recorded"
BASES = ("PENDING", "RUNNING", "SUSPENDED", "COMPLETED", "CANCELLED", "FAILED", "TIMEOUT",
         "NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY")
FLAGS = ("COMPLETING", "STAGE_OUT", "CONFIGURING", "EXPEDITING", "RESIZING", "REQUEUED",
         "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "STOPPED", "REVOKED", "RESV_DEL_HOLD",
         "SIGNALING")
"""As `job_state_string` of Slurm 26.05 asks for them, one after the other."""


def new_state(word: str) -> list[str]:
    """A state as Slurm 23.11 and newer write it: slurmdbd keeps flags on the base PENDING."""
    return [word] if word in BASES else ["PENDING", word]


def number(value: Any) -> dict[str, Any]:
    known = isinstance(value, int)
    return {"set": known, "infinite": False, "number": value if known else 0}


def newer(text: str) -> str:
    """A dump of 22.05 as newer versions write the same."""
    found = json.loads(text)
    for job in found["jobs"]:
        job["state"]["current"] = new_state(job["state"]["current"])
        job["time"]["limit"] = number(job["time"]["limit"])
        for part, name in (("array", "task_id"), ("het", "job_offset")):
            job[part][name] = number(job[part][name])
        for step in job["steps"]:
            step["state"] = new_state(step["state"])
            for name in ("start", "end"):
                step["time"][name] = number(step["time"][name])
            step["step"] = {"id": f"{job['job_id']}.{step['step']['id']}", "name": ""}
            energy = step["statistics"]["energy"]
            energy["consumed"] = number(energy["consumed"])
    return json.dumps(found)


def ledger(data: str | bytes, **how: Any) -> tuple[list[Any], dict[str, int]]:
    found = read_sacct(data if isinstance(data, bytes) else data.encode(), "dump", zone="UTC",
                       cluster="c", **how)
    with Store("sqlite://") as store:
        MeasuredLedger(store).enter(found)
        rows = rows_of(store)
    # Slurm 22.05 writes actual_frequency 0 into its JSON, whatever its text says.
    at = [column.name for column in steps.c if column.name != "id"].index("frequency_hz")
    rows[1] = [row[:at] + row[at + 1:] for row in rows[1]]
    return rows, found.skipped


@pytest.mark.parametrize("written", [str, newer])
def test_what_slurm_printed_in_both_forms_gives_the_same_rows(written):
    text, skipped = ledger((RECORDED / "slurm22.txt").read_text())
    found, left_out = ledger(written((RECORDED / "slurm22.json").read_text()))
    assert found == text
    assert left_out == skipped
    at = [column.name for column in lives.c if column.name != "id"].index("state")
    states = [row[at] for row in text[0]]
    assert states.count("REQUEUED") == 3
    assert {"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT"} <= set(states)


@pytest.mark.parametrize("name", ["slurm_truth/qosfs/t1.D.txt.xz", "slurm_truth/rules/t1.D.txt.xz",
                                  "slurm_truth/susp/t1.D.txt.xz", "slurm_truth/susp/t2.D.txt.xz",
                                  "fixtures/slurm/sacct_dump2101.log"])
def test_a_public_dump_gives_the_same_rows_in_either_form(name):
    path = shared(name)
    data = path.read_bytes()
    data = lzma.decompress(data) if path.suffix == ".xz" else data
    text, skipped = ledger(data)
    found, left_out = ledger(as_json(data.decode()))
    assert found == text
    assert len(text[0]) > 1
    assert left_out.get(NEVER_STARTED) == skipped.get(NEVER_STARTED)


@pytest.mark.parametrize("written", [str, newer])
def test_a_log_and_a_twin_read_the_same_jobs_in_either_form(written, tmp_path):
    texts = {"a.txt": (RECORDED / "slurm22.txt").read_text(),
             "a.json": written((RECORDED / "slurm22.json").read_text())}
    raw, twins = [], []
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        parse = slurm.parse_text if name == "a.txt" else slurm.parse_json
        raw.append(parse(text.encode(), name))
        twins.append(read_twin(tmp_path / name).jobs)
    order = [sorted(range(len(each.job_id)), key=lambda at, each=each: (
        each.submit_s[at], each.logged["wait_s"][at], each.job_id[at])) for each in raw]
    for field in ("submit_s", "run_s", "requested_s", "energy_j", "restart", "preceding",
                  "allocated_procs", "requested_procs"):
        told = [getattr(each, field)[at].tolist() for each, at in zip(raw, order, strict=True)]
        # Exactly: a millionth of a time that is counted from 1970 is half an hour.
        np.testing.assert_array_equal(*told, err_msg=field)
    assert [raw[0].codes["status"][at] for at in order[0]] == [
        raw[1].codes["status"][at] for at in order[1]]
    assert [(each.job_id, each.state, each.run_s, each.limit_s, each.nodes, each.tasks,
             each.memory_per_node_mb) for each in twins[0]] == [
        (each.job_id, each.state, each.run_s, each.limit_s, each.nodes, each.tasks,
         each.memory_per_node_mb) for each in twins[1]]


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("flag", FLAGS)
def test_a_flag_counts_before_its_base_wherever_it_stands(base, flag):
    assert state_word([base, flag]) == state_word([flag, base]) == flag
    assert state_word([base]) == state_word(base) == base
    assert state_word([base, "POWER_UP_NODE"]) == base
    later = FLAGS[FLAGS.index(flag) + 1:]
    assert all(state_word([base, other, flag]) == flag for other in later)
    assert state_word([]) is state_word(None) is None


def test_what_ran_is_a_life_whatever_its_state_says():
    job = {"job_id": 5, "nodes": "n1", "allocation_nodes": 1, "state": {"current": ["PENDING"]},
           "time": {"submission": 900, "start": 1000, "end": 1100, "elapsed": 100}}
    waits = {**job, "job_id": 6, "time": {"submission": 900, "start": 0, "end": 0, "elapsed": 0}}
    found = read_sacct(json.dumps({"jobs": [job, waits]}).encode(), "dump", cluster="c")
    assert [(life.key.label, life.end_s) for life in found.lives] == [("5", 1100.0)]
    assert found.skipped == {NEVER_STARTED: 1}


def as_json(text: str) -> str:
    """Rows of a text as Slurm 24.11 would write them, by the tables of its parser."""
    jobs: list[dict[str, Any]] = []
    columns = text.partition("\n")[0].split("|")
    for _, row in read_records(text.partition("\n")[2], "text", columns).rows:
        label, dot, step = row["JobID"].partition(".")
        if dot:
            jobs[-1]["steps"].append(_step(row, jobs[-1]["job_id"], step))
        else:
            jobs.append(_job(row, label))
    return json.dumps({"jobs": jobs})


def _job(row: dict[str, str], label: str) -> dict[str, Any]:
    whole = int(re.match(r"\d+", label)[0])  # type: ignore[index]
    task = re.fullmatch(r"\d+_(\d+)", label)
    part = re.fullmatch(r"\d+\+(\d+)", label)
    told = row.get("JobIDRaw", label)  # a text may lack the raw number of a task, JSON never does
    raw = int(told) if told.isdecimal() else None
    return {
        "job_id": raw, "cluster": row.get("Cluster", ""), "user": row.get("User", ""),
        "account": row.get("Account", ""), "partition": row.get("Partition", ""),
        "name": row.get("JobName", ""), "nodes": row.get("NodeList", ""),
        "allocation_nodes": int(row.get("NNodes") or 0),
        "array": {"job_id": whole if "_" in label else 0,
                  "task_id": number(int(task[1]) if task else None)},
        "het": {"job_id": whole if part else 0, "job_offset": number(int(part[1]) if part
                                                                   else None)},
        "state": {"current": new_state(row["State"].split()[0])},
        "time": {"submission": _unix(row["Submit"]), "start": _unix(row["Start"]),
                 "end": _unix(row["End"]), "elapsed": int(row["ElapsedRaw"]),
                 "suspended": _clock(row.get("Suspended", "")),
                 "limit": number(int(row["TimelimitRaw"]) if row.get("TimelimitRaw", "").isdecimal()
                                 else None), "total": _processor(row.get("TotalCPU", ""))},
        "tres": {"allocated": _tres(row.get("AllocTRES", "")),
                 "requested": _tres(row.get("ReqTRES", ""))},
        "required": {"CPUs": int(row.get("ReqCPUS") or 0)}, "steps": []}


def _step(row: dict[str, str], job: int, name: str) -> dict[str, Any]:
    return {"step": {"id": f"{job}.{name}", "name": row.get("JobName", "")},
            "state": new_state(row["State"].split()[0]),
            "time": {"start": number(_unix(row["Start"])), "end": number(_unix(row["End"])),
                     "elapsed": int(row["ElapsedRaw"]),
                     "suspended": _clock(row.get("Suspended", "")),
                     "total": _processor(row.get("TotalCPU", ""))},
            "nodes": {"range": row.get("NodeList", "")},
            "tres": {"allocated": _tres(row.get("AllocTRES", ""))}, "statistics": {}}


def _unix(text: str) -> int:
    if not text[:1].isdigit():
        return 0
    told = datetime.fromisoformat(text)
    return int((told if told.tzinfo else told.replace(tzinfo=UTC)).timestamp())


def _clock(text: str) -> int:
    days, _, rest = text.rpartition("-")
    parts = [int(float(each)) for each in (rest or "0").split(":")]
    return int(days or 0) * 86400 + sum(
        each * 60**at for at, each in enumerate(reversed(parts)))


def _processor(text: str) -> dict[str, int] | None:
    if not text:
        return None
    fraction = text.partition(".")[2]
    return {"seconds": _clock(text), "microseconds": int(fraction or 0) * 1000}


def _tres(text: str) -> list[dict[str, Any]]:
    """Memory in MB; in no order."""
    found = []
    for each in reversed([part for part in text.split(",") if part]):
        kind, _, count = each.partition("=")
        unit = {"M": 1.0, "G": 1024.0, "T": 1024.0**2}.get(count[-1])
        value = round(float(count[:-1]) * unit) if unit else int(count)
        head, _, name = kind.partition("/")
        found.append({"type": head, "name": name, "count": value})
    return found
