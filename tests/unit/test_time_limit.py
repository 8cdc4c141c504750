"""A test that never ends fails: what interrupts it, and what its limit is."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest
from tests.support.plain import ROOT
from tests.support.time_limit import SLURM_S, USUALLY_S, TooLong, limit_s, limited


def endless(pause_s: float) -> None:
    """A loop that computes, or waits, and takes every exception for a reason to try again."""
    while True:
        try:
            time.sleep(pause_s) if pause_s else sum(range(100))
        except Exception:
            continue


@pytest.mark.parametrize("pause_s", [0.0, 0.001])
def test_what_never_ends_is_interrupted_and_named(pause_s: float) -> None:
    with pytest.raises(TooLong, match=r"some test: not done after 0\.05 s"), \
            limited(0.05, "some test"):
        endless(pause_s)


def test_a_busy_machine_is_no_failure() -> None:
    """Three times the limit by the clock, and next to nothing of the processor."""
    with limited(0.1, "some test"):
        time.sleep(0.3)


def test_what_is_done_in_time_is_not_interrupted_afterwards() -> None:
    with limited(0.02, "some test"):
        pass
    began_s = time.process_time(), time.monotonic()
    while time.process_time() - began_s[0] < 0.05 or time.monotonic() - began_s[1] < 0.3:
        sum(range(100))


def test_a_limit_within_another_gives_it_back() -> None:
    around = signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)
    with limited(50.0, "within"):
        assert 40.0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 50.1
    assert signal.getsignal(signal.SIGALRM) == around[0]
    left_s, again_s = signal.getitimer(signal.ITIMER_REAL)
    assert 0 < left_s <= around[1][0] + 0.1  # that of this test itself
    assert again_s == around[1][1]


def test_what_ignores_the_interruption_ends_its_process() -> None:
    """As compiled code does, which looks at no signal until it is done."""
    code = ("import signal, time\n"
            "from tests.support.time_limit import limited\n"
            "with limited(0.02, 'deaf', grace_s=0.3):\n"
            "    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM, signal.SIGALRM})\n"
            "    time.sleep(60)\n")
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 1
    assert "Timeout" in done.stderr
    assert "line 5" in done.stderr


@pytest.mark.parametrize(("marks", "path", "seconds"), [
    (set(), "/x/tests/unit/test_a.py", USUALLY_S),
    ({"waits", "parametrize"}, "/x/tests/unit/test_a.py", USUALLY_S),
    ({"compiled"}, "/x/tests/unit/test_a.py", 1800.0),
    ({"compiled", "long"}, "/x/tests/unit/test_a.py", 10800.0),
    (set(), "/x/tests/slurm/test_a.py", SLURM_S),
    ({"long"}, "/x/tests/slurm/test_a.py", 10800.0),
])
def test_the_limit_follows_from_the_marks(marks: set[str], path: str, seconds: float) -> None:
    assert limit_s(marks, path) == seconds
