"""Published figures beside ours, a row each, and the page that shows the rows of one document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path

VERDICTS: Mapping[str, str] = {
    "holds": "as published",
    "holds on average": "not at every point",
    "holds in part": "part of a published range, or more than it",
    "holds, larger": "the same direction, more of it, up to five times as much",
    "holds, smaller": "the same direction, less of it, down to half",
    "fitted": "agrees because something that is not printed was inferred from it",
    "fails": "tried, and not found",
    "not reproduced": "not tried, or not possible here",
}
"""The verdicts of all pages, each with what it means."""
NEAR = 1.5
"""A figure of up to so many times the published one, or down to that part, is the same, where a
study does not know better."""
LARGEST, SMALLEST = 5.0, 0.5
"""One of more than so many times, or of less than that part, is another figure."""


def judge(said: float, found: float, *, same: bool | None = None) -> str:
    """The verdict on a gain, a loss or a count: its direction and its size beside the published.

    `same` says whether the two count as equal, where that is known better than by their ratio.

    >>> [judge(10.0, found) for found in (12.0, 30.0, 6.0, 3.0, 60.0, -10.0)]
    ['holds', 'holds, larger', 'holds, smaller', 'fails', 'fails', 'fails']
    """
    ratio = found / said
    if 1 / NEAR <= ratio <= NEAR if same is None else same:
        return "holds"
    if not SMALLEST <= ratio <= LARGEST:
        return "fails"
    return "holds, larger" if ratio > 1 else "holds, smaller"


@dataclass(frozen=True)
class PublishedFigure:
    """A published figure, what we found, and whether that agrees."""

    section: str
    """Where it is printed: a section, a figure or a table of the document."""
    what: str
    published: str
    ours: str
    verdict: str
    why: str
    """The reason where it does not hold, or what must be known where it does."""

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"the verdict '{self.verdict}' of '{self.what}' is none of: "
                             + "; ".join(VERDICTS))

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


def rows_from(tuples: Iterable[Sequence[str]]) -> tuple[PublishedFigure, ...]:
    """Rows of what a study returns: section, what, published, ours, verdict, why."""
    return tuple(PublishedFigure(*(str(cell) for cell in one)) for one in tuples)


def count_verdicts(rows: Iterable[PublishedFigure]) -> dict[str, int]:
    """How many rows have each verdict; all verdicts, in their order."""
    given = [row.verdict for row in rows]
    return {verdict: given.count(verdict) for verdict in VERDICTS}


def page(
    name: str, title: str, rows: Sequence[PublishedFigure], *, small: bool = False,
    data: bool = False,
    measured: Sequence[str] = (), same: str = "",
) -> str:
    """The page of one document, in Markdown.

    `same` says which figures count as equal. `data`: it was made with public measurements;
    `measured`: its figures are those kept with the package, and these commands made them.
    """
    counts = {verdict: count for verdict, count in count_verdicts(rows).items() if count}
    size = f"{' --small' if small else ''}{' --data FOLDER' if data else ''}"
    lines = [
        f"# {title}", "",
        "Every published figure beside ours. This page is written by", "",
        f"    wattline study all --only {name}{size} --docs docs/published", "",
        *(["These figures are of a small run, which tries the way and proves nothing.", ""]
          if small else []),
        *(["The runs take long, so their figures are kept with the package; `--anew` makes all of "
           "them again.", "They were made by", "", *(f"    {command}" for command in measured), ""]
          if measured else []),
        *(["The same is what differs by no more than this:", f"{same}.", ""] if same else []),
        f"{len(rows)} figures:", "",
        *(f"- {count} *{verdict}*: {VERDICTS[verdict]}" for verdict, count in counts.items()), "",
        "| where | what | published | ours | verdict | why |", "|---|---|---|---|---|---|",
        *("| " + " | ".join(_cell(text) for text in astuple(row)) + " |" for row in rows),
    ]
    return "\n".join(lines) + "\n"


def sections_below(path: Path) -> str:
    """What an older page has below its table: other figures, which other commands made."""
    if not path.is_file():
        return ""
    _, mark, below = path.read_text(encoding="utf-8").partition("\n## ")
    return f"{mark}{below}"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|") or "-"
