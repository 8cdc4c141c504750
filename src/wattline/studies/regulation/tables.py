"""A contract as tables from which its bill and its quality can be worked out anew."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from wattline.grid.market import overlay
from wattline.scenario.regulated import ContractRun

COLUMNS = ("start_s", "end_s", "power_w", "average_w", "reserve_w", "signal", "energy_price",
           "reserve_price", "error_price")  # fmt: skip


def write_tables(found: ContractRun, folder: Path) -> list[Path]:
    """Write `power.csv`, a row for each piece of the billed time, and `jobs.parquet`."""
    import pyarrow.parquet as pq

    from wattline.analysis.tables import job_table

    folder.mkdir(parents=True, exist_ok=True)
    power, jobs = folder / "power.csv", folder / "jobs.parquet"
    case, contract, prices = found.case, found.contract, found.case.prices
    edges, values = overlay(
        (found.actual_w, contract.average_w, contract.reserve_w, case.signal,
         prices.energy, prices.reserve, prices.error),
        case.judged_s, case.end_s,
    )  # fmt: skip
    rows = np.column_stack((edges[:-1], edges[1:], *values))
    np.savetxt(power, rows, fmt="%.17g", delimiter=",", header=",".join(COLUMNS), comments="")
    pq.write_table(job_table(found.run), jobs, compression="zstd")
    return [power, jobs]
