"""A job's joules where its user finds them: in a comment of Slurm's accounting.

Slurm changes comments of jobs that have ended through `sacctmgr` alone, which makes capital letters
small. So nobody's text is touched that has some: the joules then go where there is none.

A job is named by its label (`33_3`): the last task of an array has the array's own number, as the
first part of a heterogeneous job has that of the whole, and by it `sacctmgr` changes all of them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from wattline.live.slurm.commands import Commands, SlurmError
from wattline.live.slurm.reading import fresh_separator

FIELDS = ("AdminComment", "SystemComment")
"""Of operators and of the system; the user's own comment is never written to."""
WORD = "energy="
LOOK_S = 0.5


@dataclass(frozen=True)
class Commenter:
    """Writes joules behind what is there."""

    commands: Commands

    def say(self, label: str, energy_j: float, patience_s: float = 0.0) -> str:
        """Say it once; what must be known where it cannot be. Raises where Slurm fails.

        Not before accounting knows that the job is over: that news would take what is written with
        it. `patience_s` is how long that is waited for.
        """
        text = f"{WORD}{energy_j:.0f}j"
        until_s = time.monotonic() + patience_s
        while (found := self._comments(label)) is None:
            if time.monotonic() >= until_s:
                raise SlurmError(f"accounting does not know yet that job {label} is over")
            time.sleep(LOOK_S)
        if any(WORD in each for each in found):
            return ""
        for name, before in zip(FIELDS, found, strict=True):
            if _survives(before):
                self.commands.run("sacctmgr", "-i", "modify", "job", "where", f"jobid={label}",
                                  "set", f"{name}={f'{before}; {text}' if before else text}")
                return ""
        return (f"job {label}: its {energy_j:.0f} J are in no comment, because Slurm would change "
                "what is written there")

    def _comments(self, label: str) -> list[str] | None:
        """Of its last life; None where that is not over by Slurm's accounting."""
        separator = fresh_separator()
        said = self.commands.run("sacct", "-n", "-X", "-P", "--delimiter", separator, "-j",
                                 label, "-o", f"JobID,End,{','.join(FIELDS)}")
        rows = [line.split(separator) for line in said.splitlines()]
        mine = [row[1:] for row in rows if row[0] == label and len(row) == 2 + len(FIELDS)]
        if not mine or mine[-1][0] == "Unknown":
            return None
        return mine[-1][1:]


def _survives(text: str) -> bool:
    """Whether `sacctmgr` writes it back as it is."""
    return text == text.lower() and not set(text) & set("'\"\\\n,")
