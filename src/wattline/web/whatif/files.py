"""A question to take along: a scenario file that `wattline simulate` runs, and a notebook."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pprint import pformat
from typing import Any

from wattline.web.whatif.baseline import baseline_of
from wattline.web.whatif.guard import UPLOAD

FILE_NAME = re.compile(r"[^A-Za-z0-9._-]+")


def file_name(name: str, suffix: str) -> str:
    """A name that every file system and header takes."""
    stem = FILE_NAME.sub("-", name).strip("-.")[:60] or "scenario"
    return f"{stem}{suffix}"


def taken_along(
    fields: Mapping[str, Any], uploads: Mapping[str, str]
) -> tuple[dict[str, Any], str]:
    """The fields with an upload under the name of its file, and what is to be done for it."""
    trace = dict(fields.get("trace") or {})
    file = trace.get("file")
    if not isinstance(file, str) or not file.startswith(UPLOAD):
        return dict(fields), ""
    own = uploads.get(file, "log.swf")
    trace["file"] = own
    return {**fields, "trace": trace}, f"Put your log beside this file, under the name {own}."


def scenario_toml(fields: Mapping[str, Any], uploads: Mapping[str, str]) -> str:
    """The scenario as a file."""
    import tomli_w

    found, said = taken_along(fields, uploads)
    head = "# A scenario from the dashboard: `wattline simulate FILE` runs it.\n"
    return head + (f"# {said}\n" if said else "") + "\n" + tomli_w.dumps(found)


def notebook(
    fields: Mapping[str, Any], baseline: Mapping[str, Any] | None, uploads: Mapping[str, str]
) -> dict[str, Any]:
    """The question as a notebook: both runs, their table, their pictures, who is hurt."""
    base, words = (dict(baseline), "as given") if baseline is not None else baseline_of(fields)
    variant, said = taken_along(fields, uploads)
    base, _ = taken_along(base, uploads)
    name = json.dumps(str(fields.get("name", "variant")))
    cells = [
        _text(f"# What if: {fields.get('name', 'variant')!s}\n\nThe baseline is: {words}.\n"
              + (f"\n{said}\n" if said else "")),
        _code("import wattline as wl\n\n"
              f"variant_fields = {pformat(variant, width=96, sort_dicts=False)}\n\n"
              f"baseline_fields = {pformat(base, width=96, sort_dicts=False)}\n"),
        _code("baseline = wl.simulate(wl.Scenario(**baseline_fields))\n"
              "variant = wl.simulate(wl.Scenario(**variant_fields))\n"
              f"both = wl.compare({{\"baseline\": baseline, {name}: variant}})\n"
              "both"),
        _code("both.plot.power()"),
        _code("wl.compare_jobs(baseline, variant)"),
    ]
    return {"cells": cells, "metadata": {"kernelspec": {
        "display_name": "Python 3", "language": "python", "name": "python3"}},
        "nbformat": 4, "nbformat_minor": 4}


def _text(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source.splitlines(keepends=True)}


def _code(source: str) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [],
            "source": source.splitlines(keepends=True)}
