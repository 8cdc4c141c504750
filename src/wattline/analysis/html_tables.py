"""Runs as small HTML tables, for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from wattline.analysis.metrics import metrics
from wattline.analysis.summary import summary_rows
from wattline.model.run import Run


def html_table(headers: Sequence[str], rows: Iterable[Sequence[str]], notes: Iterable[str]) -> str:
    """A table, and below it what must be known of its figures."""
    head = "".join(f"<th>{escape(text)}</th>" for text in headers)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in rows)
    said = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return (f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            + (f"<ul>{said}</ul>" if said else ""))


def run_html(run: Run) -> str:
    """The figures that people look at first, and what they rest on."""
    return html_table((run.name, ""), summary_rows(metrics(run), run), run.remarks)
