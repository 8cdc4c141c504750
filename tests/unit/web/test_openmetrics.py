"""`/metrics` as others read it: a parser, a real Prometheus, the dashboard's queries."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen

import pytest
import uvicorn
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from tests.support import prometheus
from tests.support.asking import Asking
from tests.support.demos import KeptDemo

from wattline.model.signal import Signal
from wattline.web.app import create_app
from wattline.web.openmetrics import METRICS, TYPE, exposition
from wattline.web.sources.demo import DemoSource
from wattline.web.sources.replaying import HeldClock
from wattline.web.sources.shape import Part, Source

ROOT = Path(__file__).parents[3]
DASHBOARD = json.loads((ROOT / "examples/grafana/wattline.json").read_text())
TARGET_W = 50_000.0
QUERIES = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]


@pytest.fixture(scope="module")
def source() -> DemoSource:
    return KeptDemo(speed=600.0, jobs=200)


def test_the_text_is_openmetrics_and_says_what_the_api_says(source: DemoSource) -> None:
    still = source.shown
    clock = HeldClock(replace(still.clock.clock, speed=0.0))
    app = Asking(create_app(replace(still, clock=clock)))
    answer = app.ask("GET", "/metrics")
    assert answer.headers["content-type"] == TYPE
    families = {family.name: family for family in text_string_to_metric_families(answer.text)}
    assert set(families) == {metric.name for metric in METRICS}
    for metric in METRICS:
        family = families[metric.name]
        assert (family.type, family.unit, family.documentation) == (
            metric.kind, metric.unit, metric.help)
        assert family.name.endswith(metric.unit)
    now = app.get("/api/now")
    assert families["wattline_power_watts"].samples[0].value == now["power_w"]
    assert families["wattline_power_cap_watts"].samples[0].value == now["cap_w"]
    racks = [sample.value for sample in families["wattline_part_power_watts"].samples
             if sample.labels["kind"] == "rack"]
    assert sum(racks) == pytest.approx(now["power_w"])
    users = {sample.labels["user"]: sample.value
             for sample in families["wattline_user_energy_joules"].samples}
    assert users == {row["name"]: pytest.approx(row["energy_j"])
                     for row in app.get("/api/accounts", by="user")["rows"]}


def test_names_with_quotes_and_line_ends_stay_one_label(source: DemoSource) -> None:
    odd = 'a "b"\\c\nd'
    now = replace(source.now(), by={"class": [Part(odd, 1.0)], "rack": [], "feed": []})

    class Odd:
        def __getattr__(self, name: str) -> Any:
            return (lambda: now) if name == "now" else getattr(source, name)

    families = text_string_to_metric_families(exposition(Odd(), 0))  # type: ignore[arg-type]
    part = next(family for family in families if family.name == "wattline_part_power_watts")
    assert part.samples[0].labels == {"kind": "class", "name": odd}


def test_the_page_of_the_documentation_lists_every_metric_with_its_unit() -> None:
    text = (ROOT / "docs/web.md").read_text()
    for metric in METRICS:
        suffix = {"counter": "_total", "info": "_info"}.get(metric.kind, "")
        row = next(line for line in text.splitlines() if line.startswith(
            f"| `{metric.name}{suffix}` |"))
        assert metric.kind in row
        assert metric.unit in row
        assert metric.help.rstrip(".").split(";")[0] in row.replace("`", "")


def test_the_dashboard_asks_for_metrics_that_there_are() -> None:
    known = {metric.name + {"counter": "_total", "info": "_info"}.get(metric.kind, "")
             for metric in METRICS}
    asked = {name for query in QUERIES for name in re.findall(r"wattline_\w+", query)}
    assert asked <= known
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


@contextmanager
def listening(source: Source) -> Iterator[str]:
    server = uvicorn.Server(uvicorn.Config(create_app(source), port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    try:
        yield f"127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)


def shown(title: str) -> str:
    """The query of a panel of the dashboard."""
    panel, = (each for each in DASHBOARD["panels"] if each["title"] == title)
    return str(panel["targets"][0]["expr"])


def answered(url: str, query: str) -> list[Any]:
    with urlopen(f"{url}/api/v1/query?query={quote(query)}", timeout=10) as answer:
        found = json.load(answer)
    assert found["status"] == "success"
    return list(found["data"]["result"])


@pytest.mark.servers
def test_a_real_prometheus_answers_every_query_of_the_dashboard(source: DemoSource) -> None:
    under_contract = replace(source.shown, target_w=Signal.constant(TARGET_W, "W"))
    with listening(under_contract) as address, prometheus.scraping(address) as url:
        until = time.monotonic() + 60
        left = set(QUERIES)
        while left and time.monotonic() < until:
            left = {query for query in left if not answered(url, query)}
            time.sleep(0.5)
        assert not left
        power_w, = answered(url, "wattline_power_watts")
        assert 31_360 <= float(power_w["value"][1]) <= 70_000
        racks_w, = answered(url, 'sum(wattline_part_power_watts{kind="rack"})')
        assert 31_360 <= float(racks_w["value"][1]) <= 70_000
        assert answered(url, "up{job='wattline'}")[0]["value"][1] == "1"
        feeds = {each["metric"]["name"]: float(each["value"][1])
                 for each in answered(url, shown("Feeds: share of the limit"))}
        assert set(feeds) == {"feed A", "feed B"}
        assert all(0 < share < 1.2 for share in feeds.values())
        off, = answered(url, shown("Off the target"))
        assert 31_360 / TARGET_W - 1 <= float(off["value"][1]) <= 70_000 / TARGET_W - 1
