"""Jobs on an interconnect: where they go, and which links get hot."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from wattline.advice.network import choose_nodes, place_jobs
from wattline.model.errors import InputError
from wattline.web.whatif.guard import refuse_network


def placement(given: Mapping[str, Any]) -> dict[str, Any]:
    """Jobs on an empty machine: nodes, times, hot links."""
    import tomli_w

    _check_machine(given["machine"])
    with TemporaryDirectory(prefix="wattline-place-") as folder:
        file = Path(folder) / "jobs.toml"
        file.write_text(tomli_w.dumps({"job": given["jobs"]}), encoding="utf-8")
        try:
            return place_jobs(
                file, placement=given["placement"], machine=given["machine"],
                routing=given["routing"], mapping=given["mapping"], seed=given["seed"]).to_dict()
        except InputError as error:
            raise InputError(str(error).replace(f"{file}, ", "").replace(str(file), "jobs")
                             ) from None


def nodes_for_job(given: Mapping[str, Any]) -> dict[str, Any]:
    """A host list for one job."""
    _check_machine(given["machine"])
    return choose_nodes(
        given["machine"], size=given["size"], placement=given["placement"],
        free=given.get("free"), busy=given.get("busy"), sensitive=given["sensitive"],
        seed=given["seed"])


def _check_machine(name: str) -> None:
    """A name that is not built in would be looked for as a file."""
    try:
        refuse_network(name)
    except ValueError as error:
        raise InputError(str(error).removeprefix("network.")) from None
