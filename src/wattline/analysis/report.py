"""The report of one or several runs: one HTML page that needs nothing else, and its pictures.

The page is for someone who was not there: it says in words what was simulated, gives the figures
with their units, and says under each picture how to read it.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattline.analysis import describe, plots
from wattline.analysis.budget import budget_rows
from wattline.analysis.drawing import png
from wattline.analysis.metrics import metrics
from wattline.analysis.naming import named_runs
from wattline.analysis.summary import (
    ENERGY,
    PLAIN,
    TIME,
    Row,
    Scale,
    aligned,
    compare_table,
    number_text,
    ratio_text,
    scale_for,
    time_text,
)
from wattline.model.errors import InputError
from wattline.model.files import write_whole
from wattline.model.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE = "index.html"
_TEMPLATE = "report.html.j2"

Advance = Callable[[float], None]


@dataclass(frozen=True)
class Picture:
    """A picture with its title, how to read it, and the content of its file."""

    file: str
    title: str
    caption: str
    content: bytes

    @property
    def embedded(self) -> str:
        return "data:image/png;base64," + base64.b64encode(self.content).decode()


def report(
    runs: Run | Iterable[Run] | Mapping[str, Run], folder: Path | str,
    advance: Advance | None = None,
) -> Path:
    """Write the page and its pictures into a folder; the path of the page.

    `advance` is told how far the work has come, from 0 to 1.
    """
    runs = named_runs(runs)
    tell = advance or (lambda _: None)
    figures = {name: metrics(run) for name, run in runs.items()}
    tell(0.1)
    common = _drawn(_common_pictures(runs), tell, 0.1, 0.6)
    sections = []
    for number, (name, run) in enumerate(runs.items()):
        part = _run_section(name, run, figures[name], runs, number)
        sections.append(part)
        tell(0.6 + 0.35 * (number + 1) / len(runs))
    page = _render(runs, figures, common, sections)
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
        for picture in [*common, *(section["map"] for section in sections)]:
            write_whole(target / picture.file, picture.content)
        write_whole(target / PAGE, page)
    except OSError as error:
        raise InputError(f"cannot write the report to {target}: {error.strerror}") from error
    tell(1.0)
    return target / PAGE


def _common_pictures(runs: Mapping[str, Run]) -> list[tuple[str, str, str, Callable[[], Figure]]]:
    means = f"The line is the mean of spans of {time_text(plots.span_s(runs, True))}. "
    band = (f"The line is the mean of spans of {time_text(plots.span_s(runs, False))}; the shade "
            "reaches from the lowest to the highest value within each, so no peak is lost. ")
    in_power = band if len(runs) <= plots.MOST_PANELS else means
    in_others = "Line and shade as above. " if len(runs) == 1 else means
    cap = "The dashed line is the cap. " if any(run.cap_w for run in runs.values()) else ""
    return [
        ("power.png", "Power over time",
         f"Power of the whole machine, idle nodes included. {in_power}{cap}",
         lambda: plots.power(runs)),
        ("power-duration.png", "How much of the time at which power",
         "All moments sorted from the highest power to the lowest: read off for which share of "
         "the time the machine drew at least so much. A flat top means that a limit holds.",
         lambda: plots.durations(runs)),
        ("utilisation.png", "Utilisation over time",
         f"Share of the machine given to jobs. {in_others}",
         lambda: plots.utilisation(runs)),
        ("queue.png", "Queue length over time",
         f"Jobs that were submitted and have not started yet. {in_others}A queue that grows and "
         "never empties means that more work arrives than the machine can do.",
         lambda: plots.queue(runs)),
        ("waits.png", "How long jobs wait",
         "For each waiting time, the share of jobs that waited no longer. The higher the curve, "
         "the better; its height at the left end is the share that started at once.",
         lambda: plots.waits(runs)),
    ]


def _drawn(planned: Sequence[tuple[str, str, str, Callable[[], Figure]]], tell: Advance,
           begin: float, end: float) -> list[Picture]:
    pictures = []
    for number, (file, title, caption, draw) in enumerate(planned):
        pictures.append(Picture(file, title, caption, png(draw())))
        tell(begin + (end - begin) * (number + 1) / len(planned))
    return pictures


def _run_section(name: str, run: Run, figures: Mapping[str, Any], runs: Mapping[str, Run],
                 number: int) -> dict[str, Any]:
    suffix = "" if len(runs) == 1 else f"-{number + 1}-{_slug(name)}"
    return {
        "name": name,
        "sentences": describe.sentences(run, figures),
        "map": _map_picture(run, next(iter(runs.values())), suffix),
        "tables": list(_tables(run, figures)),
        "notes": [(key, number_text(value)) for key, value in figures["notes"].items()],
        "fields": list(describe.fields(run.scenario)),
    }


def _map_picture(run: Run, first: Run, suffix: str) -> Picture:
    """The job map, with the colours of the first run's users; without places, use by size."""
    users = plots.top_users(first)
    figure = plots.job_map(run, users)
    if figure is None:
        return Picture(
            f"use-by-size{suffix}.png", "What the machine was used for",
            "Units in use over time, stacked by the size of the jobs that held them. This run did "
            "not record which units each job held, so there is no map of them.",
            png(plots.use_by_size(run)))
    who = ("The users with the most use have a colour of their own, all others are grey."
           if users else "Neighbouring jobs differ in colour.")
    return Picture(
        f"job-map{suffix}.png", "Which job ran where",
        f"Each block is a job: from left to right its time, from bottom to top its units; white "
        f"is free. {who}",
        png(figure))


