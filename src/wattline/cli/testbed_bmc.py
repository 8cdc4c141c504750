"""`wattline testbed bmc`: the management controller of an emulated node."""

from __future__ import annotations

from pathlib import Path

import click

from wattline.cli.finite import FiniteRange
from wattline.cli.output import json_option, print_json
from wattline.model.errors import InputError


@click.command()
@click.argument("node")
@click.option("--folder", type=click.Path(path_type=Path), default=None, metavar="FOLDER",
              help="Where the bed lies; wattline-bed in the folder for temporary files otherwise.")
@click.option("--ipmi-port", type=click.IntRange(0, 65535), default=0,
              help="UDP port on loopback; one that is free otherwise.")
@click.option("--redfish-port", type=click.IntRange(0, 65535), default=0,
              help="TCP port on loopback; one that is free otherwise.")
@click.option("--seconds", type=FiniteRange(min=0.0), default=None,
              help="How long; until Ctrl-C otherwise.")
@json_option
def bmc(node: str, folder: Path | None, ipmi_port: int, redfish_port: int, seconds: float | None,
        as_json: bool) -> None:
    """Answer ipmitool and Redfish for NODE of a bed: what it draws, and its power limit.

    User and password are `admin`; only this machine can reach it.
    """
    from wattline.controller.testbed.bed import USUAL_FOLDER
    from wattline.controller.testbed.bmc.serving import ManagedPlaces, serve_node
    from wattline.controller.testbed.layout import Bed

    def say(places: ManagedPlaces) -> None:
        if as_json:
            print_json(vars(places))
        else:
            click.echo(f"IPMI_PASSWORD=admin wattline sensors --kind ipmi --place {places.ipmi}\n"
                       "REDFISH_PASSWORD=admin wattline sensors --kind redfish "
                       f"--place {places.redfish}")

    bed = Bed.open(folder or USUAL_FOLDER)
    if node not in bed.names:
        raise InputError(f"the bed has no node {node}; it has {bed.host_list}")
    serve_node(bed.meters / node, ipmi_port, redfish_port, say, seconds)
