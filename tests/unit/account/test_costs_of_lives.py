"""A job's costs are counted for each of its lives, at the price of the time."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from wattline.account.costs import job_costs
from wattline.account.ledger import Ledger
from wattline.model.signal import Signal


def test_the_lives_of_a_requeued_job_have_each_their_own_cost() -> None:
    rows = [  # job, restart, step, from, watts, end of the step
        (7, 0, 0, 0.0, 100.0, 20.0), (7, 0, 0, 10.0, 50.0, 20.0), (7, 1, 0, 20.0, 100.0, 30.0),
        (8, 0, 0, 20.0, 10.0, 30.0)]
    columns = tuple(np.array(column) for column in zip(*rows, strict=True))
    ledger = cast(Ledger, SimpleNamespace(power_rows=lambda run_id: columns))
    jobs: list[dict[str, Any]] = [
        {"job_id": job, "restart": restart} for job, restart in ((7, 0), (7, 1), (8, 0), (9, 0))]
    price = Signal.from_steps([(0.0, 1.0), (10.0, 2.0), (20.0, 3.0)])
    assert job_costs(ledger, 1, jobs, price) == {
        (7, 0): 100 * 10 * 1 + 50 * 10 * 2, (7, 1): 100 * 10 * 3, (8, 0): 10 * 10 * 3, (9, 0): 0.0}
