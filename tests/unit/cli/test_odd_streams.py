"""Pipes in the place of files, and streams that the caller closed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TINY = Path(__file__).parents[3] / "examples" / "tiny.swf"
PLAIN = {**os.environ, "WATTLINE_PLAIN": "1"}


def simulate(arguments: str, sent: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """In a shell, so that streams can be closed."""
    return subprocess.run(["bash", "-c", f"{sys.executable} -m wattline simulate {arguments}"],
                          input=sent, env=PLAIN, capture_output=True, timeout=120, check=False)


@pytest.mark.parametrize("place", ["-", "/dev/stdin"])
def test_a_log_from_a_pipe_is_told_where_it_goes(place: str) -> None:
    done = simulate(f"{place} --no-folder", TINY.read_bytes())
    assert done.returncode == 2
    assert b"is read with --trace /dev/stdin" in done.stderr
    assert simulate("--trace /dev/stdin --no-folder", TINY.read_bytes()).returncode == 0


def test_a_closed_output_is_said_and_no_failure() -> None:
    done = simulate(f"{TINY} --no-folder >&-")
    assert done.returncode == 0, done.stderr
    assert b"standard output is closed" in done.stderr
    assert b"Traceback" not in done.stderr


def test_closed_errors_leave_the_figures() -> None:
    open_ones, done = simulate(f"{TINY} --no-folder"), simulate(f"{TINY} --no-folder 2>&-")
    assert done.returncode == 0
    assert done.stdout.splitlines()[1:] == open_ones.stdout.splitlines()[1:]  # the first has times
