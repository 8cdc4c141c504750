"""The charts of a page: bounded, and true to the run."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from tests.support.run_maker import fcfs_run, some_jobs

from wattline.analysis import bundle, charts, series
from wattline.model.run import Run
from wattline.model.signal import Signal


@pytest.fixture(scope="module")
def run() -> Run:
    return fcfs_run(some_jobs(300))


def test_every_step_of_a_small_run_is_there(run: Run) -> None:
    (packed,) = charts.power({"x": run}).spec["runs"]
    steps = series.power_steps(run)
    assert packed["mean"] == steps.value.tolist()
    assert packed["edge"] == [844_000_000 + edge_s for edge_s in steps.edge_s.tolist()]
    assert charts.finest_s({"x": run}) is None


def test_a_reduced_series_keeps_peak_and_mean(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charts, "_MOST_SPANS", 40)
    monkeypatch.setattr(charts, "_LEAST_SPANS", 10)
    (packed,) = charts.power({"x": run}).spec["runs"]
    assert len(packed["mean"]) <= 40
    assert max(packed["high"]) == run.power_w_peak
    edge = packed["edge"]
    edges = np.append(edge["from"] + edge["span"] * np.arange(len(packed["mean"])), edge["to"])
    joules = np.dot(packed["mean"], np.diff(edges))
    assert joules == pytest.approx(run.energy_j, rel=1e-6)
    assert charts.finest_s({"x": run}) == edge["span"]


def test_many_runs_share_what_a_page_holds() -> None:
    held = [charts.spans({str(n): None for n in range(runs)}) * runs  # type: ignore[misc]
            for runs in (1, 6, 20, 60)]
    assert held == [4000, 24_000, 24_000, 24_000]


def test_a_log_without_a_date_is_counted_from_the_first_submission(run: Run) -> None:
    undated = replace(run, scenario={})
    chart = charts.queue({"x": undated})
    assert chart.spec["dated"] is False
    assert chart.spec["runs"][0]["edge"][0] == 0.0
    assert charts.time_axis({"x": undated}).range == [0.0, run.end_s - run.start_s]


def test_one_cap_is_drawn_once_and_no_limit_is_a_gap(run: Run) -> None:
    cap_w = Signal.from_steps([(0.0, float("inf")), (3000.0, 2e3)], "W")
    capped = replace(run, cap_w=cap_w)
    (cap,) = charts.power({"a": capped, "b": replace(capped), "c": run}).spec["caps"]
    assert cap["name"] == "power cap"
    assert json.loads(bundle.script_json(cap))["mean"] == [None, 2000]
    other = replace(run, cap_w=Signal.constant(3e3, "W"))
    names = [cap["name"] for cap in charts.power({"a": capped, "b": other}).spec["caps"]]
    assert names == ["cap of a", "cap of b"]


def test_several_caps_are_told_apart_by_name_and_run_in_both_charts(run: Run) -> None:
    low, high = (replace(run, cap_w=Signal.constant(cap_w, "W")) for cap_w in (2e3, 3e3))
    runs = {"free": run, "a": high, "b": low, "c": replace(high)}
    for chart in (charts.power(runs), charts.durations(runs)):
        assert [(cap["name"], cap["run"], cap["mean"]) for cap in chart.spec["caps"]] == [
            ("cap of a, c", 1, [3000]), ("cap of b", 2, [2000])]
    (alone,) = charts.durations({"a": high}).spec["caps"]
    assert alone["name"] == "power cap"
    assert "run" not in alone  # a colour that is no run's


def test_a_cap_of_many_steps_is_bounded_and_keeps_its_lowest(run: Run) -> None:
    times = np.linspace(0, run.end_s, 9000)
    watts = np.where(np.arange(9000) == 4321, 1500.0, 2500.0 + np.arange(9000) % 2)
    cap_w = Signal.from_steps(list(zip(times, watts, strict=True)), "W")
    (cap,) = charts.power({"x": replace(run, cap_w=cap_w)}).spec["caps"]
    assert len(cap["mean"]) <= 2000
    assert min(cap["mean"]) == 1500


def test_layers_of_use_add_up_to_what_was_used(run: Run) -> None:
    chart = charts.use_by_size("use", run, {"x": run})
    layers = chart.spec["runs"]
    used = sum(np.array(layer["mean"]) for layer in layers)
    mean = series.utilisation_steps(run).mean * run.units
    assert np.mean(used) == pytest.approx(mean, rel=1e-6)
    assert layers[0]["name"].endswith("16 nodes")  # the largest jobs lie on top


def test_json_in_a_page_cannot_end_its_script() -> None:
    text = bundle.script_json({"name": "</script><!-- \u2028 & >", "value": float("nan")})
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == {"name": "</script><!-- \u2028 & >", "value": None}


def test_the_bundle_fetches_nothing_and_can_stand_in_a_page() -> None:
    assert "</script" not in bundle.script().lower()
    assert "</style" not in bundle.style().lower()
    assert "url(" not in bundle.style()
    assert "@import" not in bundle.style()
    own = bundle.script().split('"use strict";\nvar wattline', 1)[1]
    assert not re.search(r"fetch\(|XMLHttpRequest|import\(|eval\(|innerHTML", own)


def test_the_vendored_library_says_its_version_and_licence() -> None:
    assert "uPlot 1.6.32" in bundle.file_text("README.md")
    code = bundle.script()
    assert "Permission is hereby granted" in code[: code.index("uPlot (v1.6.32)")]


def themes() -> dict[str, dict[str, str]]:
    found = re.findall(r":root[^{]*\{([^{}]*--paper[^{}]*)\}", bundle.style())
    light, dark, chosen = (dict(re.findall(r"--([\w-]+): (#\w{6})", block)) for block in found)
    assert dark == chosen  # by the system, and by the switch
    return {"light": light, "dark": dark}


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_texts_and_lines_stand_out_from_the_paper(theme: str) -> None:
    colours = themes()[theme]
    for name in ("ink", "soft", "better", "worse", "cap"):
        assert contrast(colours[name], colours["paper"]) >= 4.5, name
    lines = [colours[f"series-{number}"] for number in range(7)]
    assert all(contrast(line, colours["paper"]) >= 3 for line in lines), lines
    assert all(one != other for one, other in itertools.combinations(lines, 2))


@pytest.mark.parametrize(("theme", "name"), [("light", "colour"), ("dark", "dark")])
def test_the_largest_jobs_stand_out_most_from_the_paper(run: Run, theme: str, name: str) -> None:
    paper = themes()[theme]["paper"]
    layers = charts.use_by_size("use", run, {"x": run}).spec["runs"]
    found = [contrast(layer[name], paper) for layer in layers]
    assert len(found) > 2
    assert min(found) >= 3
    assert found == sorted(found, reverse=True)
