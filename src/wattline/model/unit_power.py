"""What a unit draws: a node or, where the machine is shared by cores, a core's part of its node."""

from __future__ import annotations

from wattline.model.machine import Machine, NodeClass


def unit_share(node: NodeClass, granularity: str) -> float:
    """The part of a node's power that a unit has."""
    return 1.0 / node.cores if granularity == "core" else 1.0


def unit_idle_w_least(machine: Machine, granularity: str) -> float:
    """What an idle unit draws of the class that draws least."""
    return min(node.power_w_idle * unit_share(node, granularity) for node in _classes(machine))


def unit_active_w(machine: Machine, granularity: str) -> float:
    """What a busy unit draws, where a job does not say.

    On nodes of several classes nobody knows beforehand which ones a job will get: it is taken to
    raise the power as much as on the hungriest, so that a cap holds wherever it runs. Once it has
    its nodes, they say what it draws.
    """
    classes = _classes(machine)
    reference, share = classes[0], unit_share(classes[0], granularity)
    if len(classes) == 1:
        return reference.power_w_active * share
    return reference.power_w_idle * share + unit_rise_w_most(machine, granularity)


def unit_rise_w_most(machine: Machine, granularity: str) -> float:
    """What a busy unit draws above an idle one, of the class where that is most."""
    return max(node.power_w_active * unit_share(node, granularity)
               - node.power_w_idle * unit_share(node, granularity) for node in _classes(machine))


def _classes(machine: Machine) -> list[NodeClass]:
    return [group.node_class for group in machine.groups]
