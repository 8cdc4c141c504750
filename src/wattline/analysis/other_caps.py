"""The caps of runs in watts, and runs without one measured against that of the run most like them.

So "time above the cap" says what the cap changed. A cap of another machine would say nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wattline.analysis import series
from wattline.analysis.scenario_fields import fields
from wattline.model.cap_value import CapInWatts
from wattline.model.run import Run

ABOVE_CAP_OF = "above_cap_of"
"""Beside the figures of a run without a cap: the run whose cap it is measured against."""

_OF_THE_CAP = ("name", "power.cap", "power.watch_cap", "policy.power")
"""What differs between a run and the same one under a cap."""


def cap_of(run: Run) -> CapInWatts | None:
    """The cap of a run, as it was written and in watts; None without one."""
    return CapInWatts.of_fields(run.scenario.get("power") or {}, run.cap_w,
                                run.machine.power_w_max)


def cap_givers(runs: Mapping[str, Run]) -> dict[str, str]:
    """For each run without a cap the one whose cap is its measure: on the same machine, with the
    fewest other differences, the first of these. A run with none on its machine is left out."""
    capped = {name: run for name, run in runs.items() if run.cap_w is not None}
    said = {name: _but_the_cap(run) for name, run in runs.items()} if capped else {}
    found = {}
    for name, run in runs.items():
        alike = [other for other, its in capped.items()
                 if (its.machine, its.units) == (run.machine, run.units)]
        if run.cap_w is None and alike:
            found[name] = min(alike, key=lambda other: len(said[name] ^ said[other]))
    return found


def against_other_caps(
    runs: Mapping[str, Run], figures: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """The figures of runs, with the time and energy above another's cap where there is no own."""
    found = {name: dict(figures[name]) for name in runs}
    for name, giver in cap_givers(runs).items():
        cap_w = runs[giver].cap_w
        assert cap_w is not None  # a giver has one
        time_s, energy_j = series.above(series.power_steps(runs[name]), cap_w)
        found[name] |= {"time_above_cap_s": time_s, "energy_above_cap_j": energy_j,
                        ABOVE_CAP_OF: giver}
    return found


def cap_notes(runs: Mapping[str, Run]) -> list[str]:
    """Which cap each run without one is measured against, and which runs have no measure."""
    givers = cap_givers(runs)
    by_giver: dict[str, list[str]] = {}
    for name, giver in givers.items():
        by_giver.setdefault(giver, []).append(f"'{name}'")
    notes = [f"above the cap: {', '.join(names)} {'is' if len(names) == 1 else 'are'} measured "
             f"against the cap of '{giver}'" for giver, names in by_giver.items()]
    without = [f"'{name}'" for name, run in runs.items()
               if run.cap_w is None and name not in givers]
    if without and len(without) < len(runs):
        notes.append(f"above the cap: {', '.join(without)} cannot be measured; no run on the same "
                     "machine has a cap")
    return notes


def _but_the_cap(run: Run) -> set[tuple[str, str]]:
    return {(place, text) for place, text in fields(run.scenario)
            if not any(place == each or place.startswith(f"{each}.") for each in _OF_THE_CAP)}
