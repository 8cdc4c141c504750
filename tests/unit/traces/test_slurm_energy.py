"""Joules, lives and states of a `sacct -D` dump: nothing twice, nothing lost without a word."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from tests.support.commands import call, ok

from wattline.site.slurm_energy import Step, measured_j, tres_joules
from wattline.traces import read, write

COLUMNS = ("JobID|JobIDRaw|User|Account|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|NNodes|"
           "NodeList|AllocTRES|ConsumedEnergyRaw")
NO_VALUE, NO_VALUE_64 = 2**32 - 2, 2**64 - 2


def row(
    job: str, state: str, start: int, end: int | None, nodes: str, *, tres: object = "",
    energy: object = 0,
) -> str:
    """Times are minutes after eight."""
    def clock(minute: int) -> str:
        return f"2024-03-01T{8 + minute // 60:02d}:{minute % 60:02d}:00"

    elapsed = 60 * ((start + 30 if end is None else end) - start)
    count = {"n1": 1, "n[1-2]": 2, "n[1-4]": 4}[nodes]
    alloc = f"billing=64,cpu=64,energy={tres},mem=2G,node={count}" if tres else f"node={count}"
    return "|".join(map(str, (
        job, job, "ann", "physics", state, clock(0), clock(start),
        "Unknown" if end is None else clock(end), elapsed, 120, count, nodes, alloc, energy)))


WITH_STEPS = [  # 14,352,000 J if the steps were added up
    row("100.batch", "COMPLETED", 10, 70, "n1", energy=2_880_000),
    row("100.extern", "COMPLETED", 10, 70, "n[1-2]", energy=5_760_000),
    row("100.0", "COMPLETED", 11, 69, "n[1-2]", energy=5_712_000),
]
DUMP = [
    row("100", "COMPLETED", 10, 70, "n[1-2]", tres=5_760_000, energy=NO_VALUE), *WITH_STEPS,
    row("200", "REQUEUED", 10, 40, "n1"),
    row("200.batch", "CANCELLED", 10, 40, "n1", energy=540_000),
    row("200.extern", "COMPLETED", 10, 40, "n1", energy=540_000),
    row("200", "COMPLETED", 50, 110, "n1"),
    row("200.batch", "COMPLETED", 50, 110, "n1", energy=1_080_000),
    row("200.extern", "COMPLETED", 50, 110, "n1", energy=1_080_000),
    row("300", "RUNNING", 20, None, "n1"),
    row("300.batch", "RUNNING", 20, None, "n1", energy=700_000),
    row("400", "NODE_FAIL", 20, 30, "n1"), row("500", "CANCELLED by 7", 20, 30, "n1"),
    row("600", "FAILED", 20, 30, "n1"),
]


def dump(tmp_path: Path, *rows: str) -> Path:
    path = tmp_path / "sacct.txt"
    path.write_text("\n".join([COLUMNS, *rows]) + "\n")
    return path


def joules(path: Path) -> dict[tuple[int, int], float]:
    jobs = read(path).jobs
    return {(int(i), int(r)): float(p * t) for i, r, p, t in zip(
        jobs.job_id, jobs.restart, jobs.power_w, jobs.run_s, strict=True)}


def test_a_job_has_the_joules_of_its_tres_and_not_those_of_all_its_steps(tmp_path: Path) -> None:
    assert joules(dump(tmp_path, *DUMP))[100, 0] == pytest.approx(5_760_000)


@pytest.mark.parametrize("unknown", ["", 0, NO_VALUE, NO_VALUE_64])
def test_without_them_the_steps_count_once_on_each_node(tmp_path: Path, unknown: object) -> None:
    job = row("100", "COMPLETED", 10, 70, "n[1-2]", tres=unknown, energy=unknown)
    path = dump(tmp_path, job, *WITH_STEPS)
    assert joules(path) == {(100, 0): pytest.approx(5_760_000)}
    assert read(path).cleaning.count("unreadable") == 0


def test_lives_of_a_requeued_job_keep_its_number_and_their_own_joules(tmp_path: Path) -> None:
    path = dump(tmp_path, *DUMP)
    found = joules(path)
    assert found[200, 0] == pytest.approx(540_000)
    assert found[200, 1] == pytest.approx(1_080_000)
    assert {job for job, _ in found} == {100, 200, 400, 500, 600}
    # Sorted by other hands, the steps stand apart from their lives.
    again = joules(dump(tmp_path, *sorted(DUMP)))
    assert again == pytest.approx(found, nan_ok=True)


def test_the_same_record_twice_is_told(tmp_path: Path) -> None:
    assert read(dump(tmp_path, *DUMP)).cleaning.count("duplicate_id") == 0
    assert read(dump(tmp_path, *DUMP, *DUMP)).cleaning.count("duplicate_id") == 8


@pytest.mark.parametrize("suffix", [".swf", ".csv", ".parquet"])
def test_lives_and_states_survive_a_conversion(tmp_path: Path, suffix: str) -> None:
    trace = read(dump(tmp_path, *DUMP))
    write(trace, tmp_path / f"out{suffix}")
    again = read(tmp_path / f"out{suffix}", strict=suffix != ".csv")
    for name in ("job_id", "restart", "status", "power_w"):
        assert getattr(again.jobs, name).tolist() == pytest.approx(
            getattr(trace.jobs, name).tolist(), nan_ok=True)
    if suffix == ".swf":  # field 11 stays within the codes of the format
        lines = (tmp_path / "out.swf").read_text().splitlines()
        assert {line.split()[10] for line in lines if line[0] != ";"} <= {"0", "1", "5"}


def test_running_jobs_are_left_out_with_a_count_and_their_joules(tmp_path: Path, capsys) -> None:
    path = dump(tmp_path, *DUMP)
    out = ok(capsys, "trace", "info", path)
    assert "rule running left out 1 job with 700,000 J (194.4 Wh)" in out
    found = json.loads(ok(capsys, "trace", "convert", path, tmp_path / "o.swf", "--json"))
    rule = next(rule for rule in found["cleaning"]["rules"] if rule["name"] == "running")
    assert (rule["jobs"], rule["energy_j"]) == (1, pytest.approx(700_000))


def test_account_of_a_simulation_keeps_states_and_says_what_it_lacks(
    tmp_path: Path, capsys
) -> None:
    path = dump(tmp_path, *DUMP)
    status, _, err = call(capsys, "simulate", "--trace", path, "--nodes", 8, "--node-idle-w", 90,
                          "--node-active-w", 300, "--out", tmp_path / "run")
    assert status == 0
    assert "Joules left out: 700,000 J" in err
    words = ("account", tmp_path / "run", "-X", "-P", "-n")
    status, out, err = call(capsys, *words, "-o", "JobID,Restarts,State")
    assert out.splitlines() == ["100|0|COMPLETED", "200|0|REQUEUED", "200|1|COMPLETED",
                                "400|0|NODE_FAIL", "500|0|CANCELLED", "600|0|FAILED"]
    assert err.count("\n") == 1
    assert "1 job of the log with 700,000 J (194.4 Wh) left out of the run" in err
    # By a store too, with totals of all that ran, the cancelled one included.
    store = tmp_path / "s.db"
    ok(capsys, "account", tmp_path / "run", "--store", store)
    found = json.loads(ok(capsys, "account", "--store", store, "--by", "user", "--json"))
    assert found["left_out"]["running"] == {"jobs": 1, "energy_j": pytest.approx(700_000)}
    assert found["totals"][0]["jobs"] == 6


def test_the_run_folder_says_how_a_job_ended_by_its_log(tmp_path: Path, capsys) -> None:
    from pyarrow import parquet

    ok(capsys, "simulate", "--trace", dump(tmp_path, *DUMP), "--nodes", 8, "--out",
       tmp_path / "run")
    table = parquet.read_table(tmp_path / "run" / "jobs.parquet")
    states = dict(zip(table["job_id"].to_pylist(), table["state"].to_pylist(), strict=True))
    assert states[400] == "NODE_FAIL"
    assert states[600] == "FAILED"


def test_tasks_of_arrays_get_numbers_that_no_job_of_slurm_has(tmp_path: Path) -> None:
    rows = [row(name, "COMPLETED", 10, 20, "n1") for name in ("103_1", "103_2", "104+1", "105")]
    jobs = read(dump(tmp_path, *rows)).jobs
    assert sorted(jobs.job_id.tolist()) == [105, 2**32, 2**32 + 1, 2**32 + 2]
    assert not jobs.restart.any()


def step(start_s: float, end_s: float, nodes: str, energy_j: float) -> Step:
    return Step("1", 0, start_s, end_s, nodes, energy_j)


def test_steps_that_overlap_are_one_counter_and_steps_apart_are_added_up() -> None:
    whole = step(0, 100, "n1", 90)
    assert measured_j([whole, step(0, 50, "n1", 40), step(50, 100, "n1", 60)]) == 100
    assert measured_j([whole, step(0, 50, "n1", 40), step(40, 100, "n1", 60)]) == 90
    # n1 has 90 of the whole step and n2 30 of the other, which lies in time beside it.
    assert measured_j([whole, step(0, 100, "n2", 30)]) == 120
    # Nodes that are not named, and times that are not known, may be the same: the larger counts.
    assert measured_j([whole, step(0, 100, "", 30)]) == 90
    assert measured_j([whole, step(math.nan, math.nan, "n1", 95)]) == 95
    assert measured_j([whole, step(0, 100, "n[1-99999999999]", 30)]) == 120  # taken as one name


def test_joules_of_json_steps_count_once_as_well(tmp_path: Path) -> None:
    def steps(*energies: int) -> list[dict[str, object]]:
        return [{"time": {"start": {"set": True, "number": 1000}, "end": 1600},
                 "nodes": {"range": "n1"}, "statistics": {"energy": {"consumed": energy}}}
                for energy in energies]

    def job(number: int, *energies: int, tres: int = NO_VALUE) -> dict[str, object]:
        return {"job_id": number, "state": {"current": ["COMPLETED"]}, "allocation_nodes": 1,
                "time": {"submission": 900, "start": 1000, "end": 1600, "elapsed": 600},
                "tres": {"allocated": [{"type": "energy", "count": tres}]},
                "steps": steps(*energies)}

    path = tmp_path / "jobs.json"
    path.write_text(json.dumps({"jobs": [
        job(1, 60_000, 60_000, 57_000), job(2, 60_000, tres=61_000), job(3, NO_VALUE),
        job(1, 6_000)]}))
    assert joules(path) == {(1, 0): 60_000, (2, 0): 61_000, (3, 0): pytest.approx(math.nan,
                            nan_ok=True), (1, 1): 6_000}


@pytest.mark.parametrize(("text", "energy_j"), [
    ("cpu=1,energy=12,node=1", 12), ("energy=5.5K", 5500), ("gres/energy=7", math.nan),
    ("energy=0", math.nan), ("energy=..", math.nan), (None, math.nan)])
def test_energy_among_tres(text: str | None, energy_j: float) -> None:
    assert tres_joules(text) == pytest.approx(energy_j, nan_ok=True)
