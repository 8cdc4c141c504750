"""Answers as JSON: figures that are not finite are null."""

from __future__ import annotations

import json
import math
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from starlette.responses import Response


def plain(value: Any) -> Any:
    """What JSON can say: dataclasses as objects, infinite and unknown figures as null."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value


def encoded(value: Any) -> bytes:
    text = json.dumps(plain(value), separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "replace")  # what is quoted may hold half a letter


def answer(value: Any) -> Response:
    return as_json(encoded(value))


def as_json(body: bytes) -> Response:
    return Response(body, media_type="application/json", headers={"Cache-Control": "no-store"})
