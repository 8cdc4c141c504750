"""Power series from a Prometheus server, asked for so much at once that it answers.

A selector (`node_power_watts{rack="r1"}`) is asked for its own samples, in which gaps are seen. Any
other expression is computed by the server at even times, for which it repeats each sample for some
minutes (its look-back).
"""

from __future__ import annotations

import json
import math
import re
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

OWN_S = 21_600.0
"""So much time at once of samples as the server has them."""
_SELECTOR = re.compile(r'''[a-zA-Z_:][a-zA-Z0-9_:]*(?:\s*\{(?:[^{}"'`\[]|"(?:[^"\\]|\\.)*")*\})?''')
MOST_POINTS = 10_000
"""Per series and answer: a server refuses more than 11,000."""
TIMEOUT_S = 120.0
REPEATS = ("a Prometheus server repeats the last sample for some minutes: shorter gaps are not "
           "seen; a selector without --step is asked for its own samples")


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
    own_samples: bool = False
    """Whether the expression is a selector, and is to be asked for its samples as they are."""

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


def is_selector(expression: str) -> bool:
    """Whether an expression only chooses series.

    >>> [is_selector(each) for each in ('power{a="}"}', "power", "sum(power)", "power[5m]")]
    [True, True, False, False]
    """
    return _SELECTOR.fullmatch(expression.strip()) is not None


def read_prometheus(query: RangeQuery) -> Found:
    """All that the server has from the start of the range to before its end."""
    found: dict[str, list[tuple[float, float]]] = {}
    labels: dict[str, str] = {}
    for start_s, end_s in _windows(query):
        asked = _own(query, start_s, end_s) if query.own_samples else _even(query, start_s, end_s)
        for one in asked:
            entity = _entity(query, one["metric"])
            mine = json.dumps(one["metric"], sort_keys=True)
            if labels.setdefault(entity, mine) != mine:
                raise InputError(f"the expression gives more than one series for {entity}; "
                                 f"sum by ({query.label}) (...) gives one")
            found.setdefault(entity, []).extend(
                (float(at), float(text)) for at, text in one["values"]
                if start_s <= float(at) <= end_s and float(at) < query.end_s)
    found = {entity: samples for entity, samples in found.items() if samples}
    if not found:
        raise InputError(f"{query.url} has nothing for '{query.expression}' in that time")
    series = tuple(_series(query, entity, samples) for entity, samples in sorted(found.items()))
    return Found(query.url, series=series, remarks=() if query.own_samples else (REPEATS,))


def _series(query: RangeQuery, entity: str, samples: list[tuple[float, float]]) -> Series:
    pairs = np.array(samples, dtype=np.float64)
    return Series(query.cluster, entity, query.kind, pairs[:, 0], pairs[:, 1],
                  meter=query.meter or "prometheus",
                  interval_s=float("nan") if query.own_samples else query.step_s)


def _windows(query: RangeQuery) -> Iterator[tuple[float, float]]:
    """First and last instant to ask for; the end of the range is none of them."""
    step_s = 0.001 if query.own_samples else query.step_s
    lasts_s = OWN_S if query.own_samples else step_s * (MOST_POINTS - 1)
    start_s = query.start_s
    while start_s < query.end_s:
        yield start_s, min(start_s + lasts_s, query.end_s)
        start_s = round(start_s + lasts_s + step_s, 3)


def _even(query: RangeQuery, start_s: float, end_s: float) -> list[dict[str, Any]]:
    return _asked(query, "query_range", {
        "query": query.expression, "start": f"{start_s:.3f}", "end": f"{end_s:.3f}",
        "step": f"{query.step_s:.3f}"})


def _own(query: RangeQuery, start_s: float, end_s: float) -> list[dict[str, Any]]:
    # Some servers leave out the first instant of a range: it begins a moment sooner.
    lasts_ms = math.ceil((end_s - start_s) * 1000) + 1
    return _asked(query, "query", {
        "query": f"{query.expression.strip()}[{lasts_ms}ms]", "time": f"{end_s:.3f}"})


def _asked(query: RangeQuery, how: str, asked: dict[str, str]) -> list[dict[str, Any]]:
    address = f"{query.url.rstrip('/')}/api/v1/{how}?{urlencode(asked)}"
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
