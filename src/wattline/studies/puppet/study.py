"""The published evaluation of PuPPET on a log: figures 10 to 16, table 2, and the findings."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from wattline.studies.puppet.cases import busy_parts
from wattline.studies.puppet.figures import CAPS, FIGURES, DayCurve, all_cases, day_curve
from wattline.studies.puppet.findings import findings
from wattline.studies.puppet.log_figures import MIRA, log_figures
from wattline.studies.puppet.runs import ORDERS, CappedCase, Laboratory, Ratio
from wattline.studies.puppet.sensitivity import Tables, tables
from wattline.studies.puppet.steps import StepError, step_study
from wattline.studies.puppet.verdicts import StudyFinding, mean
from wattline.studies.puppet.workloads import StudiedJobs


@dataclass(frozen=True, eq=False)
class PuppetResult:
    """Everything that the study found."""

    workload: StudiedJobs
    reference_w: float
    """The uncapped peak of the first part, of which caps are fractions."""
    ratios: dict[CappedCase, Ratio]
    curve: DayCurve
    steps: list[StepError]
    findings: list[StudyFinding]
    tables: Tables
    """The effect of load, of what the cap counts, of the slowest frequency and of beta."""
    seconds: float
    simulations: int

    @property
    def left_out(self) -> list[dict[str, Any]]:
        """Jobs that could never run, by method and cap: how many, and their part of the work."""
        found = []
        for method in ("block", "wait", "dvfs"):
            for cap in CAPS:
                cases = [r for r in self.ratios.values() if (r.case.method, r.case.cap) ==
                         (method, cap) and r.case == CappedCase(r.case.part, "fcfs", method, cap)]
                if cases:
                    found.append({"method": method, "cap": cap,
                                  "jobs": sum(r.left_out for r in cases),
                                  "share": mean(r.left_out_share for r in cases)})
        return found


def study(workload: StudiedJobs, advance: Callable[[float], None] = lambda share: None, *,
          assumptions: bool = True) -> PuppetResult:
    """Run it all; `advance` hears how far it has come.

    `assumptions`: with the tables of what hangs on them, which are most of the simulations.
    """
    began = time.perf_counter()
    laboratory = Laboratory(workload)
    parts = len(workload.parts)
    ratios = laboratory.ratios(all_cases(parts), lambda share: advance(0.5 * share))
    curve = day_curve(laboratory)
    advance(0.55)
    steps = step_study(laboratory)
    varied = tables(laboratory, lambda share: advance(0.6 + 0.4 * share)) if assumptions else (
        Tables((), (), ()))
    advance(1.0)
    found = findings(ratios, curve, parts)
    more = (len(varied.load) + len(varied.lowest) + len(varied.beta)) * 2 * parts
    simulations = more + len(ratios) + len({(r.case.part, r.case.order, r.case.idle, r.left_out)
                                     for r in ratios.values()}) + 3 + 1 + len(steps)
    return PuppetResult(workload, laboratory.reference_w, ratios, curve, steps, found, varied,
                  time.perf_counter() - began, simulations)


def as_json(result: PuppetResult) -> dict[str, Any]:
    """The result for programs."""
    workload = result.workload
    return {
        "findings": [finding.to_dict() for finding in result.findings],
        "step_error": {str(row.step_min): row.error for row in result.steps},
        "step_error_replayed": {str(row.step_min): row.replayed for row in result.steps},
        "seconds": result.seconds,
        "reasons": {finding.id: finding.why for finding in result.findings
                    if not finding.holds},
        "tables": asdict(result.tables),
        "left_out": result.left_out,
        "simulations": result.simulations,
        "workload": {
            "source": workload.source, "nodes": workload.nodes, "jobs": len(workload.whole),
            "parts": dict(zip(workload.names, map(len, workload.parts), strict=True)),
            "busy": [workload.names[part]
                     for part in busy_parts(result.ratios, len(workload.parts))],
            "reference_peak_w": result.reference_w,
            "figures": log_figures(workload.whole, workload.nodes), "figures_of_mira": MIRA,
        },
        "step_table": [asdict(row) for row in result.steps],
        "figures": {str(figure.number): _figure_rows(result, figure.number) for figure in FIGURES}
        | {"16": {"cap_w": result.curve.cap_w, "hour": result.curve.hour,
                  "power_w": result.curve.power_w, "peak_w": result.curve.peak_w,
                  "days": result.curve.days, "left_out": result.curve.left_out}},
    }


def _figure_rows(result: PuppetResult, number: int) -> list[dict[str, Any]]:
    figure = next(figure for figure in FIGURES if figure.number == number)
    rows = []
    for order in ORDERS:
        for part, name in enumerate(result.workload.names):
            for choice, (label, _) in enumerate(figure.choices):
                ratio = result.ratios[figure.case(choice, part, order)]
                rows.append({
                    "order": order, "part": name, "choice": label,
                    "utilisation": ratio.utilisation, "wait": ratio.wait, "edp": ratio.edp,
                    "wait_s": ratio.figures.wait_s, "baseline_wait_s": ratio.baseline.wait_s,
                    "left_out": ratio.left_out, "left_out_share": ratio.left_out_share,
                })
    return rows
