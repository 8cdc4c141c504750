"""`--cpu-freq` of jobs: what Slurm says of it, and what the books count."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.controller.test_modes import SITE, OneSlurm

from wattline.controller.configuration import read_configuration
from wattline.controller.controller import Controller
from wattline.controller.frequencies_asked import logged_frequencies
from wattline.controller.serving import serving
from wattline.live.slurm.commands import SlurmError
from wattline.live.slurm.frequencies import ONE_BY_ONE, FrequencyReader, read_frequencies

RECORD = "JobId={job} {more}JobName=a JobState=PENDING StdOut=/dev/null {said} Power="
"""As Slurm 22.05 prints it."""


@pytest.mark.parametrize(("said", "words"), [
    ("CPU_min_freq=2600000 CPU_max_freq=2600000", "2600000-2600000"),
    ("CPU_min_freq=1200000 CPU_max_freq=2400000 Governor=OnDemand", "1200000-2400000:ondemand"),
    ("CPU_max_freq=2000000", "2000000"), ("CPU_max_freq=Low", "low"),
    ("CPU_max_freq=Highm1", "highm1"), ("CPU_min_freq=Medium CPU_max_freq=High", "medium-high"),
    ("Governor=Performance", "performance")])
def test_what_slurm_says_is_what_a_user_may_write(said: str, words: str) -> None:
    assert read_frequencies(RECORD.format(job=7, more="", said=said)) == {"7": words}


def test_jobs_without_and_tasks_of_arrays() -> None:
    lines = [RECORD.format(job=1, more="", said=""),
             RECORD.format(job=10, more="ArrayJobId=10 ArrayTaskId=2-3 ",
                           said="CPU_max_freq=Low"),
             RECORD.format(job=11, more="ArrayJobId=10 ArrayTaskId=1 ", said="CPU_max_freq=Low")]
    assert read_frequencies("\n".join(lines)) == {"10": "low", "10_1": "low"}


def test_each_job_is_asked_for_once_and_stays_the_one_that_it_was() -> None:
    asked: list[list[str]] = []

    def ask(labels: Collection[str]) -> dict[str, str]:
        asked.append(list(labels))
        if len(asked) == 1:
            raise SlurmError("Invalid job id specified")
        return {"1": "low"}

    slurm, reader = OneSlurm(), FrequencyReader()
    for label in ("1", "2"):
        slurm.submit(label)
    jobs = list(slurm.jobs.values())
    assert reader.read(jobs, ask) == jobs
    first, other = reader.read(jobs, ask)
    assert (first.cpu_freq, other) == ("low", jobs[1])
    again = reader.read(jobs, ask)
    assert again[0] is first
    assert asked == [["1", "2"], ["1", "2"]]
    runs = replace(jobs[0], state="RUNNING")
    assert reader.read([runs, jobs[1]], ask)[0] == replace(runs, cpu_freq="low")
    anew = replace(jobs[0], submit_s=jobs[0].submit_s + 60.0)
    reader.read([anew], ask)
    assert asked[2:] == [["1"]], "the number was given again"
    assert ONE_BY_ONE >= 1


@pytest.mark.parametrize(("words", "ghz"), [
    ("1200000-2400000:ondemand", (1.2, 2.4)), ("2000000", (2.0, 2.0)), ("", ()), ("2.4", ())])
def test_frequencies_are_those_of_the_simulator(words: str, ghz: tuple[float, ...]) -> None:
    assert tuple(hz / 1e9 for hz in logged_frequencies(words).values()) == pytest.approx(ghz)


def started(here: Controller, slurm: OneSlurm, words: str) -> float:
    """Return what a job of one node counts with that claims 300 W and asks for this."""
    slurm.submit("1", priority=0, licenses={"watts": 300}, cpu_freq=words)
    here.cycle()
    here.cycle()
    assert slurm.starts == ["1"]
    return here.watcher.booked_w("1")


@pytest.mark.parametrize(("words", "share"), [
    ("", 1.0), ("1200000-1200000", 3.0 / 15.0), ("low", 3.0 / 15.0),
    ("1200000-2000000", 9.0 / 15.0), ("2400000", 1.0), ("high", 1.0), ("performance", 1.0)])
def test_a_job_counts_with_the_power_of_the_highest_frequency_that_it_allows(
    tmp_path: Path, words: str, share: float
) -> None:
    """Cores of 7 W idle and 10, 16, 22 W at 1.2, 2.0, 2.4 GHz; 90 W of the node's 300 W idle."""
    policy = ('[policy]\npower = {name = "adaptive", frequency_ghz = [1.2, 2.0, 2.4], '
              'core_w = [10, 16, 22], idle_core_w = 7}\n')
    (tmp_path / "site.toml").write_text(SITE + policy)
    slurm = OneSlurm()
    with serving(read_configuration(tmp_path / "site.toml"), act=True, slurm=slurm) as here:
        assert started(here, slurm, words) == pytest.approx(90.0 + 210.0 * share)


def test_a_job_that_allows_one_frequency_alone_is_not_slowed_down(tmp_path: Path) -> None:
    """Under 500 W beside three idle nodes there is no room for 300 W: it waits, and another that
    allows less runs slower."""
    site = SITE.replace("cap = 900", "cap = 500")
    (tmp_path / "site.toml").write_text(site + '[policy]\npower = "adaptive"\n')
    slurm = OneSlurm()
    with serving(read_configuration(tmp_path / "site.toml"), act=True, slurm=slurm) as here:
        slurm.submit("1", priority=0, licenses={"watts": 300}, cpu_freq="2400000-2400000")
        slurm.submit("2", priority=0, licenses={"watts": 300}, cpu_freq="1200000-2400000")
        for _ in range(3):
            here.cycle()
        assert slurm.starts in ([], ["2"])
        slurm.jobs.pop("1")
        for _ in range(3):
            here.cycle()
        assert slurm.starts == ["2"]
        assert 90.0 < here.watcher.booked_w("2") < 300.0


def test_where_no_level_is_known_it_is_said_once_and_full_power_counts(tmp_path: Path) -> None:
    with ExitStack() as opened:
        (tmp_path / "site.toml").write_text(SITE)
        slurm, said = OneSlurm(), []
        here = opened.enter_context(serving(read_configuration(tmp_path / "site.toml"), act=True,
                                            slurm=slurm))
        slurm.submit("1", priority=0, licenses={"watts": 300}, cpu_freq="1200000-1200000")
        for _ in range(4):
            said += here.cycle().remarks
        assert [line for line in said if "cpu-freq" in line] == [
            "job 1 asks for --cpu-freq=1200000-1200000: the power policy has no table of "
            "frequencies, so its full power counts"]
        assert here.watcher.booked_w("1") == pytest.approx(300.0)
