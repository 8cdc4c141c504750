"""One process without the compiler is kept for what is short: searches, journals, replays."""

import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

import wattline as wl
from wattline.engine import at_once, plain_process
from wattline.engine.composed import composed
from wattline.engine.plain_process import call_plain
from wattline.engine.prepare import Rules
from wattline.engine.simulate import made_ready
from wattline.model.machine import Machine
from wattline.policies.admission.none import NoLimit

EXAMPLE = Path(__file__).parents[3] / "examples" / "tiny.swf"


@pytest.fixture
def allowed(monkeypatch):
    monkeypatch.setattr(plain_process, "may_start_processes", lambda: True)
    monkeypatch.setattr(plain_process, "PATIENCE_S", 0.2)
    yield
    plain_process._end()


@pytest.mark.usefixtures("allowed")
def test_the_next_question_goes_to_the_same_process_until_one_fails(tmp_path, monkeypatch):
    first = call_plain(os.getpid)
    assert first not in (None, os.getpid())
    monkeypatch.chdir(tmp_path)
    assert call_plain(os.getcwd) == str(tmp_path)
    assert call_plain(len, lambda: 0) is None  # nobody else can import it
    assert call_plain(os.getpid) == first
    assert call_plain(os.listdir, tmp_path / "nothing") is None
    second = call_plain(os.getpid)
    assert second not in (None, first)
    plain_process._end()
    assert not any(Path(f"/proc/{process}").exists() for process in (first, second))


@pytest.mark.usefixtures("allowed")
def test_the_answer_to_a_question_that_was_given_up_is_not_taken_for_the_next():
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(KeyboardInterrupt):
            call_plain(time.sleep, 30.0)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert call_plain(len, "four") == 4


@pytest.mark.usefixtures("allowed")
def test_a_combination_that_is_run_often_is_compiled_beside_it_once(monkeypatch):
    begun = []
    monkeypatch.setattr(at_once, "begin", lambda module, sent: begun.append(module))
    monkeypatch.setattr(at_once, "_begun", set())
    trace = wl.generate("lublin", seed=1, jobs=20, nodes=32)
    machine = Machine.uniform(32)
    ends = []
    for _ in range(2):
        parts = made_ready(trace.jobs, machine, composed(NoLimit()), Rules())
        state, *_ = at_once.run_plain(parts)
        ends.append(state.live.end_s.tolist())
    assert begun == ["wattline.engine.at_once"]
    assert ends[0] == ends[1]
    assert max(ends[0]) > 0


@pytest.mark.parametrize(("cycles", "plain"), [(at_once.MOST_CYCLES // 2, True),
                                               (at_once.MOST_CYCLES + 1, False)])
def test_a_contract_with_many_control_cycles_waits_for_the_compiler(monkeypatch, cycles, plain):
    monkeypatch.setattr(at_once, "may_start_processes", lambda: True)
    monkeypatch.setattr(at_once, "is_compiled", lambda *parts: False)
    asked = []
    monkeypatch.setattr("wattline.engine.simulate.run_plain", asked.append)  # and gives None
    wl.regulate(workload="W4", servers=10, duration=f"{cycles} s", warmup="0 s", cycle_s=1,
                bid=(2000, 300), seed=1)
    assert bool(asked) is plain


def test_a_short_journal_is_written_and_asked_again_without_compiling(tmp_path):
    """In a process that would compile, with an empty cache."""
    quick = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "WATTLINE_AT_ONCE": "1",
             "WATTLINE_PLAIN": ""}

    commands = (["simulate", str(EXAMPLE), "--order", "sjf", "--journal", "beside.journal"],
                ["replay", "beside.journal"])
    both = subprocess.run(
        [sys.executable, "-c", "from wattline.cli.main import cli\n"
         f"for words in {commands}: cli.main(words, standalone_mode=False)"],
        cwd=tmp_path, text=True, env=quick, capture_output=True, check=True)
    assert "every decision is the same" in both.stdout
    assert "compil" not in both.stderr
    assert both.stdout.startswith("tiny: 12 jobs\n")  # without seconds that nobody measured
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wl.WattlineWarning)
        wl.simulate(EXAMPLE, order="sjf", journal=tmp_path / "here.journal")
    written, told = ((tmp_path / name).read_bytes() for name in ("beside.journal", "here.journal"))
    assert written == told
