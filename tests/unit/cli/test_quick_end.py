"""A command ends without undoing its modules, and loses nothing by it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from tests.support.plain import plain_environment

LEAVES = """
import atexit, sys, threading, time
from wattline.cli import main as commands, start

class Undone:
    def __del__(self):
        print("undone", flush=True)

kept = Undone()

def run():
    atexit.register(print, "asked to be called", flush=False)
    threading.Thread(target=lambda: (time.sleep(0.1), print("the thread is done"))).start()
    print("said")
    sys.stdout.write("and not flushed ")
    {end}

commands.main = run
start.main()
"""


def ended(end: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", LEAVES.format(end=end)], capture_output=True,
                          text=True, check=False, env=plain_environment())


@pytest.mark.parametrize("status", [0, 2])
def test_everything_is_said_and_called_but_nothing_undone(status: int) -> None:
    done = ended(f"sys.exit({status})")
    assert done.returncode == status
    assert done.stdout.split("\n") == [
        "said", "and not flushed the thread is done", "asked to be called", ""]
    assert done.stderr == ""


def test_an_unexpected_failure_ends_as_ever() -> None:
    done = ended("raise RuntimeError('unheard of')")
    assert done.returncode == 1
    assert "RuntimeError: unheard of" in done.stderr
    assert "undone" in done.stdout


@pytest.mark.parametrize("words", [["policies"], ["policies", "--json"]])
def test_a_reader_that_went_away_is_no_failure(words: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-c", "from wattline.cli.start import main; main()", *words]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False,
                          env=plain_environment())
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")
