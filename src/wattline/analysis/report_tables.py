"""The tables of a report: texts for people, and beside them the values that they are sorted by."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wattline.analysis.budget import budget_rows
from wattline.analysis.summary import (
    ENERGY,
    PLAIN,
    TIME,
    ComparedFigure,
    Scale,
    aligned,
    lookup,
    ratio_text,
    scale_for,
)
from wattline.model.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_PERIODS = 400
"""So many periods of an energy budget stand in a report; `metrics.json` has them all."""


@dataclass(frozen=True)
class Cell:
    """A text, and the number that it stands for; None where it is sorted as the text that it is."""

    text: str
    value: float | None = None

    @property
    def key(self) -> str | None:
        """The number for the page's script: empty where there is none to compare."""
        if self.value is None:
            return None
        return f"{self.value:.10g}" if math.isfinite(self.value) else ""


@dataclass(frozen=True)
class Table:
    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Chapter:
    """A part of a report that another room adds: sentences, a picture and tables."""

    title: str
    sentences: tuple[str, ...]
    tables: tuple[Table, ...]
    picture_title: str
    caption: str
    draw: Callable[[bool], Figure]
    """The picture; `True` asks for one that can be read on a narrow screen."""


Column = tuple[str, Sequence[Cell]]
Rows = Sequence[Mapping[str, Any]]


def tables(
    name: str, runs: Mapping[str, Run], all_figures: Mapping[str, Mapping[str, Any]]
) -> Iterator[Table]:
    """The breakdowns of a run: by size, user, class, and what went beyond its budget.

    A column has one unit in the tables of all runs, which are read beside one another.
    """
    def rows_of(key: str) -> Rows:
        return [row for found in all_figures.values() for row in found[key]]

    run, figures = runs[name], all_figures[name]
    word = "Nodes" if run.units == run.machine.node_count else "Cores"
    if figures["by_size"]:
        # Sizes are sorted by their place: as texts 1,024 would come before 2.
        yield _group_table("By job size", figures["by_size"], rows_of("by_size"), word, [
            Cell(row["nodes"], place) for place, row in enumerate(figures["by_size"])])
    if figures["fairness"]["users"]:
        count, shown = figures["fairness"]["users"], len(figures["by_user"])
        title = "By user" if count <= shown else f"The {shown} largest of {count:,} users"
        yield _group_table(title, figures["by_user"], rows_of("by_user"), "User", [
            Cell(row["user"]) for row in figures["by_user"]])
    if len(figures["by_class"]) > 1:
        yield _class_table(figures["by_class"], rows_of("by_class"))
    if _periods(run):
        yield _period_table(run, [row for each in runs.values() for row in _periods(each)])
    named = list(budget_rows(run))
    if named:
        yield table_of("Beyond the energy budget", [
            ("Period", [Cell(row[0]) for row in named]),
            ("Job", [Cell(row[1]) for row in named]),
            ("Energy", [Cell(row[2], row[3]) for row in named]),
            ("Why", [Cell(row[4]) for row in named]),
        ])


def _periods(run: Run) -> Rows:
    return [{**row, "begins_s": row["start_s"] - run.start_s}
            for row in run.budget.get("by_period", ())[:MOST_PERIODS]]


def _period_table(run: Run, every: Rows) -> Table:
    rows, count = _periods(run), run.budget["periods"]
    title = "Energy budget by period"
    title += "" if count == len(rows) else f", the first {len(rows):,} of {count:,}"
    charged = [row for row in rows if "charged_j" in row]
    return table_of(title, [
        ("Period", [count_cell(row["period"]) for row in rows]),
        _column_of(rows, every, "Begins", TIME, "begins_s"),
        _column_of(rows, every, "Budget", ENERGY, "budget_j"),
        _column_of(rows, every, "Drawn", ENERGY, "energy_j"),
        *([_column_of(charged, every, "Charged", ENERGY, "charged_j")] if charged else []),
    ])


def _class_table(rows: Rows, every: Rows) -> Table:
    return table_of("By node class", [
        ("Class", [Cell(row["class"]) for row in rows]),
        ("Nodes", [count_cell(row["nodes"]) for row in rows]),
        _column_of(rows, every, "Energy", ENERGY, "energy_j"),
        ("In use", [_percent(row["busy"]) for row in rows]),
        ("Jobs", [count_cell(row["jobs"]) for row in rows]),
        _column_of(rows, every, "Mean wait", TIME, "wait_s.mean"),
        column("Mean slowdown", PLAIN, [row["bounded_slowdown"]["mean"] for row in rows]),
    ])


def _group_table(title: str, rows: Rows, every: Rows, head: str, named: Sequence[Cell]) -> Table:
    return table_of(title, [
        (head, named),
        ("Jobs", [count_cell(row["jobs"]) for row in rows]),
        ("Share of use", [_percent(row["share"]) for row in rows]),
        _column_of(rows, every, "Energy", ENERGY, "energy_j"),
        _column_of(rows, every, "Mean wait", TIME, "wait_s.mean"),
        _column_of(rows, every, "95 % wait", TIME, "wait_s.p95"),
        column("Mean slowdown", PLAIN, [row["bounded_slowdown"]["mean"] for row in rows]),
    ])


def table_of(title: str, columns: Sequence[Column]) -> Table:
    return Table(title, tuple(head for head, _ in columns),
                 tuple(zip(*(cells for _, cells in columns), strict=True)))


def _column_of(rows: Rows, every: Rows, head: str, scales: Sequence[Scale], key: str) -> Column:
    """A figure of each row, in the unit that suits the rows of all runs."""
    return column(head, scales, [lookup(row, key) for row in rows],
                  [lookup(row, key) for row in every])


def column(head: str, scales: Sequence[Scale], values: Sequence[float],
           among: Sequence[float] | None = None) -> Column:
    """A column in one unit, which its head names: that of all the values that these are among."""
    scale = scale_for(scales, values if among is None else among)
    unit = f" ({scale.sign})" if scale.sign else ""
    texts = aligned([value / scale.size for value in values])
    return head + unit, [Cell(text, value) for text, value in zip(texts, values, strict=True)]


def count_cell(number: int | None) -> Cell:
    return Cell("", math.nan) if number is None else Cell(f"{number:,}", number)


def _percent(share: float) -> Cell:
    return Cell(f"{100 * share:.1f} %" if math.isfinite(share) else "-", share)


@dataclass(frozen=True)
class SummaryCell:
    """A figure of one run, its ratio to the first run's, and whether that is better or worse."""

    text: str
    ratio: Cell
    verdict: str


def summary_cells(row: ComparedFigure, unlike: Sequence[bool]) -> list[SummaryCell]:
    """A run that ran other jobs than the first is not called better or worse than it."""
    return [
        SummaryCell(text, Cell(ratio_text(ratio), ratio), "" if other else _verdict(row, ratio))
        for text, ratio, other in zip(row.texts, row.ratios, unlike, strict=True)
    ]


def _verdict(row: ComparedFigure, ratio: float) -> str:
    """Better or worse than the first run, by more than a thousandth."""
    if not row.better or not math.isfinite(ratio) or abs(ratio - 1) < 1e-3:
        return ""
    return "better" if (ratio < 1) == (row.better == "lower") else "worse"
