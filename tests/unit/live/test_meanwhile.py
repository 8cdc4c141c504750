"""Urgent work is done while commands run, by the thread that waits for them alone."""

from __future__ import annotations

import threading
import time

import pytest

from wattline.live.slurm.commands import Commands, SlurmError


def test_it_is_done_while_a_command_runs_and_its_answer_is_whole() -> None:
    commands, times_s = Commands(), []
    with commands.meanwhile.doing(lambda: times_s.append(time.monotonic()), 0.1):
        began_s = time.monotonic()
        assert commands.run("sh", "-c", "echo one; sleep 0.5; echo two") == "one\ntwo\n"
        assert 2 <= len(times_s) <= (time.monotonic() - began_s) / 0.1
        commands.meanwhile.done()
        before = len(times_s)
        commands.run("true")
        assert len(times_s) == before, "it was done just now"
    time.sleep(0.15)
    commands.run("true")
    assert len(times_s) == before, "it is over"


def test_many_short_commands_do_not_keep_it_waiting_either() -> None:
    commands, times_s = Commands(), []
    with commands.meanwhile.doing(lambda: times_s.append(time.monotonic()), 0.1):
        began_s = time.monotonic()
        while time.monotonic() - began_s < 0.5:
            commands.run("true")
    assert len(times_s) >= 2


def test_commands_of_its_own_and_of_other_threads_do_not_do_it_again() -> None:
    commands, threads = Commands(), []

    def do() -> None:
        threads.append(threading.get_ident())
        commands.run("sleep", "0.2")

    with commands.meanwhile.doing(do, 0.05):
        other = threading.Thread(target=commands.run, args=("sleep", "0.3"))
        other.start()
        other.join()
        assert threads == []
        commands.run("sleep", "0.1")
    assert set(threads) == {threading.get_ident()}


def test_patience_ends_and_what_fails_is_not_taken_for_the_command() -> None:
    commands = Commands(patience_s=0.3)
    with commands.meanwhile.doing(lambda: None, 0.05):
        began_s = time.monotonic()
        with pytest.raises(SlurmError, match=r"gave no answer in 0\.3 s"):
            commands.run("sleep", "5")
        assert time.monotonic() - began_s < 2.0

    def full() -> None:
        raise OSError(28, "No space left on device")

    with commands.meanwhile.doing(full, 0.05), pytest.raises(OSError, match="No space"):
        commands.run("sleep", "5")
