"""Random cases with small whole figures, so that ties and exact fits are common."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.support.definitions.world import Case, Outage, Reading
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass
from wattline.model.reservation import Reservation
from wattline.model.signal import Signal

IDLE_W, ACTIVE_W = 100.0, 300.0
WATTS = (50.0, 99.5, 100.0, 100.5, 150.0, 200.0, 300.0, 300.0, 350.0, 600.0)
"""Of a busy unit: below, at, just above and far above what it draws idle."""


@st.composite
def cases(draw, *, capped: bool = True, windows: bool = True, watts_windows: bool = True,
          told: bool = False, most_jobs: int = 12, watts: tuple[float, ...] = WATTS) -> Case:
    units = draw(st.integers(1, 10))
    count = draw(st.integers(1, most_jobs))

    def column(values: st.SearchStrategy) -> list:
        return draw(st.lists(values, min_size=count, max_size=count))

    submit_s, now_s = [], 0
    for gap in column(st.integers(0, 5)):
        submit_s.append(now_s)
        now_s += gap
    procs = column(st.integers(1, units))
    each_w = column(st.sampled_from(watts))
    run_s = column(st.integers(0, 12))
    jobs = JobTable.build(
        submit_s=submit_s, procs=procs, run_s=run_s,
        requested_s=[max(run + more, 0) for run, more in
                     zip(run_s, column(st.sampled_from([0, 0, 0, 1, 4, 9, -3])), strict=True)],
        power_w=[n * w for n, w in zip(procs, each_w, strict=True)])
    times = st.integers(1, 50)
    cap_w = None
    if capped:
        levels = st.integers(0, 8 * units).map(lambda k: units * IDLE_W + k * 50.0)
        steps = draw(st.dictionaries(times, levels, max_size=3))
        cap_w = Signal.from_steps([(0.0, draw(levels)), *steps.items()], "W")
    return Case(jobs, Machine.uniform(units, NodeClass(power_w_idle=IDLE_W,
                                                       power_w_active=ACTIVE_W)), cap_w,
                tuple(draw(_windows(units, windows, capped and watts_windows))),
                draw(st.sampled_from(["extend", "kill"])),
                tuple(draw(_told(units, count, watts))) if told else ())


@st.composite
def _windows(draw, units: int, of_units: bool, of_watts: bool) -> list[Reservation]:
    found, kept = [], units
    for _ in range(draw(st.integers(0, 2)) if of_units or of_watts else 0):
        nodes = draw(st.integers(0, kept)) if of_units else 0
        watts = 50.0 * draw(st.integers(0, 3 * units)) if of_watts else 0.0
        if nodes or watts:
            kept -= nodes
            found.append(Reservation(draw(st.integers(1, 40)), draw(st.integers(1, 15)),
                                     nodes=nodes, watts=watts, name=f"w{len(found)}"))
    return found


@st.composite
def _told(draw, units: int, count: int, watts: tuple[float, ...]) -> list[Outage | Reading]:
    found: list[Outage | Reading] = []
    broken = 0
    for time_s in sorted(draw(st.lists(st.integers(0, 40), max_size=4, unique=True))):
        change = draw(st.integers(-broken, units - broken))
        if change:
            found.append(Outage(float(time_s), change))
            broken += change
    if broken:
        found.append(Outage(60.0, -broken))  # all are repaired in the end
    for _ in range(draw(st.integers(0, 4))):
        found.append(Reading(float(draw(st.integers(1, 30))), draw(st.integers(0, count - 1)),
                             float(draw(st.sampled_from(watts))) * draw(st.integers(1, units))))
    return found