def _tables(run: Run, figures: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    word = "Nodes" if run.units == run.machine.node_count else "Cores"
    if figures["by_size"]:
        yield _group_table("By job size", word, "nodes", figures["by_size"])
    if figures["fairness"]["users"]:
        count, shown = figures["fairness"]["users"], len(figures["by_user"])
        title = "By user" if count <= shown else f"The {shown} largest of {count:,} users"
        yield _group_table(title, "User", "user", figures["by_user"])
    if len(figures["by_class"]) > 1:
        rows = figures["by_class"]
        columns = [
            ("Class", [row["class"] for row in rows]),
            ("Nodes", [f"{row['nodes']:,}" for row in rows]),
            _column("Energy", ENERGY, [row["energy_j"] for row in rows]),
            ("In use", [_percent(row["busy"]) for row in rows]),
            ("Jobs", ["" if row["jobs"] is None else f"{row['jobs']:,}" for row in rows]),
            _column("Mean wait", TIME, [row["wait_s"]["mean"] for row in rows]),
            _column("Mean slowdown", PLAIN, [row["bounded_slowdown"]["mean"] for row in rows]),
        ]
        yield _table("By node class", columns)
    named = list(budget_rows(run))
    if named:
        yield _table("Beyond the energy budget", list(zip(
            ("Period", "Job", "Energy", "Why"), zip(*named, strict=True), strict=True)))


def _group_table(title: str, head: str, key: str,
                 rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return _table(title, [
        (head, [row[key] for row in rows]),
        ("Jobs", [f"{row['jobs']:,}" for row in rows]),
        ("Share of use", [_percent(row["share"]) for row in rows]),
        _column("Energy", ENERGY, [row["energy_j"] for row in rows]),
        _column("Mean wait", TIME, [row["wait_s"]["mean"] for row in rows]),
        _column("95 % wait", TIME, [row["wait_s"]["p95"] for row in rows]),
        _column("Mean slowdown", PLAIN, [row["bounded_slowdown"]["mean"] for row in rows]),
    ])


def _table(title: str, columns: Sequence[tuple[str, Sequence[str]]]) -> dict[str, Any]:
    return {"title": title, "headers": [head for head, _ in columns],
            "rows": list(zip(*(cells for _, cells in columns), strict=True))}


def _column(head: str, scales: Sequence[Scale],
            values: Sequence[float]) -> tuple[str, Sequence[str]]:
    """A column in one unit, which its head names."""
    scale = scale_for(scales, values)
    unit = f" ({scale.sign})" if scale.sign else ""
    return head + unit, aligned([value / scale.size for value in values])


def _render(runs: Mapping[str, Run], figures: Mapping[str, Mapping[str, Any]],
            common: Sequence[Picture], sections: Sequence[Mapping[str, Any]]) -> str:
    from jinja2 import Environment, StrictUndefined

    rows = compare_table(runs, figures)
    names = list(runs)
    not_run = [figures[name]["jobs"]["not_run"] for name in names]
    unlike = [count != not_run[0] for count in not_run]
    source = resources.files("wattline.analysis").joinpath("templates", _TEMPLATE)
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True,
                              lstrip_blocks=True)
    template = environment.from_string(source.read_text(encoding="utf-8"))
    return template.render(
        title=names[0] if len(names) == 1 else f"{len(names)} runs compared",
        names=names,
        rows=[_summary_cells(row, unlike) for row in rows],
        unlike=[name for name, differs in zip(names, unlike, strict=True) if differs],
        shared_cap=_shares_cap(runs),
        pictures=common,
        sections=sections,
    )


def _summary_cells(row: Row, unlike: Sequence[bool]) -> dict[str, Any]:
    """A run that ran other jobs than the first is not called better or worse than it."""
    cells = [
        {"text": text, "ratio": ratio_text(ratio), "verdict": "" if other else _verdict(row, ratio)}
        for text, ratio, other in zip(row.texts, row.ratios, unlike, strict=True)
    ]
    return {"label": row.label, "unit": row.unit, "cells": cells}


def _verdict(row: Row, ratio: float) -> str:
    """Better or worse than the first run, by more than a thousandth."""
    if not row.better or not math.isfinite(ratio) or abs(ratio - 1) < 1e-3:
        return ""
    return "better" if (ratio < 1) == (row.better == "lower") else "worse"


def _shares_cap(runs: Mapping[str, Run]) -> str:
    """The run whose cap the others are measured by, where some run has none of its own."""
    capped = [name for name, run in runs.items() if run.cap_w is not None]
    return capped[0] if capped and len(capped) < len(runs) else ""


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if math.isfinite(share) else "-"


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:100] or "run"
