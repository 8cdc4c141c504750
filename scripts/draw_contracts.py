"""The pictures of demand response: events, rules beside each other, thresholds."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import wattline as wl
from wattline.demand_response.api import ContractResult
from wattline.demand_response.plots import AMBER, BLUE, GREEN, GREY, RED
from wattline.grid.market import ERROR_LIMIT, EXCEED_LIMIT, tracking_errors
from wattline.grid.workloads import applications

EVENTS = [{
    "id": "dear-hour", "modificationDateTime": "2026-07-01T11:00:00Z",
    "payloadDescriptors": [{"payloadType": "PRICE", "units": "KWH", "currency": "USD"}],
    "intervals": [{
        "id": 0, "intervalPeriod": {"start": "2026-07-01T12:30:00Z", "duration": "PT1H"},
        "payloads": [{"type": "PRICE", "values": [0.42]}, {"type": "SIMPLE", "values": [2]}]}],
}]
"""A price and level 2, 75 % of the usual cap, for an hour."""
RULES = {"tracking": GREY, "energyqare": AMBER, "aqa": BLUE, "qoscap": RED}
"""QoSG decides as AQA does, once there is a bid."""
SURE = {"sure": BLUE, "likely": GREEN, "either": AMBER, "integer": RED, "chosen": GREY}


@dataclass(frozen=True)
class Picture:
    """A figure that is saved like what commands draw."""

    figure: Callable[[], Figure]

    def save(self, path: Path) -> None:
        self.figure().savefig(path, dpi=110)


def plain_axes(width: float, height: float) -> tuple[Figure, Axes]:
    """Axes with a light grid and no frame."""
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(True, color="#dddddd", lw=0.6)
    axes.set_axisbelow(True)
    return figure, axes


def events() -> Picture:
    """Draw with `wattline regulate --events events.json` a course of two hours with an event in
    them."""
    file = Path("events.json")
    file.write_text(json.dumps(EVENTS), encoding="utf-8")
    found = wl.regulate(
        workload="W4", duration="2h", seed=1, policy="qoscap", preempt=True, sleep=True,
        events=str(file), events_begin="2026-07-01T12:00:00Z", events_cap="10kW")
    return Picture(lambda: _events_figure(found))


def _events_figure(found: ContractResult) -> Figure:
    case, figure = found.run.case, Figure(figsize=(10, 4.6), layout="constrained")
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    time_s = np.linspace(case.start_s, case.end_s, 2400, endpoint=False)
    minutes = (time_s - case.judged_s) / 60
    assert case.limit_w is not None
    top.plot(minutes, found.run.actual_w.sample(time_s) / 1000, color=BLUE, lw=0.9, label="power")
    top.plot(minutes, case.limit_w.sample(time_s) / 1000, color=RED, lw=1.6, label="cap")
    top.set_ylabel("kW")
    bottom.plot(minutes, case.prices.energy.sample(time_s), color=GREEN, lw=1.6)
    bottom.set_ylabel("per kWh")
    bottom.set_ylim(bottom=0)
    bottom.set_xlabel("minutes since the contract began (grey: warm-up)")
    top.legend(loc="lower left", fontsize=8, frameon=False)
    for axes in (top, bottom):
        axes.axvspan(minutes[0], 0, color=GREY, alpha=0.15, lw=0)
        axes.grid(True, color="#dddddd", lw=0.6)
        axes.set_xlim(minutes[0], minutes[-1])
    return figure


def rules() -> Picture:
    """The tracking error of one bid under each rule."""
    figure, axes = plain_axes(7, 3.8)
    for name, colour in RULES.items():
        run = wl.regulate(workload="W4", seed=1, policy=name, bid=(9000, 2400), check=0).run
        error, held_s = tracking_errors(run.actual_w, run.contract, run.case.signal,
                                        run.case.judged_s, run.case.end_s)
        order = np.argsort(error)
        axes.plot(error[order], np.cumsum(held_s[order]) / held_s.sum(), color=colour, label=name)
    axes.axvline(ERROR_LIMIT, color="black", ls="--", lw=0.8)
    axes.axhline(1 - EXCEED_LIMIT, color="black", ls="--", lw=0.8)
    axes.set_xlim(0, 0.6)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("tracking error (share of the reserve)")
    axes.set_ylabel("share of the time")
    axes.set_title("a curve must pass above the crossing of the dashed lines", loc="left",
                   fontsize=9)
    axes.legend(loc="lower right", fontsize=8)
    return Picture(lambda: figure)


def thresholds() -> Picture:
    """The thresholds of table 2.4, by how sure they are."""
    figure, axes = plain_axes(9, 4.0)
    types = sorted(applications("npb").values(), key=lambda each: each.threshold)
    for word, colour in SURE.items():
        mine = [n for n, each in enumerate(types) if each.threshold_sure == word]
        axes.bar(mine, [types[n].threshold for n in mine], color=colour, label=word)
    axes.set_xticks(range(len(types)), [each.name for each in types], rotation=90, fontsize=7)
    axes.set_ylabel("threshold of the degradation Q")
    axes.legend(title="how sure", fontsize=8)
    return Picture(lambda: figure)
