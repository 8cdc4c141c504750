"""Claims in and out of CSV files, and the claims that come with the package."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator
from importlib import resources
from pathlib import Path

from wattline.model.errors import InputError
from wattline.model.reading import read_text
from wattline.model.units import plain_number
from wattline.physics.claims.book import ClaimBook, Measured
from wattline.physics.claims.claim import Claim, ClaimSetting

COLUMNS = ("application", "node_class", "threads", "cap_w", "nodes", "time_s", "energy_j", "runs",
           "time_error", "energy_error", "predictions", "gpu", "gpus", "gpu_cap_w")
RUN_ID = "run_id"
"""In a file of measured runs: what tells a run from others."""
REQUIRED = ("application", "node_class", "time_s", "energy_j")


def npb_claims() -> ClaimBook:
    """The measured NAS benchmarks that ship with the package."""
    text = (resources.files("wattline.physics") / "data" / "npb_claims.csv").read_text("utf-8")
    return ClaimBook(parse_claims(text, "npb_claims.csv"))


def read_claims(path: Path) -> ClaimBook:
    """Claims from a CSV file; the first impossible one is named with its line."""
    return ClaimBook(parse_claims(read_text(path), str(path)))


def read_runs(path: Path) -> list[Measured]:
    """Measured runs from a CSV file with the columns of claims and, where there is one, `run_id`;
    the same job may come again."""
    text = read_text(path)
    ids = [(row.get(RUN_ID) or "").strip() for row in _reader([line for _, line in _lines(text)])]
    return [Measured(c.application, c.node_class, c.setting, c.time_s, c.energy_j, run_id)
            for (_, c), run_id in zip(_rows(text, str(path)), ids, strict=True)]


def unused_columns(path: Path) -> list[str]:
    """Columns of a claims file that nobody reads: perhaps misspelt ones."""
    reader = _reader([line for _, line in _lines(read_text(path))])
    return [name for name in reader.fieldnames or () if name not in (*COLUMNS, RUN_ID)]


def parse_claims(text: str, where: str) -> list[Claim]:
    claims: list[Claim] = []
    seen: dict[tuple[str, str, ClaimSetting], int] = {}
    for number, claim in _rows(text, where):
        if claim.key in seen:
            raise InputError(f"{where}: line {number}: the claim of line {seen[claim.key]} again")
        seen[claim.key] = number
        claims.append(claim)
    return claims


def _lines(text: str) -> list[tuple[int, str]]:
    return [(n, line) for n, line in enumerate(text.splitlines(), 1)
            if line.strip() and not line.startswith("#")]


def _rows(text: str, where: str) -> Iterator[tuple[int, Claim]]:
    """Each line's number and what it claims."""
    lines = _lines(text)
    if not lines:
        raise InputError(f"{where}: empty; expected a header line with {', '.join(REQUIRED)}")
    reader = _reader([line for _, line in lines])
    names = list(reader.fieldnames or ())
    missing = [name for name in REQUIRED if name not in names]
    if missing:
        raise InputError(f"{where}: line {lines[0][0]}: no column '{missing[0]}'; expected "
                         + ",".join(COLUMNS))
    for (number, _), row in zip(lines[1:], reader, strict=False):
        try:
            if None in row:
                raise InputError(f"more values than the {len(names)} columns of the header")
            yield number, _claim(row)
        except (InputError, ValueError, TypeError) as error:
            raise InputError(f"{where}: line {number}: {error}") from None


def _reader(lines: list[str]) -> csv.DictReader[str]:
    reader = csv.DictReader(lines)
    reader.fieldnames = [name.strip() for name in reader.fieldnames or ()]
    return reader


def write_claims(claims: Iterable[Claim]) -> str:
    """Claims as CSV text that `read_claims` reads back."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for claim in claims:
        setting = claim.setting
        writer.writerow([
            claim.application, claim.node_class, setting.threads,
            _limit(setting.cap_w), setting.nodes,
            repr(claim.time_s), repr(claim.energy_j), claim.runs,
            _blank(claim.time_error), _blank(claim.energy_error), claim.predictions,
            setting.gpu, setting.gpus, _limit(setting.gpu_cap_w),
        ])
    return out.getvalue()


def _claim(row: dict[str, str]) -> Claim:
    setting = ClaimSetting(
        (row.get("threads") or "").strip(),
        _number(row, "cap_w", math.inf),
        _count(row, "nodes", 1, 1),
        (row.get("gpu") or "").strip(),
        _count(row, "gpus", 0, 0),
        _number(row, "gpu_cap_w", math.inf),
    )
    return Claim(
        row["application"].strip(), row["node_class"].strip(), setting,
        _number(row, "time_s"), _number(row, "energy_j"), _count(row, "runs", 1, 1),
        _number(row, "time_error", math.nan), _number(row, "energy_error", math.nan),
        _count(row, "predictions", 0, 0),
    )


def _number(row: dict[str, str], name: str, default: float | None = None) -> float:
    text = (row.get(name) or "").strip()
    if not text and default is not None:
        return default
    try:
        value = plain_number(text)
    except ValueError:
        raise InputError(f"{name} is '{text}', expected a number") from None
    if not math.isfinite(value):
        instead = "; leave it empty where there is none" if default is not None else ""
        raise InputError(f"{name} is {text}, expected a finite number{instead}")
    return value


def _count(row: dict[str, str], name: str, default: int, least: int) -> int:
    value = _number(row, name, default)
    if value != int(value) or value < least:
        raise InputError(f"{name} is {value:g}, expected a whole number of at least {least}")
    return int(value)


def _limit(value_w: float) -> str:
    return "" if math.isinf(value_w) else repr(value_w)


def _blank(value: float) -> str:
    return "" if math.isnan(value) else repr(value)
