"""Slurm's commands: run with a time limit, in UTC, and never believed blindly."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from wattline.live.slurm.meanwhile import Meanwhile
from wattline.model.errors import InputError, WattlineError

PATIENCE_S = 15.0


class SlurmError(WattlineError):
    """A command failed, or gave no answer in time. It may have done half of what it was told."""


@dataclass(frozen=True)
class Commands:
    """Runs Slurm's commands for one cluster.

    Times are asked for in UTC, so that no clock change of the site can be misread; tasks of arrays
    in full, since what is cut off says how many may run at once.
    """

    environment: Mapping[str, str] = field(default_factory=dict)
    """Such as SLURM_CONF, where Slurm is not configured for the whole machine."""
    patience_s: float = PATIENCE_S
    meanwhile: Meanwhile = field(default_factory=Meanwhile, repr=False, compare=False)
    """What is done while a command runs, and between commands."""

    def run(self, *command: str) -> str:
        """What a command prints; a `SlurmError` in one line where it fails."""
        program = shutil.which(command[0], path=self.environment.get("PATH"))
        if program is None:
            raise InputError(f"there is no command {command[0]} here: Slurm's commands are needed "
                             "(Debian package slurm-client)")
        env = {**os.environ, **self.environment, "TZ": "UTC", "SLURM_TIME_FORMAT": "standard",
               "SLURM_BITSTR_LEN": "0"}
        self.meanwhile.look()
        try:
            process = subprocess.Popen(
                [program, *command[1:]], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True, errors="replace", env=env)
        except OSError as error:
            raise SlurmError(f"{_shown(command)} could not be run: {error}") from None
        with process:
            try:
                done = self._ended(process)
            except subprocess.TimeoutExpired:
                process.kill()
                raise SlurmError(f"{_shown(command)} gave no answer in {self.patience_s:g} s"
                                 ) from None
            except BaseException:
                process.kill()
                raise
        if done.returncode:
            raise SlurmError(f"{_shown(command)} failed: {_last_line(done)}")
        return done.stdout

    def _ended(self, process: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
        """What came of it; a `TimeoutExpired` where it takes longer than our patience."""
        until_s = time.monotonic() + self.patience_s
        while True:
            left_s = until_s - time.monotonic()
            try:
                said, complained = process.communicate(
                    timeout=max(min(left_s, self.meanwhile.wait_s()), 0.0))
            except subprocess.TimeoutExpired:
                if left_s <= 0.0:
                    raise
                self.meanwhile.look()
            else:
                return subprocess.CompletedProcess(process.args, process.returncode, said,
                                                   complained)


def _shown(command: Sequence[str]) -> str:
    text = " ".join(command[:3])
    return text if len(text) <= 60 else f"{text[:57]}..."


def _last_line(done: subprocess.CompletedProcess[str]) -> str:
    lines = (done.stderr or done.stdout).strip().splitlines()
    return lines[-1] if lines else f"exit status {done.returncode}"
