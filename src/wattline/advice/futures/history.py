"""What a supervisor drew run times from: at each look, the jobs that were over by then."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from wattline.advice.futures.run_times import FEW, RunTimes
from wattline.analysis.summary import time_text
from wattline.model.jobs import JobTable
from wattline.model.units import counted


class Look(NamedTuple):
    """The history of one look ahead."""

    time_s: float
    over: int
    """Jobs that were over by then."""
    asked: int
    """Those of them that had a requested time, so that they show how it and the true one differ."""
    drawn: int
    """Those that run times were drawn from; 0: jobs ran as requested."""


@dataclass
class History:
    """What the looks of a run had to draw from; all of it is of the same log."""

    looks: list[Look] = field(default_factory=list)
    since_s: float | None = None
    """When the first job was submitted that run times were drawn from; None: there was none."""

    def note(self, time_s: float, times: RunTimes, over: JobTable, some_unasked: bool) -> None:
        """A look, the jobs that were over, and whether jobs without a request were drawn, too."""
        drawn = times.over if some_unasked else times.count
        self.looks.append(Look(time_s, times.over, times.count, drawn))
        if drawn:
            first_s = float(over.submit_s.min())
            self.since_s = first_s if self.since_s is None else min(self.since_s, first_s)

    @property
    def said(self) -> tuple[str, ...]:
        """The same in a sentence; nothing where nobody looked ahead."""
        if not self.looks:
            return ()
        if self.since_s is None:
            return ("run times of looks ahead are as requested: at none of "
                    f"{counted(len(self.looks), 'look')} a job was over that had a requested time",)
        first, last = self.looks[0], self.looks[-1]
        text = ("run times of looks ahead are drawn from the jobs of this log that were over at "
                f"each, from the one submitted at {time_text(self.since_s)} on: "
                f"{counted(first.drawn, 'job')} at the first look ({time_text(first.time_s)}), "
                f"{counted(last.drawn, 'job')} at the last ({time_text(last.time_s)})")
        few, none = self.few, self.none
        if few:
            text += f"; at {few:,} of {counted(len(self.looks), 'look')} they were fewer than {FEW}"
        if none:
            text += f"; at {none:,} there were none, and jobs ran as requested"
        return (text,)

    @property
    def few(self) -> int:
        """Looks whose history says little: some jobs, and not many."""
        return sum(0 < look.drawn < FEW for look in self.looks)

    @property
    def none(self) -> int:
        return sum(look.drawn == 0 for look in self.looks)

    def to_dict(self) -> dict[str, Any]:
        """As part of what `wattline advise policy --follow --json` prints."""
        ends = {"first_look": self.looks[0], "last_look": self.looks[-1]} if self.looks else {}
        return {"source": "jobs of the log that were over at each look", "since_s": self.since_s,
                "looks": len(self.looks), "looks_with_few": self.few,
                "looks_with_none": self.none,
                **{name: look._asdict() for name, look in ends.items()}}
