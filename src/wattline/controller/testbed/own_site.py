"""The site's file of a bed, for a controller that somebody starts on it by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tomli_w

from wattline.controller.testbed.agents import agents_of
from wattline.controller.testbed.layout import Bed


def site_of(bed: Bed) -> dict[str, Any]:
    """What the file of a site says of this machine, whoever decides there."""
    return {"nodes": bed.host_list, "node_idle_w": bed.power.idle_w,
            "node_active_w": bed.power.active_w, "node_least_w": bed.power.least_w,
            "slurm_conf": str(bed.configuration), "folder": "controller", **agents_of(bed)}


def site_file(bed: Bed) -> Path:
    return bed.folder / "site.toml"


def write_site(bed: Bed) -> None:
    """In guard mode, as most sites begin, under a cap for half of the nodes and a little more."""
    cap_w = bed.nodes * (bed.power.idle_w + 0.55 * (bed.power.active_w - bed.power.idle_w))
    said = {**site_of(bed), "cap": round(cap_w), "mode": "guard", "licences": True}
    site_file(bed).write_text(tomli_w.dumps(said), encoding="utf-8")
