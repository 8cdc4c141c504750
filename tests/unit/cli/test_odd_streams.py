"""Pipes in the place of files, and streams that the caller closed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.in_shell import in_shell

TINY = Path(__file__).parents[3] / "examples" / "tiny.swf"
PLAIN = {**os.environ, "WATTLINE_PLAIN": "1"}


def simulate(arguments: str, sent: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """In a shell, so that streams can be closed."""
    return subprocess.run(["bash", "-c", f"{sys.executable} -m wattline simulate {arguments}"],
                          input=sent, env=PLAIN, capture_output=True, timeout=120, check=False)


@pytest.mark.parametrize("place", ["-", "/dev/stdin"])
def test_a_log_from_a_pipe_is_told_where_it_goes(place: str) -> None:
    log, here = TINY.read_text(), Path.cwd()
    done = in_shell("simulate", place, "--no-folder", folder=here, sent=log)
    assert done.returncode == 2
    assert "is read with --trace /dev/stdin" in done.stderr
    told = ("simulate", "--trace", "/dev/stdin", "--no-folder")
    assert in_shell(*told, folder=here, sent=log).returncode == 0


def test_a_closed_output_is_said_and_no_failure() -> None:
    done = simulate(f"{TINY} --no-folder >&-")
    assert done.returncode == 0, done.stderr
    assert b"standard output is closed" in done.stderr
    assert b"Traceback" not in done.stderr


def test_closed_errors_leave_the_figures() -> None:
    open_ones = in_shell("simulate", str(TINY), "--no-folder", folder=Path.cwd())
    done = simulate(f"{TINY} --no-folder 2>&-")
    assert done.returncode == 0
    said, usual = done.stdout.decode().splitlines(), open_ones.stdout.splitlines()
    assert len(said) > 1
    assert said[1:] == usual[1:]  # the first has times
