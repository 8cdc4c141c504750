"""One measured job: its power over time, steps, nodes, and how its joules are known."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattline.account.measured.doubts import apart_said, suspects_said, told_twice
from wattline.account.measured.listing import facts_of, step_rows
from wattline.account.measured.questions import Conditions, life_rows
from wattline.account.measured.records import Source
from wattline.account.measured.remarking import suspect_j_by, too_much, too_much_said
from wattline.account.store import Store
from wattline.advice.measured import check_clusters, open_ledger
from wattline.model.errors import InputError, warn
from wattline.model.shown import Shown
from wattline.model.units import joules_text

if TYPE_CHECKING:
    import pandas as pd

Stretch = tuple[float, float, float]
"""From, to, watts."""


@dataclass(frozen=True, eq=False, repr=False)
class MeasuredJob(Shown):
    """The lives of a job, or of the tasks of an array, as the ledger knows them.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import wattline as wl
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "dump.txt").write_text(
    ...     "JobID|Account|State|Start|End|NNodes|NodeList|AllocTRES\\n"
    ...     "7|phys|COMPLETED|2026-10-05T10:00:00|2026-10-05T11:00:00|1|n1|energy=720000\\n")
    >>> told = wl.account_import(folder / "dump.txt", store=folder / "site.db", zone="UTC")
    >>> job = wl.account_job(7, folder / "site.db")
    >>> job.job, job.energy_j, len(job.lives)
    ('7', 720000.0, 1)
    """

    job: str
    lives: tuple[dict[str, Any], ...]
    """Each with what was told of it, `power` (from, to, watts), `steps` and `nodes`."""
    energy_j: float
    remarks: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {"job": self.job, "energy_j": self.energy_j, "lives": list(self.lives),
                "remarks": list(self.remarks)}

    def to_pandas(self) -> pd.DataFrame:
        """A row per stretch of time of a life, with its watts."""
        import pandas as pd

        return pd.DataFrame(
            [{"cluster": life["cluster"], "job": life["job"], "life_start_s": life["start_s"],
              "start_s": first, "end_s": last, "power_w": watts}
             for life in self.lives for first, last, watts in life["power"]],
            columns=["cluster", "job", "life_start_s", "start_s", "end_s", "power_w"])

    def plot(self, path: str | Path) -> Path:
        """Draw the power over time (.png, .svg, .pdf)."""
        from wattline.advice.measured_job_plot import draw_measured_job

        return draw_measured_job(self, Path(path))


def account_job(
    job: str | int, store: str | Path, *, clusters: Iterable[str] = ()
) -> MeasuredJob:
    """Show one job of the measured ledger: power over time, steps, nodes, source and coverage.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import wattline as wl
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "dump.txt").write_text(
    ...     "JobID|User|State|Start|End|NNodes|NodeList|AllocTRES\\n"
    ...     "7|ann|COMPLETED|2026-10-05T10:00:00|2026-10-05T11:00:00|1|n1|energy=720000\\n")
    >>> _ = wl.account_import(folder / "dump.txt", store=folder / "site.db", zone="UTC")
    >>> [life] = wl.account_job(7, folder / "site.db").lives
    >>> life["source"], [watts for _, _, watts in life["power"]]
    ('slurm', [200.0])
    """
    text = str(job).strip()
    with closing(open_ledger(store)) as opened:
        asked = Conditions(jobs=(text.partition(".")[0],), clusters=tuple(clusters))
        check_clusters(opened, asked.clusters)
        rows = life_rows(opened, asked)
        if not rows:
            raise InputError(f"the ledger has no job {text}; `wattline account show` lists those "
                             "that it has")
        steps = step_rows(opened, asked)
        lives = tuple(_life(opened, row, steps.get(row["id"], [])) for row in rows)
        doubts = [*too_much_said(too_much(opened, asked)), *_apart(rows),
                  *_suspects(opened, lives)]
    found = MeasuredJob(text, lives, sum(life["energy_j"] or 0.0 for life in lives),
                        (*_remarks(lives), *doubts))
    warn(found.remarks)
    return found


def _life(
    store: Store, row: dict[str, Any], steps: list[dict[str, Any]]
) -> dict[str, Any]:
    facts = facts_of(store, row["id"])
    counting = [fact for fact in facts if fact["counts"]]
    named = sorted({fact["node"] for fact in counting if fact["node"]})
    return {
        "cluster": row["cluster"], "job": row["label"], "start_s": row["start_s"],
        "end_s": row["end_s"], "seen_s": row["seen_s"],
        **{name: row[name] for name in (
            "user", "account", "partition", "application", "state", "node_list", "energy_j",
            "coverage", "source", "quality", "frequency_hz", "alloc_tres")},
        "node_count": row["nodes"],
        "filled_j": sum(fact["filled_j"] for fact in counting),
        "idle_j": sum(fact["idle_j"] for fact in counting),
        "power": power_over_time(
            (fact["start_s"], fact["end_s"], fact["energy_j"] / _seen_part(fact))
            for fact in counting),
        "steps": [{name: step[name] for name in ("step", "start_s", "end_s", "energy_j", "source")}
                  for step in steps],
        "nodes": [{"node": node, "energy_j": sum(fact["energy_j"] for fact in counting
                                                 if fact["node"] == node),
                   "covered_s": sum(fact["covered_s"] for fact in counting
                                    if fact["node"] == node)} for node in named],
        "series_coverage": _series_coverage(row, facts),
        "sources": {source: sum(fact["energy_j"] for fact in facts
                                if fact["source"] == source and not fact["step"])
                    for source in sorted({fact["source"] for fact in facts})},
    }


def _seen_part(fact: dict[str, Any]) -> float:
    """The part of a stretch in which a node's meter was seen: the watts are those of that time."""
    length_s = fact["end_s"] - fact["start_s"]
    if fact["source"] != Source.SERIES or not 0 < fact["covered_s"] < length_s:
        return 1.0
    return float(fact["covered_s"] / length_s)


