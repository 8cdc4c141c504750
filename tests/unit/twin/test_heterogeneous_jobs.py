"""Jobs of several parts: none of them is lost, and that each counts alone is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.support.twin_sites import site, submit

from wattline.scenario.twin.asked import PART_OF_SEVERAL
from wattline.shared_nodes.simulate import simulate_shared
from wattline.site.het_jobs import options_of_parts


def test_every_part_runs_with_its_own_cpus(tmp_path: Path) -> None:
    text = submit("-n4 : -n 6 --mem=100 : --ntasks=2", 0, 30) + submit("-n 1", 5)
    found = site(tmp_path, text)
    assert found.made.requests.job_ids == ("1+0", "1+1", "1+2", "2")
    assert found.made.requests.tasks.tolist() == [4, 6, 2, 1]
    assert found.made.requests.run_s.tolist() == [30.0, 30.0, 30.0, 60.0]
    assert [job.user for job in found.log.jobs] == ["ada"] * 4
    assert [job.name for job in found.log.jobs] == ["a.sh"] * 4
    assert any(line.startswith(f"3 jobs: {PART_OF_SEVERAL}") for line in found.lists.not_modelled)
    run = simulate_shared(found.machine, found.made.requests, found.rules)
    assert np.bincount(run.allocation_job, run.allocation_cpus).tolist() == [4, 6, 2, 1]


def test_who_waits_for_such_a_job_waits_for_all_parts(tmp_path: Path) -> None:
    text = submit("-J het_7 -n 1 -sim-walltime 20 : -n 1 -sim-walltime 90") + submit(
        "-J last_8 -n 1 -d afterany:7", 1)
    found = site(tmp_path, text)
    run = simulate_shared(found.machine, found.made.requests, found.rules)
    assert run.start_s[2] >= run.end_s[:2].max() >= 90.0


def test_submissions_of_one_name_are_counted_by_lines(tmp_path: Path) -> None:
    text = submit("-J a_1 -n 1 : -n 1") + submit("-J b_1 -n 1 -a 0-1", 1)
    assert site(tmp_path, text).made.requests.job_ids == ("1+0", "1+1", "2_0", "2_1")


@pytest.mark.parametrize(("words", "found"), [
    ("-n 4 : -n 4 a.sh", [{"ntasks": "4"}, {"ntasks": "4"}]),
    ("-q high -t 5 -p x -n 4 : -N 2 a.sh", [
        {"qos": "high", "time": "5", "partition": "x", "ntasks": "4"},
        {"qos": "high", "time": "5", "nodes": "2"}]),
    ("-n 4 a.sh : -n 4", [{"ntasks": "4"}])])
def test_what_is_not_about_nodes_is_handed_on(words: str, found: list[dict[str, str]]) -> None:
    parts = options_of_parts(words.split(), "here")
    assert [dict(part.values) for part in parts] == found
    assert parts[-1].rest[0] == "a.sh"


def test_a_record_of_accounting_has_the_options_of_its_own_part(tmp_path: Path) -> None:
    header = "JobID|User|Account|Submit|Start|End|NNodes|NodeList|State|ReqTRES|SubmitLine\n"
    times = "2026-01-05T10:00:00|2026-01-05T10:00:01|2026-01-05T10:01:00"
    line = "sbatch -n 4 --mem=100 : -n 2 --mem=300 a.sh"
    rows = [f"9+{part}|ada|phys|{times}|1|n{part + 1}|COMPLETED|cpu={cpus},node=1|{line}\n"
            for part, cpus in enumerate((4, 2))]
    found = site(tmp_path, header + "".join(rows), kind="sacct")
    assert found.made.requests.tasks.tolist() == [4, 2]
    assert found.made.requests.memory_per_node_mb.tolist() == [100, 300]
