"""Every published evaluation in one go: each can be resumed, each has a page of its own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from wattline.model.errors import InputError, warn
from wattline.model.files import write_whole
from wattline.model.progress import silent
from wattline.studies.asking import STUDIES, Progress
from wattline.studies.published import (
    PublishedFigure,
    count_verdicts,
    page,
    rows_from,
    sections_below,
)
from wattline.studies.sources import sources_digest

MEASURED = ("bt-mz_8-32nodes_5caps", "sphot_grid", "synthetic_scale-cpu_8-16-32nodes",
            "synthetic_noscale-cpu_8-16-32nodes", "synthetic_scale-mem_8-16-32nodes",
            "synthetic_noscale-mem_8-16-32nodes")
"""The applications of the overprovisioning document whose measurements are public."""


class Document(NamedTuple):
    """One document: its study of the same name, how its rows are made, settings of a run."""

    title: str
    rows: str = ""
    """The module whose `rows` makes rows of what the study returns; empty where the study returns
    them itself, under `published`."""
    small: Mapping[str, Any] = {}
    """Settings that try the way in seconds or a few minutes."""
    full: Mapping[str, Any] = {}
    """Settings of a whole run."""
    measured: str = ""
    """The module with the figures of whole runs that take hours, and the commands that made them:
    `figures` and `commands`."""
    files: Mapping[str, tuple[str, ...]] = {}
    """Settings that are public files, by their places in a folder of them."""
    with_files: Mapping[str, Any] = {}
    """Settings that go with those files."""
    same: str = ""
    """Up to which difference figures of the document count as equal, in words."""
    resumes: str = ""
    """The setting that names a file of what was found so far, where the study has one."""


DOCUMENTS: Mapping[str, Document] = {
    "dragonfly": Document(
        "Placement on dragonflies", "wattline.studies.dragonfly.published",
        small={"quick": True, "workers": 1}, full={"packets": 1000, "repeats": 10},
        measured="wattline.studies.dragonfly.measured", resumes="checkpoint",
        same="shares and cuts 5 points, shares of cases that are worse 1 point, more or less; "
             "times that are added a factor of 1.5.\n"
             "Cases are tied where a kind of job takes as long, to a part in 1e9 to either side.\n"
             "After ± stands half of a 95 % interval over workloads"),
    "esp": Document("Power-adaptive scheduling"),
    "fairshare": Document("Fair-share by energy"),
    "hetero": Document("Energy claims on a mixed cluster",
                       same="times, energies and savings 2 per cent of the published figure"),
    "puppet": Document(
        "Power capping with a Petri net", small={"jobs": 300},
        same="a part in 1e9 to either side; a case with equal figures speaks for no claim of more "
             "or less.\nMinor and comparable are 10 %, more or less"),
    "regulation": Document(
        "Demand response", "wattline.studies.regulation.beside",
        small={"part": "thresholds"}, full={"seeds": 10}, resumes="kept",
        same="savings and errors 2 points, more or less"),
    "rmap": Document(
        "Overprovisioned machines", "wattline.studies.rmap.published",
        small={"seeds": 2, "jobs": 6, "part": "published"}, full={"part": "published"},
        files={"table": ("rapl/configs.csv.xz", "rapl/sphot_grid.csv")},
        with_files={"apps": ",".join(MEASURED)},
        same="gains and counts a factor of 1.5, where the 95 % interval has not the other sign"),
}
"""Every document, with all that a run of it is asked for."""


@dataclass(frozen=True)
class PublishedRows:
    """The rows of every document that was asked for.

    >>> import wattline as wl
    >>> wl.PublishedRows(small=True, rows={}).resumed
    ()
    """

    small: bool
    rows: Mapping[str, tuple[PublishedFigure, ...]]
    resumed: tuple[str, ...] = ()
    """Documents whose figures were kept from an earlier call."""
    remarks: tuple[str, ...] = field(default=())
    """What must be known of the figures."""
    from_data: bool = False
    """Whether public measurements were given."""
    measured: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Documents whose figures are those kept with the package, with the commands behind them."""

    def to_dict(self) -> dict[str, Any]:
        return {"small": self.small, "resumed": list(self.resumed), "remarks": list(self.remarks),
                "documents": {name: {
                    "title": DOCUMENTS[name].title, "verdicts": count_verdicts(rows),
                    "rows": [row.as_dict() for row in rows],
                } for name, rows in self.rows.items()}}

    def write_pages(self, folder: str | Path) -> list[Path]:
        """A page per document that has rows; sections below its table stay as they were."""
        Path(folder).mkdir(parents=True, exist_ok=True)
        written = []
        for name, rows in self.rows.items():
            if rows:
                written.append(Path(folder) / f"{name}.md")
                write_whole(written[-1], page(
                    name, DOCUMENTS[name].title, rows, small=self.small,
                    data=self.from_data and bool(DOCUMENTS[name].files),
                    measured=self.measured.get(name, ()), same=DOCUMENTS[name].same,
                ) + sections_below(written[-1]))
        return written


