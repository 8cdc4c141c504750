"""Commands as their entry point runs them, in this process."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from wattline.cli.main import main

Capture = pytest.CaptureFixture[str]


class Done(NamedTuple):
    """End of a command, and what it printed."""

    status: int
    out: str
    err: str


def status_of(*words: object) -> int:
    """Run a command and return its status; what it prints is left to whoever captures it."""
    with pytest.raises(SystemExit) as stopped:
        main([str(word) for word in words])
    return int(stopped.value.code or 0)


def call(capsys: Capture, *words: object) -> Done:
    status = status_of(*words)
    captured = capsys.readouterr()
    return Done(status, captured.out, captured.err)


def ok(capsys: Capture, *words: object) -> str:
    """Return what a command prints that must end well."""
    status, out, err = call(capsys, *words)
    assert status == 0, err
    return out


def refused(capsys: Capture, *words: object) -> str:
    """The one line of a command that must be refused."""
    status, _, err = call(capsys, *words)
    assert status == 2, err
    assert err.startswith("wattline: ")
    assert err.count("\n") == 1
    return err
