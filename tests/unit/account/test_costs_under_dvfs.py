"""Jobs that a cap slows down together are charged for when they drew how much."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import wattline as wl

PRICES = "time_s,price EUR/kWh\n" + "".join(
    f"{hour * 3600},{0.1 + 0.2 * (hour % 2)}\n" for hour in range(400))


@pytest.mark.parametrize("cap", ["60%", "75%"])
@pytest.mark.parametrize("own_powers", [False, True])
def test_costs_are_the_integral_of_power_and_price(
    tmp_path: Path, cap: str, own_powers: bool
) -> None:
    table = tmp_path / "prices.csv"
    table.write_text(PRICES)
    trace = wl.generate("lublin", seed=7, jobs=60, nodes=32)
    if own_powers:
        power_w = np.linspace(150.0, 300.0, len(trace.jobs)) * trace.jobs.procs
        trace = replace(trace, jobs=replace(trace.jobs, power_w=power_w))
    run = wl.simulate(trace, machine=wl.Machine(nodes=32, node_idle_w=90, node_active_w=300),
                      power=wl.Dvfs(cap=cap))
    found = wl.account_run(run, price=str(table))
    log = run.events
    of_jobs_w = log.power_w - 90 * (32 - log.busy)
    first_s = float(trace.jobs.submit_s[0])  # for which the table's first row is taken
    at_s = np.unique(np.concatenate([log.time_s, first_s + np.arange(400) * 3600.0]))
    at_s = at_s[(at_s >= log.time_s[0]) & (at_s <= log.time_s[-1])]
    now_w = of_jobs_w[np.searchsorted(log.time_s, at_s[:-1], side="right") - 1]
    per_kwh = 0.1 + 0.2 * (((at_s[:-1] - first_s) // 3600) % 2)
    assert found.cost == pytest.approx((now_w * per_kwh * np.diff(at_s)).sum() / 3.6e6, rel=1e-9)
    assert {job["quality"] for job in found.jobs} == {"simulated"}
    assert not any("mean power" in line for line in found.remarks)
