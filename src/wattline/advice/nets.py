"""Coloured Petri nets by name or from a file: run one, look at its marking, draw it, write it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattline.model.errors import InputError, warn
from wattline.model.files import write_whole
from wattline.model.shown import Shown
from wattline.model.units import counted
from wattline.petri.examples import NETS
from wattline.petri.simulate import Simulation

if TYPE_CHECKING:
    import pandas as pd

    from wattline.petri.draw import Sheet
    from wattline.petri.net import Net

MOST_FIRINGS = 100_000
"""Of a net from a file, which may never come to an end, where nobody says how many."""


@dataclass(frozen=True, eq=False, repr=False)
class NetRun(Shown):
    """A net after so many firings: what lies on its places.

    >>> import wattline as wl
    >>> sorted(wl.run_net("cluster").marking())[:1]
    ['Done']
    """

    net: str
    simulation: Simulation
    remarks: tuple[str, ...] = ()
    stopped: bool = False
    """Whether it was stopped after so many firings and could go on."""

    @property
    def time_s(self) -> float:
        return self.simulation.now_s

    @property
    def fired(self) -> int:
        return self.simulation.fired

    def to_dict(self) -> dict[str, Any]:
        return {"net": self.net, "time_s": self.time_s, "fired": self.fired,
                "stopped": self.stopped, "places": self.marking(),
                "remarks": list(self.remarks)}

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
        from wattline.petri.draw import layout
        from wattline.petri.svg import svg

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
    net: str | Path, *, seed: int | None = None, max_firings: int | None = None,
    skeleton: bool = False, on_instant: Callable[[Simulation], None] | None = None,
    **workload: Any,
) -> NetRun:
    """Run a net to its end by the clock, or for so many firings.

    A net is built in (`wl.list_nets`) or a file, TOML or PNML; one from a file stops after 100,000
    firings where `max_firings` does not say otherwise, and says so. With a `seed` equally urgent
    firings are chosen at random. `skeleton` runs it without colours, guards and times. The workload
    of `puppet` is given by `trace`, `nodes` and `cores_per_node` (without them what the log's
    header says), `limit` (jobs of the log), `order`, `power` (none, block, wait, dvfs), `cap` (also
    a CSV file or pairs of seconds and watts), `levels`, `alpha`, `beta`, `core_share`, `cap_counts`
    (machine or jobs), `node_active_w`, `idle_fraction`, `wait_time_s`, `wait_slots` and
    `latency_s`; times count from the first submission.

    >>> import wattline as wl
    >>> done = wl.run_net("puppet", power="dvfs", cap="70%")
    >>> done
    NetRun('puppet': 110 firings to 1184.12 s)
    """
    import numpy as np

    made = build_net(net, skeleton=skeleton, **workload)
    simulation = Simulation(made)
    if seed is not None:
        simulation.chooser = np.random.default_rng(seed)
    most = MOST_FIRINGS if max_firings is None and made.from_file else max_firings
    simulation.run(max_firings=most, on_instant=on_instant)
    remarks = list(made.remarks)
    stopped = most is not None and simulation.fired >= most and simulation.can_go_on()
    if stopped and max_firings is None:
        remarks.append(f"stopped after {most:,} firings: the net may have no end (--firings says "
                       "how many there are to be)")
    if made.name == "puppet" and not (made.from_file or skeleton or stopped):
        remarks += _left_over(simulation)
    warn(remarks)
    return NetRun(str(net), simulation, tuple(remarks), stopped)


def _left_over(simulation: Simulation) -> list[str]:
    """What is said of jobs that an ended workload of `puppet` has not run."""
    refused = len(simulation.place("Refused").values())
    waiting = sum(len(jobs) for place in ("Queuing", "Wait Queue")
                  for jobs in simulation.place(place).values())
    said = []
    if refused:
        said.append(f"{counted(refused, 'job')} refused: no cap of the run lets them start, even "
                    "alone")
    if waiting:
        said.append(f"{counted(waiting, 'job')} still waiting when nothing more can happen: the "
                    "cap has fallen too low for them")
    return said


def write_net(net: str | Path, path: str | Path, *, skeleton: bool = False,
              **workload: Any) -> tuple[str, ...]:
    """Write a net as PNML (ISO/IEC 15909-2), for other tools; returns what is to be known of it.

    `skeleton` writes the place/transition net that most tools read: without colours, guards, times
    and priorities.

    >>> import wattline as wl
    >>> wl.write_net("cluster", "cluster.pnml")  # doctest: +SKIP
    """
    from wattline.petri.pnml import to_pnml

    made = build_net(net, skeleton=skeleton, **workload)
    text = to_pnml(made)
    remarks = list(made.remarks)
    functions = sorted(name for name, value in made.declarations.items() if callable(value))
    if functions:
        remarks.append(f"{len(functions)} functions of its inscriptions ({functions[0]}, ...) are "
                       "code and not in the file: there it can be looked at, not run")
    write_whole(Path(path), text)
    warn(remarks)
    return tuple(remarks)


def open_net(name: str | Path, *, skeleton: bool = False, **workload: Any) -> Simulation:
    """A net before its first firing."""
    return Simulation(build_net(name, skeleton=skeleton, **workload))


def build_net(name: str | Path, *, skeleton: bool = False, **workload: Any) -> Net:
    """A net by its name or from its file."""
    from wattline.advice.net_workload import puppet
    from wattline.petri.net_file import is_net_file, read_net
    from wattline.petri.skeleton import skeleton as skeleton_of

    known = str(name)
    if known != "puppet" and workload:
        raise InputError(f"{next(iter(workload))}: the net '{known}' has a workload of its own")
    if known == "puppet":
        made = puppet(**workload)
    elif known in NETS:
        made = NETS[known][1]()
    elif is_net_file(known):
        made = read_net(name)
    else:
        raise InputError(f"there is no net '{known}'; there are {', '.join(NETS)}, and files that "
                         "end in .toml or .pnml")
    return skeleton_of(made) if skeleton else made
