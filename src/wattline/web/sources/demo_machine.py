"""The machine and the jobs of the demo: invented, and the same at every start."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from wattline.model.jobs import JobTable
from wattline.model.run import PowerBound
from wattline.model.signal import Signal
from wattline.web.sources.rates import Rates

USERS = ("ann", "bob", "cyd", "dan", "eve", "fay", "gil", "hal")
ACCOUNTS = ("physics", "chemistry", "climate")
ACCOUNT_OF = (0, 0, 0, 1, 1, 2, 2, 2)
APPLICATIONS = ("lattice", "docking", "ocean", "molecules", "analysis")
SHARES = (("physics", 0.4), ("chemistry", 0.3), ("climate", 0.3),
          ("ann", 0.15), ("bob", 0.15), ("cyd", 0.1), ("dan", 0.15), ("eve", 0.15),
          ("fay", 0.1), ("gil", 0.1), ("hal", 0.1))
KWH = 3.6e6
CAP_W = 70_000.0
FEED_W = 60_000.0
JOBS = 1500
SPAN_S = 2 * 86400.0
"""In which the jobs come."""


def machine() -> Any:
    """Two classes in eight racks: 192 nodes of one, 64 larger ones of the other."""
    from wattline.scenario.objects import Machine, NodeClass

    return Machine(name="demo", site="demo", classes=(
        NodeClass(name="cpu", count=192, cores=64, idle_w=110, active_w=380, nodes_per_rack=32),
        NodeClass(name="fat", count=64, cores=64, idle_w=160, active_w=560, nodes_per_rack=32)))


def feeds() -> tuple[PowerBound, ...]:
    """Two feeds, each of four racks, and what each may carry."""
    return tuple(PowerBound(name, FEED_W, 0.0, np.arange(first, first + 128))
                 for name, first in (("feed A", 0), ("feed B", 128)))


def jobs(count: int = JOBS, seed: int = 20) -> JobTable:
    """Lublin's model for sizes and times; users, accounts and watts are drawn beside it."""
    from wattline.traces import generate

    table = generate("lublin", seed=seed, jobs=count, nodes=64).jobs
    rng = np.random.default_rng(seed)
    user = rng.choice(len(USERS), count, p=[.22, .16, .12, .14, .1, .12, .08, .06])
    span_s = SPAN_S * count / JOBS
    submit_s = (table.submit_s - table.submit_s[0]) * (
        span_s / max(float(table.submit_s[-1] - table.submit_s[0]), 1.0))
    names = {"user": USERS, "group": ACCOUNTS, "application": APPLICATIONS}
    return replace(table, submit_s=submit_s, run_s=np.minimum(table.run_s, 6 * 3600.0),
                   requested_s=np.minimum(table.requested_s, 8 * 3600.0), user=user,
                   group=np.array(ACCOUNT_OF)[user], procs=table.procs * 64,
                   application=rng.integers(0, len(APPLICATIONS), count), names=names)


def rates() -> Rates:
    return Rates(price=Signal.constant(0.18 / KWH, "EUR/J"),
                 carbon=Signal.constant(320.0 / KWH, "g/J"),
                 budget_j=1450.0 * KWH, budget_period_s=86400.0, fairshare=SHARES, invented=True)
