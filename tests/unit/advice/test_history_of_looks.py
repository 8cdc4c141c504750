"""A supervised run says what its run times were drawn from."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tests.unit.advice.test_no_requests import swf

import wattline as wl
from wattline.advice.futures.history import History
from wattline.advice.futures.run_times import RunTimes
from wattline.cli.main import cli
from wattline.model.jobs import JobTable

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
ASKED = {"candidates": ["sjf"], "every": "10m", "samples": 1, "horizon": "1h",
         "arrivals": "none"}


@pytest.mark.parametrize("requests", [0, 25, 60])
def test_every_look_counts_the_jobs_that_were_over_by_then(tmp_path: Path, requests: int) -> None:
    found = wl.self_tune(swf(tmp_path / "log.swf", requests=requests), **ASKED,
                         machine=wl.Machine(nodes=4))
    end_s = found.run.schedule.end_s
    looks = found.history.looks
    assert len(looks) == found.decisions > 5
    for look in looks:
        over = end_s <= look.time_s
        assert look.over == over.sum()
        assert look.asked == over[:requests].sum()
        assert look.drawn in ({look.over} if requests == 0 else {look.asked, look.over})
    assert found.history.since_s == found.run.jobs.submit_s.min()
    (said,) = found.history.said
    assert said in found.assumed
    assert said in found.run.remarks
    assert f"{looks[0].drawn} job" in said
    assert f"{looks[-1].drawn} jobs at the last" in said
    told = found.to_dict()["run_times"]
    assert told["first_look"] == looks[0]._asdict()
    assert told["last_look"]["over"] == looks[-1].over
    assert told["looks_with_few"] == sum(0 < look.drawn < 30 for look in looks)


def jobs(*submit_s: float, requested_s: float = 20.0) -> JobTable:
    return JobTable.build(submit_s=list(submit_s), run_s=[5.0] * len(submit_s),
                          requested_s=[requested_s] * len(submit_s), procs=[1] * len(submit_s))


def test_nothing_is_said_where_nobody_looked() -> None:
    history = History()
    assert history.said == ()
    assert history.to_dict()["looks"] == 0
    assert history.to_dict()["since_s"] is None


@pytest.mark.parametrize("some_unasked", [False, True])
def test_a_history_without_requests_is_one_for_jobs_without_them_alone(some_unasked: bool) -> None:
    over = jobs(7.0, 9.0)
    history = History()
    history.note(100.0, RunTimes(over, np.ones(2, dtype=bool)), over, some_unasked)
    assert history.looks[0].drawn == (2 if some_unasked else 0)
    assert history.since_s == (7.0 if some_unasked else None)
    assert ("as requested" in history.said[0]) is not some_unasked


def test_looks_with_few_jobs_and_with_none_are_told_apart() -> None:
    history = History()
    for count in (0, 3, 40):
        over = jobs(*map(float, range(2, 2 + count)))
        history.note(1000.0 + count, RunTimes(over), over, False)
    (said,) = history.said
    assert (history.none, history.few, history.since_s) == (1, 1, 2.0)
    assert "0 jobs at the first look" in said
    assert "40 jobs at the last" in said
    assert "at 1 of 3 looks they were fewer than 30" in said
    assert "at 1 there were none, and jobs ran as requested" in said


def test_the_command_says_it_too(tmp_path: Path) -> None:
    log = str(swf(tmp_path / "log.swf", requests=60))
    asked = ["advise", "policy", "--trace", log, "--nodes", "4", "--follow", "30m", "--samples",
             "1", "--horizon", "1h", "--arrivals", "none", "--candidates", "sjf"]
    told = CliRunner().invoke(cli, [*asked, "--json"])
    assert told.exit_code == 0, told.output
    assert json.loads(told.stdout)["run_times"]["last_look"]["drawn"] > 30
    shown = CliRunner().invoke(cli, asked)
    assert "note: run times of looks ahead are drawn from the jobs of this log" in shown.output
