"""Interconnects: what one looks like, and where jobs go on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattline.model.errors import InputError, warn
from wattline.model.progress import Advance, silent
from wattline.model.shown import Shown
from wattline.network.trial import Trial

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class PlacedJobs(Shown):
    """Jobs on an empty machine: their nodes, their times, and the links that get hot.

    >>> import wattline as wl
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "jobs.toml"
    ...     _ = file.write_text('[[job]]\\nname = "a"\\nnodes = 8\\npattern = "all-to-all"')
    ...     len(wl.place_jobs(file, machine="dragonfly-272", placement="simple").to_pandas())
    1
    """

    trial: Trial

    def to_dict(self) -> dict[str, Any]:
        return self.trial.as_dict()

    def to_pandas(self) -> pd.DataFrame:
        """A row per job."""
        import pandas as pd

        return pd.DataFrame(self.to_dict()["jobs"])

    def plot(self, path: str | Path) -> None:
        """Draw placement and hot spots; SVG, PNG or PDF by the name."""
        from wattline.model.pictures import save_picture
        from wattline.network.picture import draw_placement

        placed = [(job.name, job.nodes) for job in self.trial.jobs]
        save_picture(draw_placement(self.trial.topology, placed, self.trial.link_busy_s),
                     Path(path))


def place_jobs(
    jobs: str | Path, *, placement: str | None = None, machine: str | Path | None = None,
    routing: str = "adaptive", threshold: float | None = None, mapping: str = "random",
    seed: int = 1, packets: bool = False,
) -> PlacedJobs:
    """Place the jobs of a TOML file on an empty machine.

    `machine` (a file with a `[network]` section, or a built-in name) stands before that of the
    file. Without a `placement` it is that of the kind of network (trees `best-fit`, dragonflies
    `level-spread`). Times are those of flows, or with `packets` of every packet; `threshold`
    belongs to adaptive routing of packets.

    >>> import wattline as wl
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "jobs.toml"
    ...     said = file.write_text('[[job]]\\nname = "a"\\nnodes = 8\\npattern = "all-to-all"')
    ...     found = wl.place_jobs(file, machine="dragonfly-272", placement="simple")
    >>> found.to_pandas()[["name", "routers", "groups"]].values.tolist()
    [['a', 2, 1]]
    """
    from wattline.network.config import load_machine
    from wattline.network.equilibrium import check_routing
    from wattline.network.jobfile import read_jobs
    from wattline.network.trial import place_jobs as placed_on
    from wattline.network.trial import try_placement
    from wattline.policies.placement.network.placements import PLACEMENTS

    if placement is not None and placement not in PLACEMENTS:
        raise InputError(f"there is no placement '{placement}'; there are: {', '.join(PLACEMENTS)}")
    listed, topology = read_jobs(Path(jobs))
    if machine is not None:
        topology = load_machine(str(machine))
    if topology is None:
        raise InputError(f"{jobs} names no machine; add a [network] section, or give --machine")
    placement = placement or topology.placement
    check_routing(routing)
    if threshold is not None and not packets:
        raise InputError("flows look at no queues, so a threshold has no meaning for them; "
                         "ask for packets")
    exchanges = placed_on(topology, listed, placement, mapping=mapping, seed=seed)
    trial = try_placement(topology, listed, exchanges, placement, routing=routing,
                          threshold=threshold, seed=seed, packets=packets)
    warn(trial.remarks)
    return PlacedJobs(trial)


def network_load(
    machine: str | Path, *, pattern: str = "uniform", routing: str = "adaptive",
    model: str = "packet", threshold: float | None = None, messages: int = 200, seed: int = 1,
    say: Callable[[str], None] | None = None, progress: Advance = silent,
) -> dict[str, Any]:
    """What a network carries when all nodes send at once: throughput as part of a node's link.

    `say` is told beforehand how much memory it takes, where that is a gigabyte or more; `progress`
    how far it has come, from 0 to 1.

    >>> import wattline as wl
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "machine.toml"
    ...     said = file.write_text('[network]\\ntopology = "dragonfly"\\nnodes_per_router = 2\\n'
    ...                            'routers_per_group = 4\\ngroups = 9')
    ...     found = wl.network_load(file, pattern="adversarial", routing="minimal", model="flow",
    ...                             messages=32)
    >>> round(found["limit"], 4)
    0.125
    """
    from wattline.network.config import load_machine
    from wattline.network.load import measure_load

    found = measure_load(load_machine(str(machine)), pattern, routing=routing, model=model,
                         threshold=threshold, messages=messages, seed=seed, say=say,
                         progress=progress)
    warn(found.remarks)
    return found.as_dict()


def choose_nodes(
    machine: str | Path, *, size: int, placement: str | None = None, free: str | None = None,
    busy: str | None = None, counters: str | Path | None = None, sensitive: bool = True,
    seed: int = 1,
) -> dict[str, Any]:
    """Nodes for one job on a machine of which these are free (or busy): host lists.

    `machine` may be Slurm's `topology.conf` or `.yaml`, or what `scontrol show topology` printed.
    Without a `placement` it is that of the kind of network (trees `best-fit`, dragonflies
    `level-spread`).
    `counters` is a table of the counters of Aries routers. What is assumed or left out stands in
    `remarks`, and is said as a warning.

    >>> import wattline as wl
    >>> wl.choose_nodes("dragonfly-272", size=4, busy="[0-5]")["host_list"]
    '[8-11]'
    """
    from wattline.network.config import load_machine
    from wattline.network.counter_files import read_counters
    from wattline.network.nodes import choose_nodes as chosen_from

    topology = load_machine(str(machine))
    read = None if counters is None else read_counters(Path(counters), topology)
    found = chosen_from(topology, size, placement, free=free, busy=busy, counters=read,
                        sensitive=sensitive, seed=seed)
    warn(found.remarks)
    return found.as_dict()


def describe_network(machine: str | Path) -> dict[str, Any]:
    """Groups, routers and links of a network: a file with a `[network]` section, or a name.

    >>> import wattline as wl
    >>> wl.describe_network("dragonfly-272")["nodes"]
    272
    """
    from wattline.network.config import load_machine
    from wattline.network.describe import describe

    return describe(load_machine(str(machine)))


def list_placements() -> dict[str, dict[str, str]]:
    """The placements by name: what each does and what it needs of a network.

    >>> import wattline as wl
    >>> wl.list_placements()["simple"]["needs"]
    'nodes'
    """
    from wattline.policies.placement.network.placements import PLACEMENTS

    return {name: {"help": each.help, "needs": each.needs, "kind": each.kind}
            for name, each in PLACEMENTS.items()}


def network_sensitivity(profiles: str | Path | None = None) -> list[dict[str, Any]]:
    """Which applications suffer from congestion, from MPI profiles (a file, or the shipped ones).

    >>> import wattline as wl
    >>> {row["name"]: row["sensitive"] for row in wl.network_sensitivity()}["HACC"]
    True
    """
    from wattline.network.sensitivity import read_profiles, shipped_profiles

    found = shipped_profiles() if profiles is None else read_profiles(Path(profiles))
    names = ("name", "mpi", "collectives", "wait", "sendrecv", "test", "synchronizing", "sensitive")
    return [{name: getattr(profile, name) for name in names} for profile in found.values()]
