"""Power series from a Prometheus server: a range query, cut so that the server answers it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import urlopen

import numpy as np

from wattline.account.measured.entities import without_port
from wattline.account.measured.records import Found, Kind, Series
from wattline.model.errors import InputError, WattlineError
from wattline.model.reading import file_limit

MOST_POINTS = 10_000
"""Per series and answer: a server refuses more than 11,000."""
TIMEOUT_S = 120.0


@dataclass(frozen=True)
class RangeQuery:
    """What to ask for: an expression that gives one series per node.

    >>> RangeQuery("http://127.0.0.1:9090", "node_power_watts", 0, 60).label
    'instance'
    """

    url: str
    expression: str
    start_s: float
    end_s: float
    step_s: float = 30.0
    label: str = "instance"
    """Names the node; a port behind it is left out."""
    gpu_label: str = ""
    """Names the GPU of the node, where the expression is of GPUs."""
    kind: Kind = Kind.WATTS
    cluster: str = ""
    meter: str = ""

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(f"'{self.url}' is no address of a Prometheus server; write it like "
                             "http://127.0.0.1:9090")
        if parts.username or parts.password:
            raise InputError("the address of a Prometheus server is to hold no name and password; "
                             "they would be shown")
        if not self.expression.strip():
            raise InputError("a Prometheus server needs an expression, like node_power_watts")
        if not (0 <= self.start_s < self.end_s and self.step_s > 0):
            raise InputError("a range needs a start before its end and a step above 0 s")


def read_prometheus(query: RangeQuery) -> Found:
    """All that the server has of the range.

    A server repeats the last sample for some minutes (its look-back): shorter gaps are not seen.
    """
    found: dict[str, list[tuple[float, float]]] = {}
    labels: dict[str, str] = {}
    for start_s, end_s in _windows(query):
        for one in _asked(query, start_s, end_s):
            entity = _entity(query, one["metric"])
            mine = json.dumps(one["metric"], sort_keys=True)
            if labels.setdefault(entity, mine) != mine:
                raise InputError(f"the expression gives more than one series for {entity}; "
                                 f"sum by ({query.label}) (...) gives one")
            found.setdefault(entity, []).extend((float(at), float(text))
                                                for at, text in one["values"])
    if not found:
        raise InputError(f"{query.url} has nothing for '{query.expression}' in that time")
    series = tuple(_series(query, entity, samples) for entity, samples in sorted(found.items()))
    remark = ("a Prometheus server repeats the last sample for some minutes: shorter gaps are not "
              "seen")
    return Found(query.url, series=series, remarks=(remark,))


def _series(query: RangeQuery, entity: str, samples: list[tuple[float, float]]) -> Series:
    pairs = np.array(samples, dtype=np.float64)
    return Series(query.cluster, entity, query.kind, pairs[:, 0], pairs[:, 1],
                  meter=query.meter or "prometheus", interval_s=query.step_s)


def _windows(query: RangeQuery) -> Iterator[tuple[float, float]]:
    lasts_s = query.step_s * (MOST_POINTS - 1)
    start_s = query.start_s
    while start_s < query.end_s:
        yield start_s, min(start_s + lasts_s, query.end_s)
        start_s += lasts_s + query.step_s


def _asked(query: RangeQuery, start_s: float, end_s: float) -> list[dict[str, Any]]:
    asked = urlencode({"query": query.expression, "start": f"{start_s:.3f}",
                       "end": f"{end_s:.3f}", "step": f"{query.step_s:.3f}"})
    address = f"{query.url.rstrip('/')}/api/v1/query_range?{asked}"
    try:
        with urlopen(address, timeout=TIMEOUT_S) as answer:
            text = answer.read(file_limit() + 1)
    except HTTPError as error:
        raise InputError(f"{query.url} refused '{query.expression}': "
                         f"{_reason(error.read(10_000)) or error}") from None
    except (URLError, OSError) as error:
        raise WattlineError(f"{query.url} does not answer: {error}") from None
    if len(text) > file_limit():
        raise InputError(f"{query.url} answers with more than {file_limit():,} bytes; ask for less "
                         "time at once")
    try:
        data = json.loads(text)["data"]
        if data["resultType"] != "matrix":
            raise InputError(f"'{query.expression}' gives a {data['resultType']}, not a matrix")
        return list(data["result"])
    except (ValueError, KeyError, TypeError):
        raise WattlineError(f"{query.url} does not answer as Prometheus does") from None


def _entity(query: RangeQuery, metric: dict[str, str]) -> str:
    if query.label not in metric:
        raise InputError(f"a series has no label '{query.label}' to name the node; it has "
                         f"{', '.join(sorted(metric)) or 'none'}")
    node = without_port(metric[query.label])
    if not query.gpu_label:
        return node
    gpu = metric.get(query.gpu_label, "")
    if not gpu.isdigit():
        raise InputError(f"the label '{query.gpu_label}' of {node} is '{gpu}', no number of a GPU")
    return f"{node}/gpu{gpu}"


def _reason(body: bytes) -> str:
    try:
        return str(json.loads(body)["error"])
    except (ValueError, KeyError, TypeError):
        return ""
