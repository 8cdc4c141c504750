"""Random workloads and the built-in compositions, for property tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from wattline.model.jobs import JobTable
from wattline.testing.composing import composed as compose

__all__ = ["compose", "logged_ranges", "sized_workloads", "workloads"]



@st.composite
def workloads(draw, units: int = 8, largest: int = 14, dependencies: bool = False) -> JobTable:
    """Small integer times, so that ties, exact fits and overruns are common."""
    count = draw(st.integers(1, largest))
    gaps = draw(st.lists(st.integers(0, 6), min_size=count, max_size=count))
    run = draw(st.lists(st.integers(1, 12), min_size=count, max_size=count))
    asked = draw(st.lists(st.integers(1, 16), min_size=count, max_size=count))
    procs = draw(st.lists(st.integers(1, units), min_size=count, max_size=count))
    power = draw(st.lists(st.integers(90, 400), min_size=count, max_size=count))
    after = {}
    if dependencies:
        follows = draw(st.lists(st.booleans(), min_size=count, max_size=count))
        after = {"after_job": np.where(follows, np.arange(count) - 1, -1),
                 "think_s": draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))}
    return JobTable.build(
        submit_s=np.cumsum(gaps),
        run_s=run,
        requested_s=asked,
        procs=procs,
        power_w=np.array(power) * np.array(procs),
        user=np.arange(count) % 3,
        **after,
    )


@st.composite
def sized_workloads(draw, most_units: int = 24) -> tuple[int, JobTable]:
    """A machine of any size and jobs for it."""
    units = draw(st.integers(1, most_units))
    return units, draw(workloads(units))


def logged_ranges(ranges):
    """The columns of a log in which each job allows a range of frequencies; None: not said."""
    return {
        "frequency_hz_min": np.array([np.nan if r is None else r.min_hz for r in ranges]),
        "frequency_hz_max": np.array([np.nan if r is None else r.max_hz for r in ranges]),
    }
