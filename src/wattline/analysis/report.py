"""The report of one or several runs: one HTML page that needs nothing else, and its pictures.

The page is for someone who was not there: it says in words what was simulated, gives the figures
with their units, and says under each chart how to read it. Where scripts are off it shows the
pictures instead of the charts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from wattline.analysis import charts, describe
from wattline.analysis.describe import as_sentence
from wattline.analysis.metrics import metrics
from wattline.analysis.naming import named_runs
from wattline.analysis.other_caps import cap_notes
from wattline.analysis.pages import render
from wattline.analysis.report_pictures import (
    FORMS,
    Picture,
    Still,
    common_pictures,
    in_widths,
    map_picture,
    still,
)
from wattline.analysis.report_tables import Chapter, summary_cells, tables
from wattline.analysis.scenario_fields import fields
from wattline.analysis.summary import compare_table, number_text
from wattline.model.errors import InputError
from wattline.model.files import possible_path, write_whole
from wattline.model.run import Run

PAGE = "index.html"
_TEMPLATE = "analysis/report.html.j2"

Advance = Callable[[float], None]


def report(
    runs: Run | Iterable[Run] | Mapping[str, Run], folder: Path | str,
    advance: Advance | None = None, pictures: str = "png", *, chapters: Sequence[Chapter] = (),
) -> Path:
    """Write the page and its pictures into a folder; the path of the page.

    A name that ends in `.html` is that of the page, which is then written alone.

    `advance` is told how far the work has come, from 0 to 1; `pictures` is the form of the files
    beside the page: `png`, `svg` or `pdf`. `chapters` follow the runs.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=20, nodes=32)
    >>> run = wl.simulate(trace, machine=wl.Machine(nodes=32, node_idle_w=90, node_active_w=300))
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     page = wl.report(run, f"{folder}/report")
    >>> page.name
    'index.html'
    """
    if pictures not in FORMS:
        raise InputError(f"pictures are {', '.join(FORMS)}, not '{pictures}'")
    target = possible_path(folder)
    alone = target.suffix.lower() in (".html", ".htm")
    runs = named_runs(runs)
    tell = advance or (lambda _: None)
    figures = {name: metrics(run) for name, run in runs.items()}
    tell(0.1)
    common = []
    for number, planned in enumerate(common_pictures(runs)):
        common.append(planned.drawn(pictures))
        tell(0.1 + 0.1 * (number + 1))
    sections = []
    for number, (name, run) in enumerate(runs.items()):
        suffix = "" if len(runs) == 1 else f"-{number + 1}-{_slug(name)}"
        drawn = map_picture(run, runs, suffix).drawn(pictures)
        sections.append(_run_section(name, runs, figures, drawn))
        tell(0.6 + 0.35 * (number + 1) / len(runs))
    added = [{"of": each, "widths": in_widths(each.draw, str(number))}
             for number, each in enumerate(chapters, 1)]
    beside = [] if alone else [*common, *(section["map"] for section in sections),
                               *(_still(each, number, pictures)
                                 for number, each in enumerate(chapters, 1))]
    written = target if alone else target / PAGE
    _write(written, _render(runs, figures, common, sections, added, alone), beside)
    tell(1.0)
    return written


def _still(chapter: Chapter, number: int, form: str) -> Still:
    return still(chapter.draw(False), f"chapter-{number}-{_slug(chapter.title)}", form)


def _write(target: Path, page: str, pictures: Iterable[Still]) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        for picture in pictures:
            write_whole(target.parent / picture.file, picture.content)
        write_whole(target, page)
    except OSError as error:
        raise InputError(f"cannot write the report to {target}: {error.strerror}") from error


def _run_section(name: str, runs: Mapping[str, Run], all_figures: Mapping[str, Mapping[str, Any]],
                 drawn: Picture) -> dict[str, Any]:
    run, figures = runs[name], all_figures[name]
    return {
        "name": name,
        "sentences": describe.sentences(run, figures),
        "map": drawn,
        "tables": list(tables(name, runs, all_figures)),
        "notes": [(key, number_text(value)) for key, value in figures["notes"].items()],
        "fields": list(fields(run.scenario)),
    }


def _render(runs: Mapping[str, Run], figures: Mapping[str, Mapping[str, Any]],
            common: Sequence[Picture], sections: Sequence[Mapping[str, Any]],
            added: Sequence[Mapping[str, Any]], alone: bool) -> str:
    rows = compare_table(runs, figures)
    names = list(runs)
    not_run = [figures[name]["jobs"]["not_run"] for name in names]
    unlike = [count != not_run[0] for count in not_run]
    drawn = [picture.chart for picture in (*common, *(section["map"] for section in sections))]
    return render(
        _TEMPLATE,
        {"clock": charts.time_axis(runs).range, "charts": [chart.to_dict() for chart in drawn]},
        title=names[0] if len(names) == 1 else f"{len(names)} runs compared",
        names=names,
        alone=alone,
        rows=[(row, summary_cells(row, unlike)) for row in rows],
        unlike=[name for name, differs in zip(names, unlike, strict=True) if differs],
        cap_notes=[as_sentence(note) for note in cap_notes(runs)],
        pictures=common,
        sections=sections,
        chapters=added,
    )


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:100] or "run"
