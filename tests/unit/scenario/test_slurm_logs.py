"""Runs of Slurm's own records: their sizes in nodes, their times in dates."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import wattline as wl
from wattline.model.errors import InputError
from wattline.traces.reader import is_log

SACCT = """JobID|User|Account|Submit|Start|End|State|NNodes|NCPUS|ElapsedRaw|TimelimitRaw
1|ann|phys|2023-05-01T10:00:00|2023-05-01T10:00:00|2023-05-01T12:00:00|COMPLETED|2|32|7200|200
2|bob|chem|2023-05-01T11:00:00|2023-05-01T11:00:00|2023-05-01T12:00:00|COMPLETED|3|48|3600|200
"""
PRICES = """Datetime (UTC),Price (EUR/MWh)
2023-05-01T09:00:00,1000
2023-05-01T11:00:00,100
2023-05-01T12:00:00,9
"""
WATTS = {"node_idle_w": 90, "node_active_w": 300}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "sacct.txt"
    path.write_text(SACCT)
    (tmp_path / "prices.csv").write_text(PRICES)
    return path


@pytest.mark.parametrize("cores", [1, 8, 16])
def test_a_job_has_as_many_nodes_as_slurm_says_however_many_cores_they_have(log, cores) -> None:
    """Processors that Slurm counts may be threads; its nodes are nodes."""
    machine = wl.Machine(nodes=8, cores_per_node=cores, **WATTS)
    run = wl.simulate(trace=log, machine=machine)
    assert run.schedule.nodes.tolist() == [2, 3]
    assert run.schedule.energy_j.tolist() == [2 * 300 * 7200.0, 3 * 300 * 3600.0]
    capped = wl.simulate(trace=log, machine=machine, power="block", cap="99%peak")
    assert capped.power_w_peak <= 0.99 * run.power_w_peak


def test_on_a_machine_shared_by_cores_the_processors_count(log) -> None:
    machine = wl.Machine(nodes=8, cores_per_node=16, granularity="core", **WATTS)
    assert wl.simulate(trace=log, machine=machine).schedule.nodes.tolist() == [32, 48]


def test_prices_are_those_of_the_dates_at_which_jobs_ran(log) -> None:
    """600 W for an hour at 1 EUR and one at 0.1 EUR a kWh, and 900 W for one at 0.1 EUR."""
    run = wl.simulate(trace=log, machine=wl.Machine(nodes=8, **WATTS))
    found = wl.account_run(run, price=str(log.parent / "prices.csv"))
    assert [job["cost"] for job in found.jobs] == pytest.approx([0.6 + 0.06, 0.09])
    assert any("dates" in note for note in found.price_notes)


def test_prices_that_end_before_the_first_job_are_refused(log) -> None:
    old = log.parent / "old.csv"
    old.write_text(PRICES.replace("2023", "2013"))
    run = wl.simulate(trace=log, machine=wl.Machine(nodes=8, **WATTS))
    with pytest.raises(InputError, match="ends before the first job"):
        wl.account_run(run, price=str(old))
    plain = log.parent / "plain.csv"
    plain.write_text("time_s,Price (EUR/MWh)\n0,100\n3600,90\n")
    with pytest.raises(InputError, match="no dates"):
        wl.account_run(run, price=str(plain))


def test_a_log_is_one_whatever_its_file_is_called(log) -> None:
    assert len(wl.simulate(log, machine=wl.Machine(nodes=8, **WATTS)).jobs) == 2
    other = log.with_name("jobs.log")
    other.write_bytes(Path("examples/tiny.swf").read_bytes())
    assert len(wl.simulate(other).jobs) == 12


def test_a_pipe_is_not_read_to_find_out_what_it_is(tmp_path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDWR)
    try:
        os.write(end, b"; SWF\n")
        assert not is_log(pipe)
        assert os.read(end, 100) == b"; SWF\n"
    finally:
        os.close(end)
