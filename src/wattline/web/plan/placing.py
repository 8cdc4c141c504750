"""Jobs on an interconnect: where they go, and which links get hot."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from wattline.advice.network import choose_nodes, describe_network, place_jobs
from wattline.model.errors import InputError
from wattline.network.traffic import TASKS_PER_NODE
from wattline.web.whatif.guard import refuse_network


def placement(given: Mapping[str, Any]) -> dict[str, Any]:
    """Jobs on an empty machine: nodes, times, hot links."""
    import tomli_w

    _check_machine(given["machine"])
    with TemporaryDirectory(prefix="wattline-place-") as folder:
        file = Path(folder) / "jobs.toml"
        file.write_text(tomli_w.dumps({"job": given["jobs"]}), encoding="utf-8")
        try:
            found = place_jobs(
                file, placement=given.get("placement"), machine=given["machine"],
                routing=given["routing"], mapping=given["mapping"], seed=given["seed"]).to_dict()
        except InputError as error:
            raise InputError(str(error).replace(f"{file}, ", "").replace(str(file), "jobs")
                             ) from None
    return {**found, "assumptions": _assumptions(given)}


def _assumptions(given: Mapping[str, Any]) -> list[str]:
    """What the times take for granted, with the figures of this question."""
    network = describe_network(given["machine"])
    rates = ", ".join(f"{each['kind']} {each['gbit_s']:g}" for each in network["links_by_kind"])
    tasks = sorted({int(job.get("tasks_per_node") or TASKS_PER_NODE) for job in given["jobs"]})
    return [
        "the machine is empty but for these jobs, they are placed in the order of the list, and "
        "all of them exchange once, at the same time; what they compute is not in the times",
        f"{' or '.join(map(str, tasks))} tasks on each node, put there by the mapping "
        f"'{given['mapping']}'; what is drawn at random is drawn from seed {given['seed']}",
        f"{given['machine']} carries, in Gbit/s: a node's link {network['node_gbit_s']:g}, links "
        f"between routers {rates}; messages are routed '{given['routing']}'",
        "times are those of flows that share links fairly; held against a simulation of every "
        "packet on 20 random workloads of a dragonfly, routed adaptively, a time was off by 20 % "
        "typically, and 95 % of them by less than 48 %",
    ]


def nodes_for_job(given: Mapping[str, Any]) -> dict[str, Any]:
    """A host list for one job."""
    _check_machine(given["machine"])
    return choose_nodes(
        given["machine"], size=given["size"], placement=given.get("placement"),
        free=given.get("free"), busy=given.get("busy"), sensitive=given["sensitive"],
        seed=given["seed"])


def _check_machine(name: str) -> None:
    """A name that is not built in would be looked for as a file."""
    try:
        refuse_network(name)
    except ValueError as error:
        raise InputError(str(error).removeprefix("network.")) from None
