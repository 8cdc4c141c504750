"""How long jobs take from the decision to the start, as far as a journal saw it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from wattline.books.events import Key
from wattline.model.units import counted
from wattline.scenario.work_seen import WorkSeen


@dataclass(frozen=True)
class StartDelays:
    """Per job what was seen, otherwise the median of all that were seen."""

    own_s: Mapping[Key, float]
    median_s: float

    @classmethod
    def of(cls, seen: WorkSeen) -> StartDelays:
        """A job whose start was never confirmed has its delay in what counts as its work."""
        whole = dict.fromkeys(seen.asked_s.keys() & seen.ended, 0.0)
        return cls(whole | seen.delay_s, median(seen.delay_s.values()) if seen.delay_s else 0.0)

    def __call__(self, job: Key) -> float:
        return self.own_s.get(job, self.median_s)

    def remarks(self, jobs: Sequence[Key]) -> list[str]:
        """What is assumed of the starts of these jobs; nothing where all start at once."""
        delays_s = [self(job) for job in jobs]
        if not any(delays_s):
            return []
        said = (f"jobs are assumed to start as long after the decision as the journal saw, median "
                f"{self.median_s:g} s, at most {max(delays_s):g} s")
        unseen = sum(job not in self.own_s for job in jobs)
        more = f"; {counted(unseen, 'job')} not seen to start: the median" if unseen else ""
        return [said + more]
