"""All checks of a site, in the order in which they are mended."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from wattline.controller.configuration import SiteConfig, read_configuration
from wattline.controller.doctor.agents import agent_checks
from wattline.controller.doctor.check import Check, checked
from wattline.controller.doctor.claims import claim_checks
from wattline.controller.doctor.folder import folder_checks
from wattline.controller.doctor.machine import broker_check, machine_checks
from wattline.controller.doctor.options import option_checks
from wattline.controller.doctor.slurm import Cluster, ask_slurm, slurm_checks
from wattline.controller.remembering import fresh_books
from wattline.model.errors import InputError


def doctor(
    config: str | Path | None = None, *, broker: str = "",
    clock: Callable[[], float] = time.time, sensors: Path | None = None,
) -> list[Check]:
    """Look at Slurm, this machine and, with a site's file, at what its controller needs.

    `broker` is HOST:PORT of another broker than the site's; `sensors` another place than
    /sys/class/powercap.

    >>> import wattline as wl
    >>> [check.name for check in wl.doctor("no-such-site.toml") if not check.ok][:1]
    ['configuration']
    """
    found: list[Check] = []
    site: SiteConfig | None = None
    if config is not None:
        site, said = _site(Path(config))
        found.append(said)
        if site is None:
            return [*found, *machine_checks(sensors)]
    cluster = ask_slurm({} if site is None else site.environment, clock)
    found += slurm_checks(cluster, site)
    if isinstance(cluster, Cluster):
        found += option_checks(cluster, site)
        found += [] if site is None else claim_checks(cluster, site)
    if site is not None:
        found += folder_checks(Path(site.folder))
        found += agent_checks(site)
    found += machine_checks(sensors)
    return [*found, broker_check(broker)] if broker else found


def _site(path: Path) -> tuple[SiteConfig | None, Check]:
    try:
        site = read_configuration(path)
    except (InputError, OSError) as error:
        return None, checked("configuration", False, str(error),
                             f"write {path}; examples/slurm/site.toml is one to begin with")
    if site.slurm_conf and not Path(site.slurm_conf).is_file():
        return site, checked("configuration", False, f"slurm_conf = {site.slurm_conf} is no file",
                             "name the slurm.conf that Slurm's commands use, or leave it out")
    try:
        fresh_books(site, 0.0, None)
    except InputError as error:  # a controller would not start
        return site, checked("configuration", False, str(error), f"change it in {path}")
    return site, checked("configuration", True, f"{len(site.node_names)} nodes under "
                         f"{site.cap:g} W", "")
