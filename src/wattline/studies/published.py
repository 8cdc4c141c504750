"""Published figures beside ours, a row each, and the page that shows the rows of one document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path

VERDICTS = ("holds", "holds on average", "holds, larger", "fails", "not reproduced")
"""`holds on average`: not at every point; `holds, larger`: the same direction, far more of it;
`fails`: tried, and not found; `not reproduced`: not tried, or not possible here."""


@dataclass(frozen=True)
class Row:
    """One published figure, what we found, and whether that agrees."""

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


_SAID = {"equal": "holds", "differs": "fails"}


def rows_from(tuples: Iterable[Sequence[str]]) -> tuple[Row, ...]:
    """Rows of what a study returns: section, what, published, ours, verdict, why.

    A verdict in words of its own (inferred, assumed, a picture without figures) compares nothing:
    the figure is not reproduced, and the words say why.
    """
    return tuple(_row(*(str(cell) for cell in one)) for one in tuples)


def _row(section: str, what: str, published: str, ours: str, verdict: str, why: str) -> Row:
    verdict = _SAID.get(verdict, verdict)
    if verdict in VERDICTS:
        return Row(section, what, published, ours, verdict, why)
    reason = "; ".join(filter(None, (verdict, why)))
    return Row(section, what, published, ours, "not reproduced", reason)


def count_verdicts(rows: Iterable[Row]) -> dict[str, int]:
    """How many rows have each verdict; all verdicts, in their order."""
    given = [row.verdict for row in rows]
    return {verdict: given.count(verdict) for verdict in VERDICTS}


def page(
    name: str, title: str, rows: Sequence[Row], *, small: bool = False, data: bool = False
) -> str:
    """The page of one document, in Markdown; `data`: it was made with public measurements."""
    said = "; ".join(f"{verdict} {count}" for verdict, count in count_verdicts(rows).items()
                     if count)
    size = f"{' --small' if small else ''}{' --data FOLDER' if data else ''}"
    lines = [
        f"# {title}", "",
        "Every published figure beside ours. This page is written by", "",
        f"    wattline study all --only {name}{size} --docs docs/published", "",
        *(["These figures are of a small run, which tries the way and proves nothing.", ""]
          if small else []),
        f"{len(rows)} figures ({said}).", "",
        "*Holds on average*: not at every point. *Holds, larger*: the same direction, far more of "
        "it.",
        "*Fails*: tried, and not found. *Not reproduced*: not tried, or not possible here.", "",
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
