"""The fields of a scenario: what each takes, from the model, beside what the page says of it."""

from __future__ import annotations

import re
import typing
from collections.abc import Iterator

from pydantic import BaseModel

from wattline.policies.parameter_rows import parameter_rows
from wattline.scenario.model import Scenario

HEAD = "| field | default | meaning |\n|---|---|---|\n"
WITH_KINDS = "| field | takes | default | meaning |\n|---|---|---|---|\n"
ROW = re.compile(r"^\| ((?:`[\w.]+`(?:, )?)+) \| ", re.MULTILINE)


def with_kinds(page: str) -> str:
    """The page with a column more: kind, unit and range of each field, as the model checks them.

    Defaults and meanings stand on the page, where tests hold every field to be there.
    """
    known = dict(kinds(Scenario))
    head, *tables = page.split(HEAD)
    return WITH_KINDS.join([head, *(_widened(table, known) for table in tables)])


def _widened(table: str, known: dict[str, str]) -> str:
    end = re.search(r"^(?!\|)", table, re.MULTILINE)
    rows = table[: end.start()] if end else table
    wide = ROW.sub(lambda found: f"{found[0]}{_takes(found[1], known)} | ", rows)
    return wide + table[len(rows):]


def _takes(cell: str, known: dict[str, str]) -> str:
    said = [known[name] for name in re.findall(r"`([\w.]+)`", cell)]
    return "; ".join(dict.fromkeys(said))


def kinds(model: type[BaseModel], place: str = "") -> Iterator[tuple[str, str]]:
    """Every field by its place in the file, and what it takes, in words."""
    rows = {row["name"]: row for row in parameter_rows(model)}
    for name, field in model.model_fields.items():
        inner = list(sections(field.annotation))
        row = rows[name]
        yield place + name, _said(row, bool(inner))
        for each in inner:
            yield from kinds(each, f"{place}{name}.")


def sections(annotation: object) -> Iterator[type[BaseModel]]:
    """The models that a field may hold, in lists and unions too."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in typing.get_args(annotation):
        yield from sections(part)


def _said(row: dict[str, typing.Any], section: bool) -> str:
    unit = f", {row['unit']}" if row["unit"] else ""
    if row["choices"]:
        return " or ".join(f"`{choice}`" for choice in row["choices"])
    known = row["range"] not in ("any", "") and not section
    return f"{row['kind']}{unit}" + (f", {_signs(row['range'])}" if known else "")


def _signs(text: str) -> str:
    return text.replace(">=", "≥").replace("<=", "≤").replace("|", "\\|")
