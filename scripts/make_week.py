"""Make the week of examples/: a job log, and the prices of its hours.

The log is invented, so that it may be given away: 64 nodes, six users of three accounts, each with
an application, the hours of people at work. The seed is fixed; the files come out the same.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import numpy as np

import wattline as wl

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
HOURS = 7 * 24
JOBS = 260
ACCOUNTS = ("physics", "chemistry", "climate")


class User(NamedTuple):
    """Users and their jobs: how often, on how many nodes, for how long, at which power."""

    name: str
    account: str
    application: str
    weight: float
    nodes: tuple[int, ...]
    hours: float
    node_w: float


USERS = (
    User("ann", "physics", "lattice", 3, (4, 8, 16), 3.0, 330),
    User("bob", "physics", "analysis", 6, (1, 1, 2), 0.8, 210),
    User("cyd", "chemistry", "docking", 5, (1, 2, 4), 1.5, 290),
    User("dan", "chemistry", "molecules", 3, (4, 8), 4.0, 310),
    User("eve", "climate", "ocean", 2, (16, 24, 32), 5.0, 270),
    User("fay", "climate", "ensemble", 3, (8, 12), 2.5, 285),
)


def jobs() -> wl.JobTable:
    """The jobs, in the order of submission."""
    random = np.random.default_rng(7)
    hour = np.arange(HOURS)
    busy = np.where(hour // 24 < 5, 1.0, 0.3) * np.where((hour % 24 >= 8) & (hour % 24 < 19), 4, 1)
    submit_s = np.sort(random.choice(hour, JOBS, p=busy / busy.sum()) * 3600
                       + random.integers(0, 3600, JOBS))
    weights = np.array([user.weight for user in USERS])
    who = random.choice(len(USERS), JOBS, p=weights / weights.sum())
    rows = [_row(USERS[each], random) for each in who]
    run_s, requested_s, nodes, power_w = np.array(rows).T
    return wl.JobTable.build(
        submit_s=submit_s, run_s=run_s, requested_s=requested_s, procs=nodes, power_w=power_w,
        job_id=1001 + np.arange(JOBS), user=who, application=who,
        group=[ACCOUNTS.index(USERS[each].account) for each in who],
        status=np.ones(JOBS), names={
            "user": tuple(user.name for user in USERS), "group": ACCOUNTS,
            "application": tuple(user.application for user in USERS)})


def _row(user: User, random: np.random.Generator) -> tuple[float, float, float, float]:
    """Run time, requested time, nodes and power of one job."""
    nodes = int(random.choice(user.nodes))
    run_s = int(np.clip(random.lognormal(np.log(user.hours * 3600), 0.6), 120, 20 * 3600))
    requested_s = int(np.ceil(run_s / random.uniform(0.4, 1.0) / 900)) * 900
    return run_s, requested_s, nodes, round(nodes * random.normal(user.node_w, 8))


def price_lines() -> list[str]:
    """A price per hour: low at night and at noon, high in the evening, lower at the weekend."""
    lines = []
    for hour in range(HOURS + 48):
        of_day = hour % 24
        price = 90 + 45 * np.exp(-((of_day - 19) / 2.5) ** 2) + 20 * np.exp(
            -((of_day - 8) / 2) ** 2) - 50 * np.exp(-((of_day - 13) / 2.5) ** 2)
        price *= 0.75 if hour // 24 % 7 >= 5 else 1.0
        when = (MONDAY + timedelta(hours=hour)).strftime("%Y-%m-%dT%H:%M:%S")
        lines.append(f"{when},{price:.1f}")
    return lines


def main() -> None:
    header = {"Version": "2.2", "Computer": "an invented machine", "MaxNodes": "64",
              "UnixStartTime": f"{MONDAY.timestamp():.0f}"}
    wl.write(wl.Trace(jobs(), header), EXAMPLES / "week.swf")
    prices = ["Datetime (UTC),Price (EUR/MWh)", *price_lines()]
    (EXAMPLES / "prices.csv").write_text("\n".join(prices) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
