"""The scripts and styles of a page, put together from `web/static`, and data that it carries.

The report and the pages that are served use the same files.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

STYLES = ("uplot.min.css", "page.css")
SCRIPTS = ("uplot.min.js", "formats.js", "reduce.js", "theme.js", "tables.js", "axes.js", "view.js",
           "chart.js", "maps.js", "start.js")
_IN_SCRIPTS = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028",
               "\u2029": "\\u2029"}


@cache
def style() -> str:
    return "\n".join(file_text(name) for name in STYLES)


@cache
def script() -> str:
    """All scripts; the licence of uPlot goes wherever its code does."""
    licence = f"/* uPlot:\n{file_text('uplot.LICENSE')}\n*/"
    return "\n".join((licence, *(file_text(name) for name in SCRIPTS)))


def content_policy() -> str:
    """What a page may do, for its head: run this bundle and nothing else, and fetch nothing."""
    digest = base64.b64encode(hashlib.sha256(script().encode()).digest()).decode()
    return (f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
            "img-src data:")


def script_json(value: Mapping[str, Any]) -> str:
    """JSON that may stand in a script element, whatever the texts in it say."""
    try:
        text = _json(value)
    except (TypeError, ValueError):  # gaps are rare; to look for them takes longer than to write
        text = _json(_finite(value))
    for sign, escaped in _IN_SCRIPTS.items():
        text = text.replace(sign, escaped)
    return text


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def _finite(value: Any) -> Any:
    """Without NaN and infinities, which JSON cannot say: a gap."""
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def file_text(name: str) -> str:
    """A file of the bundle."""
    # By the package's folder: to import the room `web` from here would be upwards.
    place = resources.files("wattline").joinpath("web", "static", name)
    return place.read_text(encoding="utf-8").strip()