def _series_coverage(row: dict[str, Any], facts: list[dict[str, Any]]) -> float | None:
    """The share of its node-seconds that meters cover; None where none does."""
    covered = [fact["covered_s"] for fact in facts
               if fact["source"] == "series" and not fact["step"]]
    until_s = next(row[name] for name in ("end_s", "seen_s", "start_s") if row[name] is not None)
    node_s = max(1, row["nodes"]) * (until_s - row["start_s"])
    return min(1.0, sum(covered) / node_s) if covered and node_s > 0 else None


def _set_aside(life: dict[str, Any]) -> str:
    """Why the meters' joules do not count, and how far they are from those that do."""
    metered_j, counted_j = life["sources"]["series"], life["energy_j"]
    return (f"job {life['job']}: the meters of its nodes cover {life['series_coverage'] or 0:.1%} "
            f"and have {joules_text(metered_j)}, {metered_j / counted_j - 1:+.1%} of what counts")


def power_over_time(rows: Iterable[Stretch]) -> list[Stretch]:
    """Rows of joules as watts over time, those of several nodes added up; gaps stay gaps."""
    import numpy as np

    timed = [(start_s, end_s, energy_j / (end_s - start_s)) for start_s, end_s, energy_j in rows
             if end_s > start_s]
    edges = sorted({edge for start_s, end_s, _ in timed for edge in (start_s, end_s)})
    place = {edge: at for at, edge in enumerate(edges)}
    watts, held = np.zeros(max(0, len(edges) - 1)), np.zeros(max(0, len(edges) - 1), dtype=bool)
    for start_s, end_s, power_w in timed:
        watts[place[start_s] : place[end_s]] += power_w
        held[place[start_s] : place[end_s]] = True
    return [(edges[at], edges[at + 1], float(watts[at])) for at in np.flatnonzero(held)]


def _apart(rows: Iterable[dict[str, Any]]) -> list[str]:
    names = ("label", "source", "energy_j", "told_j", "coverage")
    found = [twice for row in rows if (twice := told_twice(*(row[name] for name in names)))]
    return [apart_said(found)] if found else []


def _suspects(store: Store, lives: Iterable[dict[str, Any]]) -> list[str]:
    """On readings of its nodes that look like faults, in the hours of the job."""
    lines = []
    for life in lives:
        if life["source"] == Source.SERIES and life["power"]:
            hours = Conditions(clusters=(life["cluster"],), start_s=life["power"][0][0],
                               end_s=life["power"][-1][1])
            found = suspect_j_by(store, hours, [row["node"] for row in life["nodes"]])
            lines += [suspects_said(found)] if found else []
    return lines


def _remarks(lives: tuple[dict[str, Any], ...]) -> list[str]:
    lines = []
    if any(life["source"] == "slurm" for life in lives):
        lines.append("of a job that only Slurm tells of, the mean power is known and not its "
                     "course")
    lines += [_set_aside(life) for life in lives
              if life["source"] != "series" and "series" in life["sources"]]
    unknown = sum(life["energy_j"] is None for life in lives)
    if unknown:
        lines.append(f"lives of which no source knows the joules: {unknown}")
    return lines
