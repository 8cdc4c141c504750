"""The folder of a contract: a run folder like any other, and what the contract adds to it.

    contract.json  the figures of the contract, as `wattline regulate --json` prints them
    power.csv      power, bid, signal and prices of every piece of the billed time: the bill anew
    pictures/      target and actual power, servers, distributions of error and degradation
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from wattline.analysis.folders import claimed_folder
from wattline.analysis.metrics import metrics
from wattline.analysis.result import Result
from wattline.analysis.rundir import write
from wattline.demand_response.run import ContractRun
from wattline.demand_response.standby_rows import as_people_read
from wattline.grid.market import WS_PER_KWH, overlay
from wattline.model.signal import Signal
from wattline.scenario.model import Scenario

COLUMNS = ("start_s", "end_s", "power_w", "average_w", "reserve_w", "signal", "energy_price",
           "reserve_price", "error_price", "billed_w", "score", "credit")
SAME = 1e-9
"""Relative: bills that differ by less are the same."""


def result_of(
    scenario: Scenario, found: ContractRun, remarks: tuple[str, ...], assumed: tuple[str, ...]
) -> Result:
    """The run of a contract with its scenario and what is to be said of it."""
    run, said = as_people_read(found.case, found.run)
    return replace(
        Result.of(run), scenario=scenario.model_dump(mode="json", exclude_none=True),
        remarks=(*remarks, *said), assumed=assumed,
    )


def write_folder(
    result: Result, found: ContractRun, figures: Mapping[str, Any], folder: str | Path | None
) -> Path:
    """Write the run folder with the contract in it, whole or not at all; who reads a report of it
    learns what came of the contract."""
    result = replace(result, remarks=(outcome_words(figures), *result.remarks))
    further = {"contract.json": json.dumps(figures, indent=2) + "\n", "power.csv": _power(found)}
    with claimed_folder(result.name, folder) as target:
        return write(result, target, metrics(result), further)


def outcome_words(figures: Mapping[str, Any]) -> str:
    """What came of a contract, in one sentence."""
    money = figures["currency"] or "in units of the prices"
    terms, score = figures["programme"], figures["score"]
    parts = []
    if terms is not None and score is not None:
        parts.append(f"{terms['title']}: score {score:.2f}, at least {terms['least_score']:g} is "
                     "asked for")
    if terms is not None and terms["credit"] is not None:
        parts.append(f"the credit is {terms['credit']:.4g} {terms['currency'] or money}")
    if not figures["participates"] and figures["constraints_met"] is None:
        parts.append("nothing is offered")
    elif figures["violations"]:
        parts.append(f"not kept: {'; '.join(figures['violations'])}")
    else:
        parts.append("all constraints are met")
    return f"the contract costs {figures['cost']:.4g} {money}; {'; '.join(parts)}"


def _period_edges(found: ContractRun) -> Signal:
    """A signal that steps where settlement periods begin and end, so that no row crosses one."""
    times = [time_s for each in found.settlement.periods for time_s in (each.start_s, each.end_s)]
    return Signal.from_steps([(time_s, 0.0) for time_s in (found.case.judged_s, *times)])


def _power(found: ContractRun) -> str:
    """A row for each piece of the billed time, from which the bill can be worked out anew.

    Where a programme's credit is in the bill, it takes the place of the prices of reserve and
    error, and each row has its part of the credit of its period.
    """
    case, contract, prices = found.case, found.contract, found.case.prices
    edges, values = overlay(
        (found.actual_w, contract.average_w, contract.reserve_w, case.signal,
         prices.energy, prices.reserve, prices.error, _period_edges(found)),
        case.judged_s, case.end_s,
    )
    values = values[:-1]
    power_w, average_w, reserve_w = values[:3]
    billed_w = np.where((reserve_w > 0) & (not case.credited), average_w, power_w)
    score, credit = np.zeros(billed_w.size), np.zeros(billed_w.size)
    if case.credited:
        values[5], values[6] = np.zeros(billed_w.size), np.zeros(billed_w.size)
    if case.credited or case.reduction_paid:
        for period in found.settlement.periods:
            inside = (edges[:-1] >= period.start_s) & (edges[:-1] < period.end_s)
            span_s = np.diff(edges)[inside]
            score[inside] = period.score
            credit[inside] = period.credit * span_s / span_s.sum()
    rows = np.column_stack((edges[:-1], edges[1:], *values, billed_w, score, credit))
    lines = (",".join(f"{value:.17g}" for value in row) for row in rows)
    return "\n".join((",".join(COLUMNS), *lines)) + "\n"


def bill_differs(folder: Path) -> list[str]:
    """Where the bill worked out anew from a folder's table is not the one that it states."""
    told, table = folder / "contract.json", folder / "power.csv"
    if not told.is_file():
        return []
    try:
        stated = float(json.loads(told.read_text(encoding="utf-8"))["cost"])
        lines = table.read_text(encoding="utf-8").splitlines()
        rows = np.array([line.split(",") for line in lines[1:]], dtype=np.float64)
        if tuple(lines[0].split(",")) != COLUMNS or rows.shape[1] != len(COLUMNS):
            raise ValueError("its columns are others")
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        return [f"contract.json and power.csv do not give a bill: {error}"]
    row = dict(zip(COLUMNS, rows.T, strict=True))
    error_w = np.where(row["reserve_w"] > 0, np.abs(
        row["power_w"] - row["average_w"] - row["signal"] * row["reserve_w"]), 0.0)
    rate = (row["energy_price"] * row["billed_w"] - row["reserve_price"] * row["reserve_w"]
            + row["error_price"] * error_w)
    anew = float(rate @ (row["end_s"] - row["start_s"])) / WS_PER_KWH - float(row["credit"].sum())
    size = float(np.abs(rate) @ (row["end_s"] - row["start_s"])) / WS_PER_KWH
    if abs(anew - stated) <= SAME * max(size, abs(stated)):
        return []
    return [f"the bill is {stated:.9g}, and worked out anew from power.csv it is {anew:.9g}"]
