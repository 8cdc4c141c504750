"""Marks through a pipe and a file, without an agent behind them."""

from __future__ import annotations

import os
import subprocess
import time

import pytest

from wattline.live.agent import marks as marks_module
from wattline.live.agent.marks import NOTED, PIPE, SCRIPT, Marks, mark
from wattline.model.errors import InputError, WattlineError


def test_names_come_in_their_order_and_once(tmp_path):
    marks = Marks(tmp_path)
    mark(tmp_path, "12")
    mark(tmp_path, "13_4.batch")
    assert marks.jobs() == ["12", "13_4.batch"]
    assert marks.jobs() == []
    marks.close()


def test_what_is_no_name_is_left_out_and_harms_no_other(tmp_path):
    marks = Marks(tmp_path)
    with (tmp_path / "mark").open("wb") as pipe:
        pipe.write(b"\n" + b"x" * 5000 + b"\n\x00\x01\n12\n1")
    assert marks.jobs() == ["12"]
    with (tmp_path / "mark").open("wb") as pipe:
        pipe.write(b"3\n")
    assert marks.jobs() == ["13"]
    marks.close()


def test_without_an_agent_it_is_said_and_nothing_waits(tmp_path):
    with pytest.raises(WattlineError, match="no agent runs"):
        mark(tmp_path, "12")
    Marks(tmp_path).close()
    with pytest.raises(WattlineError, match="nobody reads"):
        mark(tmp_path, "12")


@pytest.mark.parametrize("job", ["", "a\nb", "x" * 41])
def test_a_name_that_cannot_be_one_is_refused(tmp_path, job):
    with pytest.raises(InputError, match="printable"):
        mark(tmp_path, job)


def prolog(folder, job, context="prolog_slurmd"):
    """Do what Slurm's prolog or epilog does on a node."""
    env = {**os.environ, "SLURM_JOB_ID": job, "SLURM_SCRIPT_CONTEXT": context}
    subprocess.run(["sh", "-c", f'agent="{folder}"\n{SCRIPT}'], env=env, check=True, timeout=10)


@pytest.fixture
def counters(tmp_path):
    """Two counters, as powercap and pm_counters show them."""
    files = [tmp_path / "energy_uj", tmp_path / "energy"]
    files[0].write_text("123456\n")
    files[1].write_text("5640 J 1731627000000000 us\n")
    return files


def test_prolog_and_epilog_note_what_the_counters_show_and_wake_the_agent(tmp_path, counters):
    marks = Marks(tmp_path, counters)
    prolog(tmp_path, "4711")
    counters[0].write_text("999999\n")
    prolog(tmp_path, "4711", "epilog_slurmd")
    assert os.read(marks.fileno(), 10) == b"\n\n"
    begin, end = marks.noted()
    assert (begin.job, begin.shown) == ("begin 4711", (123456.0, 5640.0))
    assert (end.job, end.shown) == ("end 4711", (999999.0, 5640.0))
    assert 0.0 <= end.steady_s - begin.steady_s < 5.0
    assert -0.02 <= time.monotonic() - end.steady_s < 5.0  # uptime has two digits
    marks.close()


def test_marks_that_came_without_an_agent_are_there_for_the_next_and_once(tmp_path, counters):
    Marks(tmp_path, counters).close()
    prolog(tmp_path, "1")
    first = Marks(tmp_path, counters)
    assert [each.job for each in first.noted()] == ["begin 1"]
    first.close()  # killed before it was done with them
    second = Marks(tmp_path, counters)
    assert [each.job for each in second.noted()] == ["begin 1"]
    second.done()
    second.close()
    third = Marks(tmp_path, counters)
    assert third.noted() == []
    prolog(tmp_path, "2")
    assert [each.job for each in third.noted()] == ["begin 2"]
    third.close()


def test_what_is_no_mark_in_the_file_is_left_out(tmp_path):
    marks = Marks(tmp_path)
    with (tmp_path / "marks").open("a") as file:
        file.write("nonsense\nbegin 7 x\nmiddle 7 1.0\nbegin 8 1.0\nbegin 9")
    assert [each.job for each in marks.noted()] == ["begin 8"]
    marks.done()
    with (tmp_path / "marks").open("a") as file:
        file.write(" 1.0\n")
    assert [each.job for each in marks.noted()] == ["begin 9"]
    marks.close()


def test_a_long_file_of_marks_is_begun_anew_and_loses_none(tmp_path, monkeypatch):
    monkeypatch.setattr(marks_module, "LARGEST_BYTES", 20)
    monkeypatch.setattr(marks_module, "LAST_WRITER_S", 0.0)
    marks, found = Marks(tmp_path), []
    for job in range(12):
        prolog(tmp_path, str(job))
        found += [each.job for each in marks.noted()]
        marks.done()
    for _ in range(3):
        found += [each.job for each in marks.noted()]
        marks.done()
    assert found == [f"begin {job}" for job in range(12)]
    assert (tmp_path / "marks").stat().st_size < 100
    marks.close()


def test_marks_from_before_a_boot_have_no_time_and_are_let_go(tmp_path, monkeypatch):
    marks = Marks(tmp_path)
    prolog(tmp_path, "1")
    marks.noted()
    marks.done()
    prolog(tmp_path, "2")
    marks.close()
    monkeypatch.setattr(marks_module, "boot_id", lambda: "another")
    after = Marks(tmp_path)
    assert after.noted() == []
    after.close()


def test_only_the_agent_s_own_user_may_mark_a_job(tmp_path) -> None:
    """Whoever could write there would give joules to other jobs; whatever the mask of files is."""
    before = os.umask(0)
    try:
        marks = Marks(tmp_path)
    finally:
        os.umask(before)
    try:
        assert {name: (tmp_path / name).stat().st_mode & 0o777 for name in (PIPE, NOTED)} == {
            PIPE: 0o600, NOTED: 0o600}
    finally:
        marks.close()
