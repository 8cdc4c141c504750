"""Whether jobs are placed by the network: slurm.conf(5), TopologyPlugin and TopologyParam."""

from __future__ import annotations

from wattline.scenario.twin.settings import SlurmSettings

OPTIONAL = "topooptional"
_OF_MESSAGES = ("noctldinaddrany", "noinaddrany", "noinaddranyctld", "routepart", "routetree")
"""Of how daemons talk to each other: no start depends on them."""


def keeps_to_switches(settings: SlurmSettings, has_topology: bool) -> bool:
    """Whether jobs are placed by the tree of switches, of which there must be a file."""
    plugin = settings.values.get("topologyplugin", "topology/default").strip()
    where = settings.where("TopologyPlugin")
    if plugin.lower() not in ("topology/tree", "topology/default", "topology/flat",
                              "topology/none"):
        settings.told.not_modelled.append(f"{where}: TopologyPlugin={plugin}: jobs would be kept "
                                          "together by it")
        settings.asked.add("topologyplugin")
    else:
        settings.text("TopologyPlugin", "topology/default", matters=False)
    is_tree = plugin.lower() == "topology/tree"
    if has_topology and not is_tree:
        settings.told.not_modelled.append(
            f"{where}: TopologyPlugin is {plugin}, so that nothing is done with the file of the "
            "topology that was given; topology/tree follows it")
    optional = _is_optional(settings)
    if is_tree and has_topology and optional:
        settings.told.assumed.append("TopologyParam=TopoOptional: no job is placed by the tree of "
                                     "switches, also none with --switches, which is not modelled")
    return is_tree and has_topology and not optional


def _is_optional(settings: SlurmSettings) -> bool:
    """Whether only jobs that ask for switches are placed by them; what else it says is listed."""
    given = settings.text("TopologyParam", "", matters=False)
    words = [word for word in given.replace(" ", "").split(",") if word]
    where = settings.where("TopologyParam")
    settings.told.not_modelled += [
        f"{where}: TopologyParam={word}: jobs would be placed otherwise on the network"
        for word in words if word.lower() not in (OPTIONAL, *_OF_MESSAGES)]
    return OPTIONAL in (word.lower() for word in words)
