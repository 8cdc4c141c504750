"""Fewer new nodes or more older ones, for the same money and watts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from wattline.account.configuration_source import ConfigurationSource
from wattline.model.errors import InputError, warn
from wattline.model.shown import Shown
from wattline.model.units import format_power, part_of, plain_number, watts_of
from wattline.physics.measurement_columns import ColumnMap
from wattline.physics.overprovisioning import best_by_nodes
from wattline.physics.power_scope import BoundAt, NodePower, Words
from wattline.physics.procurement import (
    PARAMETERS,
    PurchaseComparison,
    PurchaseTerms,
    Rack,
    Sweep,
    compare,
    sweep,
)
from wattline.physics.scaling import (
    PUBLISHED,
    BestTimes,
    Curve,
    DrawnLine,
    Scaling,
    fit_scaling,
)

if TYPE_CHECKING:
    import pandas as pd

NODES_VALID = 48
"""Up to how many nodes a given line holds unless something else is said."""


@dataclass(frozen=True, eq=False, repr=False)
class Procurement(Shown):
    """Both machines, what their times come from, and where each parameter breaks even."""

    result: PurchaseComparison
    budget: PurchaseTerms
    curve: Curve
    drawn: DrawnLine | None
    """The line, where it was drawn through best times."""
    times: BestTimes | None
    """The best times, where they are used themselves."""
    sweeps: tuple[Sweep, ...]
    remarks: tuple[str, ...]

    @property
    def break_even(self) -> dict[str, float | None]:
        """Where the machines are equally fast, for each parameter; None where they never are.

        Of several such values the one next to that asked about; `sweeps` have them all.
        """
        return {found.parameter: found.break_even for found in self.sweeps}

    def to_dict(self) -> dict[str, Any]:
        return {**self.result.as_dict(), "cost_ratio": self.budget.cost_ratio,
                "scaling": self._scaling(), "break_even": self.break_even,
                "crossings": {found.parameter: [one._asdict() for one in found.crossings]
                              for found in self.sweeps}}

    def to_pandas(self) -> pd.DataFrame:
        """A row per machine: that of fewer high-end nodes, and that of more older ones."""
        import pandas as pd

        found = self.result
        return pd.DataFrame(
            {"nodes": [found.n_wc, found.n_ovp], "cost": [found.c_wc, float(found.n_ovp)],
             "time_s": [found.t_wc_s, found.t_ovp_s]},
            index=pd.Index(["worst_case", "overprovisioned"], name="machine"))

    def _told(self) -> str:
        found = self.result
        return (f"{found.n_wc} high-end nodes or {found.n_ovp} older ones within "
                f"{format_power(self.budget.power_w)}: the older ones are {found.s_ovp:.3g} times "
                "as fast")

    def plot(self, path: str | Path) -> None:
        """Draw the gain over each parameter; PNG, SVG or PDF by the name."""
        from wattline.analysis.configuration_plots import draw_sweeps

        draw_sweeps(list(self.sweeps), str(path))

    def _scaling(self) -> dict[str, Any]:
        """What the times come from; of a line or of best times only what it has."""
        times, curve, drawn = self.times, self.curve, self.drawn
        found: dict[str, Any] = {
            "shape": "line" if times is None else "times", "slope_s": None, "intercept_s": None,
            "best_times": None, "largest_deviation": None, "largest_deviation_nodes": None}
        if times is not None:
            found |= {"nodes_min": times.best[0].nodes, "nodes_max": times.best[-1].nodes,
                      "best_times": [one.as_dict() for one in times.best]}
        if isinstance(curve, Scaling):
            found |= {"slope_s": curve.slope_s, "intercept_s": curve.intercept_s,
                      "nodes_min": curve.nodes_min, "nodes_max": curve.nodes_max}
        if drawn is not None:
            found |= {"largest_deviation": drawn.deviation,
                      "largest_deviation_nodes": drawn.deviation_nodes}
        return found


def procure(
    budget_power: float | str, *, node_power_max: float | str, node_power_min: float | str,
    speed_ratio: float | str, cost_ratio: float | None = None,
    rack: Rack | str | Sequence[float] | None = None, rack_nodes: int | None = None,
    scaling: Scaling | str | Sequence[float] | None = None, app: str | None = None,
    table: str | Path | None = None, shape: Literal["times", "line"] | None = None,
    nodes_valid: int | None = None, columns: ColumnMap = None,
    base_power: float | str | None = None, supply_efficiency: float | str | None = None,
    power_scope: str = "", bound_at: BoundAt = "wall",
) -> Procurement:
    """Compare a machine of fewer high-end nodes with one of more older nodes.

    Both cost the same and stay under the same power. Prices are a `cost_ratio` or a `rack`; times
    come from a line (`scaling`: slope and intercept, or a published one by its name) or from the
    best times of an application (`app`, with a `table` of measurements, whose `columns` are named
    where they have other names, or by the shipped models).

    The budget and the powers of nodes are those where the budget is kept (`bound_at`). The watts of
    an application's table are turned into these: `power_scope` says of what they are where the
    table does not, `base_power` is what an older node draws beside its devices,
    `supply_efficiency` that of its power supplies.

    >>> import wattline as wl
    >>> found = wl.procure("7200W", node_power_max="380W", node_power_min="180W",
    ...                    speed_ratio="27%", cost_ratio=1.6, scaling="SPhot")
    >>> found.result.n_wc, found.result.n_ovp
    (18, 28)
    """
    budget_w = watts_of(budget_power)
    _check_together(scaling, app, nodes_valid, {"--table": table, "--shape": shape,
                                                "--map": columns or None,
                                                "--base-power": base_power,
                                                "--supply-efficiency": supply_efficiency,
                                                "--power-scope": power_scope or None})
    power = NodePower.of(base_power, node_power_min, supply_efficiency, bound_at)
    ratio = _cost_ratio(cost_ratio, rack, rack_nodes)
    drawn = times = None
    remarks: list[str] = []
    if app is None:
        curve: Curve = _line(scaling, nodes_valid)
    else:
        known, remarks = ConfigurationSource(
            table, columns=columns, power_scope=power_scope).one(app)
        remarks += [line for line in (power.remark(known), power.shown(known)) if line]
        known = power.at_bound(known, Words(idle="--node-power-min"))
        if shape == "line":
            drawn = fit_scaling(best_by_nodes(known, budget_w))
            curve = drawn.scaling
            remarks.append(_deviation(drawn))
        else:
            curve = times = BestTimes(known, budget_w, watts_of(node_power_min))
    budget = PurchaseTerms(budget_w, watts_of(node_power_max), watts_of(node_power_min), ratio,
                    part_of(speed_ratio))
    found = Procurement(compare(budget, curve), budget, curve, drawn, times,
                        tuple(sweep(budget, curve, parameter) for parameter in PARAMETERS),
                        tuple(remarks))
    warn(found.remarks)
    return found


def _cost_ratio(
    given: float | None, rack: Rack | str | Sequence[float] | None, rack_nodes: int | None
) -> float:
    if (given is None) == (rack is None):
        raise InputError("give either --cost-ratio or --rack")
    if rack is None:
        if rack_nodes is not None:
            raise InputError("--rack-nodes goes with --rack")
        assert given is not None
        return given
    if rack_nodes is not None and rack_nodes < 1:
        raise InputError(f"--rack-nodes is {rack_nodes}, must be at least 1")
    return _rack(rack).ratio(rack_nodes)


def _rack(given: Rack | str | Sequence[float]) -> Rack:
    if isinstance(given, Rack):
        return given
    values = _numbers(given, 4, "--rack", "16,12000,3300,1700")
    if values[0] != int(values[0]):
        raise InputError(f"--rack is '{given}'; the nodes of a rack must be a whole number")
    return Rack(int(values[0]), values[1], values[2], values[3])


def _check_together(
    scaling: object, app: str | None, nodes_valid: int | None, with_app: dict[str, object],
) -> None:
    if (scaling is None) == (app is None):
        raise InputError("give either --scaling M,B or --app NAME")
    for option, value in with_app.items():
        if value is not None and app is None:
            raise InputError(f"{option} goes with --app")
    if nodes_valid is not None and app is not None:
        raise InputError("--nodes-valid goes with --scaling; --app holds on the node counts that "
                         "its times are known for")


def _line(given: Scaling | str | Sequence[float] | None, nodes_valid: int | None) -> Scaling:
    if isinstance(given, Scaling):
        return given if nodes_valid is None else replace(given, nodes_max=nodes_valid)
    assert given is not None
    nodes_max = NODES_VALID if nodes_valid is None else nodes_valid
    for name, line in PUBLISHED.items():
        if isinstance(given, str) and name.casefold() == given.strip().casefold():
            return replace(line, nodes_max=nodes_max)
    slope, intercept = _numbers(given, 2, "--scaling", "-1.114,73.07")
    return Scaling(slope, intercept, nodes_max)


def _deviation(drawn: DrawnLine) -> str:
    line = drawn.scaling
    return (f"the line through the best times on {line.nodes_min} to {line.nodes_max} nodes, "
            f"{line.slope_s:.4g} n + {line.intercept_s:.4g} s, is off by up to "
            f"{drawn.deviation:.0%} (at {drawn.deviation_nodes} nodes)")


def _numbers(given: str | Sequence[float], count: int, option: str, example: str) -> list[float]:
    try:
        parts = given.split(",") if isinstance(given, str) else given
        values = [plain_number(part) if isinstance(part, str) else float(part) for part in parts]
    except ValueError:
        values = []
    if len(values) != count or not all(math.isfinite(value) for value in values):
        raise InputError(f"{option} is '{given}'; write {count} numbers like {example}")
    return values
