"""The figures of the published evaluation: which cases each one shows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from wattline.model.run import Run
from wattline.model.signal import FloatArray
from wattline.studies.puppet.runs import ORDERS, WHOLE, CappedCase, Laboratory

CAPS = (0.8, 0.7, 0.6, 0.5, 0.4)
ALPHAS = (1.0, 2.0, 3.0)
BETAS = (0.5, 1.0, 1.5, 2.0)
IDLES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
BIN_S = 300.0
DAY_S = 86400.0


@dataclass(frozen=True)
class Figure:
    """One figure: for every order and part, a bar for each choice."""

    number: int
    title: str
    choices: tuple[tuple[str, CappedCase], ...]
    """Label and case; part and order of the case are filled in."""
    metrics: tuple[str, ...] = ("utilisation", "wait", "edp")

    def case(self, choice: int, part: int, order: str) -> CappedCase:
        model = self.choices[choice][1]
        return replace(model, part=part, order=order)

    def cases(self, parts: int) -> list[CappedCase]:
        return [self.case(choice, part, order) for order in ORDERS for part in range(parts)
                for choice in range(len(self.choices))]


def _model(method: str, cap: float = 0.7, alpha: float = 2.0, beta: float = 0.5,
           idle: float = 0.3) -> CappedCase:
    return CappedCase(0, "fcfs", method, cap, alpha, beta, idle)


FIGURES = (
    Figure(10, "DVFS: how power follows frequency (alpha)", tuple(
        (f"alpha {alpha:g}", _model("dvfs", alpha=alpha)) for alpha in ALPHAS)),
    Figure(11, "DVFS: power caps", tuple(
        (f"{cap:.0%}", _model("dvfs", cap)) for cap in CAPS)),
    Figure(12, "DVFS: how time follows frequency (beta)", tuple(
        (f"beta {beta:g}", _model("dvfs", beta=beta)) for beta in BETAS)),
    Figure(13, "Power-aware allocation: BLOCK and WAIT", (
        ("BLOCK", _model("block")), ("WAIT", _model("wait")))),
    Figure(14, "Power-aware allocation (WAIT): power caps", tuple(
        (f"{cap:.0%}", _model("wait", cap)) for cap in CAPS)),
    Figure(15, "Power-aware allocation (WAIT): idle power", tuple(
        (f"idle {idle:.0%}", _model("wait", idle=idle)) for idle in IDLES), ("edp",)),
)


def all_cases(parts: int) -> list[CappedCase]:
    return [case for figure in FIGURES for case in figure.cases(parts)]


@dataclass(frozen=True, eq=False)
class DayCurve:
    """Mean power by the time of day (figure 16), one curve a method."""

    hour: FloatArray
    power_w: dict[str, FloatArray]
    peak_w: dict[str, float]
    """The highest power of any instant."""
    cap_w: float
    days: int
    left_out: int


def day_curve(laboratory: Laboratory, order: str = "wfp") -> DayCurve:
    """Figure 16: the whole log without a cap, with WAIT and with DVFS."""
    mask = laboratory.can_run(CappedCase(WHOLE, order, "wait"))
    curves: dict[str, FloatArray] = {}
    peaks: dict[str, float] = {}
    bins = round(DAY_S / BIN_S)
    days = max(1, int(laboratory.workload.whole.submit_s[-1] // DAY_S))
    for method in ("none", "wait", "dvfs"):
        run = laboratory.run(CappedCase(WHOLE, order, method), mask)
        edges = np.arange(days * bins + 1, dtype=np.float64) * BIN_S
        energy_j = np.diff(energy_until(run, edges)).reshape(days, bins)
        curves[method] = energy_j.mean(axis=0) / BIN_S
        peaks[method] = run.power_w_peak
    hour: FloatArray = (np.arange(bins, dtype=np.float64) + 0.5) * BIN_S / 3600.0
    cap_w = laboratory.cap_w(CappedCase(WHOLE, order, "wait"))
    return DayCurve(hour, curves, peaks, cap_w, days, int((~mask).sum()))


def energy_until(run: Run, times_s: FloatArray) -> FloatArray:
    """Joules of the machine from its first event up to each time, exactly."""
    time_s, power_w = run.events.time_s, run.events.power_w
    idle_w = run.machine.power_w_idle
    # Before the first event and after the last one the machine idles.
    time_s = np.concatenate(([min(0.0, float(time_s[0]))], time_s, [max(times_s[-1], run.end_s)]))
    power_w = np.concatenate(([idle_w], power_w[:-1], [idle_w]))
    energy_j = np.concatenate(([0.0], np.cumsum(power_w * np.diff(time_s))))
    return np.interp(times_s, time_s, energy_j)
