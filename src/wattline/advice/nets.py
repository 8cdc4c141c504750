"""Coloured Petri nets by name: run one to its end, look at its marking, draw it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattline.model.errors import InputError
from wattline.model.files import write_whole
from wattline.model.shown import Shown
from wattline.model.units import parse_fraction, parse_power
from wattline.petri.examples import DEMO_NODES, NETS, demo_jobs, demo_rules
from wattline.petri.simulate import Simulation

if TYPE_CHECKING:
    import pandas as pd

    from wattline.petri.draw import Sheet
    from wattline.petri.net import Net

USUAL_CAP = 0.7
"""Of full power, where no cap is given."""


@dataclass(frozen=True, eq=False, repr=False)
class NetRun(Shown):
    """A net after so many firings: what lies on its places.

    >>> import wattline as wl
    >>> sorted(wl.run_net("cluster").marking())[:1]
    ['Done']
    """

    net: str
    simulation: Simulation

    @property
    def time_s(self) -> float:
        return self.simulation.now_s

    @property
    def fired(self) -> int:
        return self.simulation.fired

    def to_dict(self) -> dict[str, Any]:
        return {"net": self.net, "time_s": self.time_s, "fired": self.fired,
                "places": self.marking()}

    def marking(self) -> dict[str, dict[str, Any]]:
        """What lies on each place: how many tokens, of which colour, with which values."""
        from wattline.petri.draw import show_value

        return {
            tokens.name: {"count": tokens.count(), "colour": tokens.colour.name,
                          "values": [show_value(value, 200) for _, _, value in tokens.list]}
            for tokens in self.simulation.marking
        }

    def to_pandas(self) -> pd.DataFrame:
        """A row per place: how many tokens, of which colour."""
        import pandas as pd

        return pd.DataFrame([{"place": name, "count": found["count"], "colour": found["colour"]}
                             for name, found in self.marking().items()])

    def draw(self, path: str | Path, page: str = "") -> list[Sheet]:
        """Draw the net with its tokens as SVG, or one page of it; what was drawn."""
        from wattline.petri.draw import layout, svg

        sheets, target = layout(self.simulation, page), Path(path)
        title = f"{self.simulation.net.about} (t = {self.time_s:g} s, {self.fired} fired)"
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{target} cannot be written: {error.strerror}") from error
        write_whole(target, svg(sheets, title))
        return sheets

    def __repr__(self) -> str:
        return f"NetRun({self.net!r}: {self.fired:,} firings to {self.time_s:g} s)"


def list_nets() -> dict[str, str]:
    """The nets that are built in, with what each is.

    >>> import wattline as wl
    >>> sorted(wl.list_nets())
    ['cluster', 'puppet']
    """
    return {name: about for name, (about, _) in NETS.items()}


def run_net(
    net: str, *, seed: int | None = None, max_firings: int | None = None,
    on_instant: Callable[[Simulation], None] | None = None, **workload: Any,
) -> NetRun:
    """Run a net to its end by the clock, or for so many firings.

    With a `seed` equally urgent firings are chosen at random. The workload of `puppet` is given by
    `trace`, `nodes`, `limit` (jobs of the log), `order`, `power` (none, block, wait, dvfs), `cap`,
    `node_active_w`, `idle_fraction`, `wait_time_s`, `wait_slots` and `latency_s`.

    >>> import wattline as wl
    >>> done = wl.run_net("puppet", power="dvfs", cap="70%")
    >>> done
    NetRun('puppet': 110 firings to 1184.12 s)
    """
    import numpy as np

    found = NetRun(net, open_net(net, **workload))
    if seed is not None:
        found.simulation.chooser = np.random.default_rng(seed)
    found.simulation.run(max_firings=max_firings, on_instant=on_instant)
    return found


def open_net(name: str, **workload: Any) -> Simulation:
    """A net before its first firing."""
    if name not in NETS:
        raise InputError(f"there is no net '{name}'; there are {', '.join(NETS)}")
    if name == "puppet":
        return Simulation(_puppet(**workload))
    if workload:
        raise InputError(f"{next(iter(workload))}: the net '{name}' has a workload of its own")
    return Simulation(NETS[name][1]())


def _puppet(
    *, trace: str | Path | None = None, nodes: int | None = None, limit: int = 100,
    order: str = "fcfs", power: str = "wait", cap: float | str | None = None,
    node_active_w: float = 100.0, idle_fraction: float = 0.3, wait_time_s: float = 30_000.0,
    wait_slots: int = 10, latency_s: float = 0.0,
) -> Net:
    from wattline.petri.puppet import jobs_from_table, puppet_net

    if not 0 < node_active_w < float("inf"):
        raise InputError(f"the power of a busy node (node_active_w) is {node_active_w}, must be "
                         "> 0")
    if not 0 <= idle_fraction <= 1:
        raise InputError(f"the idle fraction (idle_fraction) is {idle_fraction}, must be in "
                         "[0, 1]")
    if trace is None:
        jobs, nodes = demo_jobs(), nodes or DEMO_NODES
    else:
        if not nodes:
            raise InputError("a log needs the size of the machine (nodes)")
        import numpy as np

        from wattline.traces.reader import read

        table = read(trace, machine_procs=nodes).jobs
        jobs = jobs_from_table(table.take(np.arange(min(len(table), limit))), node_active_w)
    idle_w = node_active_w * idle_fraction
    rules = demo_rules(power, nodes, idle_w, wait_time_s, wait_slots, latency_s)
    cap_w = _cap_w(cap, nodes, node_active_w, idle_w)
    return puppet_net(jobs, rules, order, float("inf") if power == "none" else cap_w)


def _watts_or_part(text: str) -> float:
    return parse_fraction(text) if text.strip().endswith("%") else parse_power(text)


def _cap_w(cap: float | str | None, nodes: int, node_w: float, idle_w: float) -> float:
    cap_w = USUAL_CAP if cap is None else _watts_or_part(str(cap))
    if cap_w <= 0:
        raise InputError(f"the cap is {cap}, must be above 0")
    if cap_w <= 1:
        cap_w *= nodes * node_w
    if cap_w < nodes * idle_w:
        raise InputError(f"the cap is {cap_w:g} W, below the idle power of {nodes} nodes "
                         f"({nodes * idle_w:g} W)")
    return cap_w
