"""Which configuration of an application is the fastest under a power bound."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattline.account.configuration_source import read_source
from wattline.model.errors import InputError, warn
from wattline.model.shown import Shown
from wattline.model.units import counted, format_power, watts_of
from wattline.physics.configurations import MEASURED, Configuration, ConfigurationTable
from wattline.physics.devices import RatedNode, node_remark, rate_node
from wattline.physics.overprovisioning import ConfigurationChoice, choose
from wattline.physics.power_scope import BoundAt, NodePower

if TYPE_CHECKING:
    import pandas as pd

    from wattline.physics.measurement_columns import ColumnMap
    from wattline.physics.regression import ModelErrors


@dataclass(frozen=True, eq=False, repr=False)
class ConfigurationAdvice(Shown):
    """The best configuration beside its alternatives, and the table that it is from.

    >>> import wattline as wl
    >>> found = wl.configure("BT-MZ", "3500W")
    >>> found.best.power_w < 3500, len(found.within) <= len(found.table)
    (True, True)
    """

    choice: ConfigurationChoice
    table: ConfigurationTable
    """Every configuration of the application, as its source has it."""
    within: ConfigurationTable
    """Configurations with no more nodes than there are, their power where the bound is kept and
    with that of nodes that are left idle."""
    remarks: tuple[str, ...]
    node: RatedNode
    """What the worst case takes a node for."""
    power: NodePower
    """By what the watts of the table were turned into those of the bound."""
    errors: ModelErrors | None = None
    """Of the model; None where nothing is predicted, or they are not known."""

    @property
    def best(self) -> Configuration:
        return self.choice.best

    def to_dict(self) -> dict[str, Any]:
        choice = self.choice
        return {
            "application": choice.application, "source": self.table.source,
            "note": self.table.note, "bound_w": choice.bound_w,
            "model_errors": self.errors and self.errors.as_dict(),
            **{name: one and self._shown(one) for name, one in choice.named.items()},
            "not_measured": sorted(choice.not_measured),
            "worst_case_above_bound": choice.worst_case_above_bound,
            "gain_over_packed_max": choice.gain_over(choice.packed_max),
            "gain_over_worst_case": choice.gain_over(choice.worst_case),
            "degree_of_overprovisioning": choice.degree,
            "power": self.power.as_dict(self.table.power_scope),
            "node": {**self.node.as_dict(), "power_w_max": choice.node_power_w_max},
            "by_nodes": [self._shown(one) for one in choice.by_nodes],
        }

    def _shown(self, one: Configuration) -> dict[str, Any]:
        """A configuration; of a model it is said whether it was measured or is predicted."""
        return one.as_dict() | ({} if self.table.source == MEASURED else {"basis": one.basis})

    def to_pandas(self) -> pd.DataFrame:
        """A row per choice that there is: the best configuration, and its alternatives."""
        import pandas as pd

        found = {name: one.as_dict() for name, one in self.choice.named.items() if one is not None}
        return pd.DataFrame.from_dict(found, orient="index").rename_axis("choice")

    def _told(self) -> str:
        best = self.best
        return (f"{self.choice.application!r} under {format_power(self.choice.bound_w)}: best "
                f"{best.label}, {best.time_s:.4g} s, {format_power(best.power_w)}; of "
                f"{counted(len(self.within), 'configuration')}")

    def plot(self, path: str | Path) -> None:
        """Draw the configuration space; PNG, SVG or PDF by the name."""
        from wattline.analysis.configuration_plots import draw_choice

        draw_choice(self.within, self.choice, str(path))


def configure(
    application: str, power: float | str, *, nodes: int | None = None,
    node_power_max: float | str | None = None, table: str | Path | None = None,
    model: str | Path | None = None, store: str | None = None, margin: float | str = 0.0,
    columns: ColumnMap = None, devices: Iterable[str] = (),
    base_power: float | str | None = None, node_idle: float | str | None = None,
    supply_efficiency: float | str | None = None, power_scope: str = "",
    bound_at: BoundAt = "wall",
) -> ConfigurationAdvice:
    """Find the fastest configuration of an application under a power bound.

    Configurations come from a table of measurements, a model file, a store, or else the shipped
    models; `margin` is added to predicted power. `columns` says which column of a table is what.
    The worst case takes a node for its devices at their highest caps (`devices`, like
    "gpu=4:200-700") and the `base_power` of the rest, or for `node_power_max`.

    `power_scope` says of what the table's watts are where it does not say it itself: of "devices",
    of the "node" or at the "wall". They are turned into those at the point where the bound is kept
    (`bound_at`): `base_power` is added for each node to watts of devices, `supply_efficiency` is
    that of the power supplies. With `node_idle` those of the `nodes` count that are left idle.

    >>> import wattline as wl
    >>> best = wl.configure("BT-MZ", "3500W").best
    >>> best.nodes, best.cores, best.power_w < 3500
    (30, 14, True)
    """
    bound_w = watts_of(power)
    if not 0 < bound_w < float("inf"):
        raise InputError(f"--power is {power}, must be above 0 and finite")
    if nodes is not None and nodes < 1:
        raise InputError(f"--nodes is {nodes}, must be at least 1")
    power_of = NodePower.of(base_power, node_idle, supply_efficiency, bound_at)
    source = read_source(table, model, store, margin, columns, power_scope)
    found, remarks = source.one(application)
    at_bound = power_of.at_bound(found)
    within = at_bound if nodes is None else at_bound.up_to(nodes)
    unused_w = power_of.unused_w(within.nodes, nodes)
    node = replace(rate_node(found, devices, power_of.base_w), losses=power_of.losses,
                   measured_w=rate_node(at_bound, devices).measured_w)
    limit_w = None if node_power_max is None else watts_of(node_power_max)
    as_listed = power_of.is_plain and not unused_w.any()
    within = replace(within, power_w=within.power_w + unused_w)
    choice = choose(
        within, bound_w, node_power_w=limit_w, node=node, unused_w=unused_w,
        best=source.best(found.application, nodes, bound_w) if as_listed else None)
    said = node_remark(found, node) if limit_w is None else ""
    lines = (*remarks, *filter(None, (power_of.remark(found), said)), *_above_bound(choice))
    warn(lines)
    return ConfigurationAdvice(choice, found, within, lines, node, power_of,
                               None if found.source == MEASURED
                               else source.errors(found.application))


def _above_bound(choice: ConfigurationChoice) -> list[str]:
    worst = choice.worst_case
    if worst is None or not choice.worst_case_above_bound:
        return []
    return [f"the worst case {worst.label} draws {worst.power_w:,.1f} W, above the bound of "
            f"{choice.bound_w:,.12g} W: its nodes draw more than the highest power of a node that "
            "was reckoned with (--node-power-max)"]
