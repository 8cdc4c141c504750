"""Long options of sbatch may be shortened, as getopt_long has it; counts of nothing are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.twin_sites import site, submit

from wattline.model.errors import InputError
from wattline.scenario.twin.from_events import read_events
from wattline.site.sbatch import IGNORED, node_range, options_of
from wattline.site.sbatch_names import OTHERS, SBATCH, whole_name


@pytest.mark.parametrize(("short", "whole"), [
    ("part", "partition"), ("partition", "partition"), ("time", "time"),
    ("time-m", "time-min"), ("mem", "mem"), ("mem-per-c", "mem-per-cpu"),
    ("acco", "account"), ("job", "job-name"), ("excls", "excls"), ("exclus", "exclusive"),
    ("unbuf", "unbuffered"), ("kill-on-b", "kill-on-bad-exit"), ("jobid", "jobid"),
])
def test_a_unique_beginning_is_enough(short: str, whole: str) -> None:
    assert whole_name(short, "line") == whole


@pytest.mark.parametrize("short", ["node", "ntask", "tim", "par"])
def test_a_beginning_of_several_options_is_refused(short: str) -> None:
    with pytest.raises(InputError, match=f"{short} could be .* or "):
        whole_name(short, "line")


def test_options_of_a_line_are_known_by_their_whole_names() -> None:
    found = options_of(["--part=debug", "--constr", "fast", "--excl-nothing=4", "a.sh"], "line")
    assert found.values == {"partition": "debug", "constraint": "fast", "excl-nothing": "4"}
    assert found.rest == ("a.sh",)


def test_every_option_that_is_read_or_left_is_among_the_known_ones() -> None:
    from wattline.scenario.twin.options import _READERS

    assert {*_READERS, *IGNORED} <= {*SBATCH, *OTHERS}


@pytest.mark.parametrize(("text", "said"), [
    ("0", "must be at least 1"), ("0-4", "must be at least 1"),
    ("3-1", r"the most \(1\) is less than the fewest \(3\)")])
def test_a_number_of_nodes_that_none_can_be_is_refused(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        node_range(text, "line")
    assert node_range("1-3", "line") == (1, 3)


@pytest.mark.parametrize("options", [
    "-n 0", "-c 0", "-N 0", "--ntasks-per-node=0", "-N 3-1", "--exclusive=nobody"])
def test_a_submission_that_sbatch_would_refuse_names_its_line(
    options: str, tmp_path: Path
) -> None:
    log = tmp_path / "day.events"
    log.write_text(submit("-n 1 -t 5") + submit(f"{options} -t 5"))
    with pytest.raises(InputError, match=r"day\.events:2: "):
        read_events(log)


def test_kinds_of_exclusive_are_kept_or_counted(tmp_path: Path) -> None:
    kinds = ("", "=user", "=mcs", "=TOPO", "=mcs")
    found = site(tmp_path, "".join(submit(f"-n 1 -t 5 --exclusive{kind}") for kind in kinds))
    requests = found.made.requests
    assert requests.exclusive.tolist() == [True, False, False, False, False]
    assert requests.own_user.tolist() == [False, True, False, False, False]
    said = [line for line in found.lists.not_modelled if "option exclusive" in line]
    assert said == ["2 jobs: nothing is done with the option exclusive=mcs (3, 5)",
                    "1 job: nothing is done with the option exclusive=topo (4)"]


def test_ids_of_submissions_count_lines_and_tasks_have_the_arrays(tmp_path: Path) -> None:
    log = tmp_path / "day.events"
    log.write_text(submit("-n 1 -t 5 -a 1-9:4%2") + submit("-n 1 -t 5 -d afterok:1 -J second"))
    jobs = read_events(log).jobs
    assert [job.job_id for job in jobs] == ["1_1", "1_5", "1_9", "2"]
    assert [job.array_limit for job in jobs[:3]] == [2, 2, 2]
    log.write_text(submit("-n 1 -t 5 -a 0,3 -J run_7") + submit("-n 1 -t 5 -J run_8"))
    assert [job.job_id for job in read_events(log).jobs] == ["7_0", "7_3", "8"]
    log.write_text(submit("-n 1 -t 5 -a 0,3 -J run_2") + submit("-n 1 -t 5 -a 0,3"))
    assert [job.job_id for job in read_events(log).jobs] == ["1_0", "1_3", "2_0", "2_3"]


def test_a_job_waits_for_all_tasks_of_an_array(tmp_path: Path) -> None:
    log = submit("-n 1 -t 5 -a 1-5:2") + submit("-n 1 -t 5 -d afterok:1") + submit(
        "-n 1 -t 5 -d afterok:1_3")
    waits = site(tmp_path, log).made.requests.dependencies
    assert waits is not None
    lists = [waits.awaited[low:high].tolist()
             for low, high in zip(waits.first, waits.first[1:], strict=False)]
    assert lists == [[0, 1, 2], [1]]