def study_all(
    only: Iterable[str] = (), *, small: bool = False, kept: str | Path | None = None,
    data: str | Path | None = None, anew: bool = False, progress: Progress = silent,
) -> PublishedRows:
    """Run every published evaluation and set each published figure beside ours.

    `only` names studies; `small` takes sizes that try the way and prove nothing. In the folder
    `kept` each study's figures stay, so that a call that was interrupted goes on where it was;
    figures of other settings or sources are made anew. `data` is a folder of public measurements
    (`rapl/configs.csv.xz` ...); without it models and generated logs stand in for them. What takes
    hours was measured before and is not run unless `anew` is given.

    >>> import wattline as wl
    >>> found = wl.study_all(["fairshare"], small=True)
    >>> list(found.rows)
    ['fairshare']
    """
    names = list(only) or list(DOCUMENTS)
    for name in names:
        if name not in DOCUMENTS:
            raise InputError(f"there is no study '{name}'; there are: {', '.join(DOCUMENTS)}")
    rows: dict[str, tuple[PublishedFigure, ...]] = {}
    measured: dict[str, tuple[str, ...]] = {}
    resumed, remarks = [], []
    for done, name in enumerate(names):
        document = DOCUMENTS[name]
        if document.measured and not (small or anew):
            before = import_module(document.measured)
            rows[name] = _rows(document, before.figures())
            measured[name] = before.commands()
            remarks.append(f"figures of '{name}' were measured before and are kept with the "
                           "package: a whole run takes hours, and is made with --anew")
        else:
            given = {**(document.small if small else document.full), **_of_files(document, data)}
            figures, was_kept = _figures(
                name, given, None if kept is None else Path(kept),
                lambda part, done=done: progress((done + part) / len(names)))  # type: ignore[misc]
            resumed += [name] if was_kept else []
            rows[name] = _rows(document, figures)
        progress((done + 1) / len(names))
    warn(remarks)
    return PublishedRows(small, rows, tuple(resumed), tuple(remarks), data is not None, measured)


def _rows(document: Document, figures: Mapping[str, Any]) -> tuple[PublishedFigure, ...]:
    if not document.rows:
        return rows_from(figures["published"])
    return rows_from(import_module(document.rows).rows(figures))


def _of_files(document: Document, data: str | Path | None) -> dict[str, Any]:
    if data is None or not document.files:
        return {}
    found: dict[str, Any] = dict(document.with_files)
    for setting, places in document.files.items():
        found[setting] = [str(Path(data) / place) for place in places]
        for path in found[setting]:
            if not Path(path).is_file():
                raise InputError(f"{path}: there is no such file; it belongs to the public data")
    return found


def _figures(
    name: str, settings: Mapping[str, Any], folder: Path | None, progress: Progress
) -> tuple[Any, bool]:
    """The figures of a study, and whether they were kept from before."""
    made_of = {"settings": dict(settings), "sources": sources_digest()}
    place = None if folder is None else folder / f"{name}.json"
    if place is not None and place.is_file():
        try:
            before = json.loads(place.read_text(encoding="utf-8"))
        except ValueError:
            before = {}
        if isinstance(before, dict) and before.get("made_of") == json.loads(json.dumps(made_of)):
            return before["figures"], True
    more: dict[str, str] = {}
    if folder is not None and DOCUMENTS[name].resumes:
        folder.mkdir(parents=True, exist_ok=True)
        more[DOCUMENTS[name].resumes] = str(folder / f"{name}.part")
    found = STUDIES[name](progress, **settings, **more)
    text = json.dumps({"made_of": made_of, "figures": found}, default=_plain)
    if place is not None:
        place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(place, text)
    # As they would be read from the folder, so that a resumed call says the same.
    return json.loads(text)["figures"], False


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)
