"""What the commands print of the live machine."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from wattline.cli.output import print_json, print_table


def show_live(config: Path, as_json: bool) -> None:
    """The seven figures of the machine as it stands, and what is reserved."""
    from wattline.controller.resting import KEPT
    from wattline.controller.speaking import live_status
    from wattline.model.units import fold_hosts
    from wattline.physics.powercap import PowerStatus

    said = live_status(config)
    if as_json:
        print_json(said)
        return
    resting_w = sum(each["watts"] for each in said["ahead"]
                    if each["name"] in KEPT and each["begun"])
    # As it was set: what nodes draw that take no jobs is a part of it.
    cap_w = math.inf if said["cap_w"] is None else float(said["cap_w"]) + resting_w
    known = said["measured_w"] is not None
    power_w = float(said["measured_w"] if known else said["power_w"])
    figures = PowerStatus(min_w=said["idle_w"], current_w=power_w, cap_w=cap_w, floor_w=0.0,
                          change_rate_w_per_s=0.0, adjusted_max_w=said["machine_w"],
                          max_w=said["machine_w"])
    click.echo(" ".join(f"{name}={value}" for name, value in figures.as_scontrol().items()))
    left_out = said.get("not_measured", ()) if known else ()
    if left_out:
        click.echo(f"CurrentWatts is without {fold_hosts(left_out)}: no jobs are taken there, and "
                   "what is drawn there nobody reports")
    if resting_w:
        click.echo(f"{resting_w:,.0f} W of the cap are drawn by nodes that take no jobs or boot: "
                   f"{cap_w - resting_w:,.0f} W are left for the others")
    for each in said["ahead"]:
        click.echo(f"Reservation={each['name']} StartTime={moment(each['start_s'])} "
                   f"Duration={each['end_s'] - each['start_s']:.0f} Watts={each['watts']:.0f}")
    if said.get("target") is not None:
        click.echo(_followed(said["target"]))
    click.echo(_counted(said))
    if not known:
        click.echo("note: the power is that of the books: nothing is measured", err=True)
    if not said["act"]:
        click.echo("note: the controller is a dry run: it starts nothing", err=True)
    if not said["slurm_answers"]:
        click.echo(f"note: Slurm does not answer: {said['last_error']}", err=True)


SAID_BY = {"order": "as was ordered", "command": "as the controller's --mode says",
           "file": "as the site's file says"}


def show_mode(config: Path, as_json: bool) -> None:
    """Who starts jobs, and since when."""
    from wattline.controller.speaking import live_status

    said = live_status(config)
    if as_json:
        print_json({name: said[name] for name in (
            "mode", "mode_since_s", "mode_ordered", "mode_by")})
        return
    click.echo(f"{said['mode']} mode since {moment(said['mode_since_s'])}, "
               f"{SAID_BY[said['mode_by']]}")


def _counted(said: Mapping[str, Any]) -> str:
    """Jobs and nodes; those that were told to start and have not been seen to run by themselves."""
    starting, nodes = said["starting"]["count"], said["nodes"]
    told = f" {starting} start," if starting else ""
    if said["suspended"]:
        told = f" of which {said['suspended']} suspended,{told}"
    return (f"{said['running']['count']} jobs run,{told} {said['waiting']['count']} wait; "
            f"{nodes['free']} of {nodes['units']} nodes are free")


def _followed(target: Mapping[str, Any]) -> str:
    """The target, and how far the meters were from it."""
    found = "no target now" if target["watts"] is None else f"Target={target['watts']:.0f}"
    if not target["samples"]:
        return found
    return (f"{found} ErrorMean={target['error_w_mean']:.0f} ErrorP90={target['error_w_p90']:.0f} "
            f"Samples={target['samples']}")


def show_energy(config: Path, as_json: bool) -> None:
    from wattline.model.units import format_energy, format_power

    found = _asked(config, "energy", as_json)
    if found is None:
        return
    click.echo(f"{format_energy(found['drawn_j'])} drawn since the books were opened; "
               f"{format_power(found['power_w'])} now")
    budget = found["budget"]
    if budget is None:
        click.echo("there is no energy budget")
    else:
        click.echo(f"period {budget['period']}, until {moment(budget['end_s'])}: "
                   f"{format_energy(max(budget['left_j'], 0.0))} of "
                   f"{format_energy(budget['energy_j'])} left")
    if found["running"]:
        print_table(["job", "power", "energy"], [
            [str(each["job"]), format_power(each["power_w"]), format_energy(each["energy_j"])]
            for each in found["running"]])
    if found["waiting"]:
        print_table(["job", "waits for", "needs in this period"], [
            [str(each["job"]), each["why"], format_energy(each["needs_j"])]
            for each in found["waiting"]])


def show_shares(config: Path, as_json: bool) -> None:
    from wattline.model.units import format_energy

    found = _asked(config, "fairshare", as_json)
    if found is None:
        return
    print_table(["account", "parent", "share", "usage", "factor"], [
        [each["name"], each["parent"] or "-", each["share"], format_energy(each["usage_j"]),
         each["factor"]] for each in found["accounts"]])
    if found["waiting"]:
        print_table(["job", "user", "account", "priority"], [
            [str(each["job"]), each["user"], each["account"], each["priority"]]
            for each in found["waiting"]])


def show_claims(config: Path, claims: Sequence[Any], as_json: bool) -> None:
    """The claims of each application on the machine, and which have none."""
    from wattline.controller.speaking import live_order

    here = live_order(config, "applications").result["applications"]
    rows: list[dict[str, Any]] = []
    for name, jobs in sorted(here.items()):
        mine = [claim for claim in claims if claim.application == name]
        rows.append({"application": name, **jobs, "claims": [
            {"class": claim.node_class, "setting": str(claim.setting), "time_s": claim.time_s,
             "power_w": claim.power_w, "runs": claim.runs} for claim in mine]})
    if as_json:
        print_json({"applications": rows})
        return
    print_table(["application", "running", "waiting", "W/node by request", "claims", "W claimed"], [
        [row["application"] or "(none)", row["running"], row["waiting"], row["node_w"],
         len(row["claims"]),
         min((claim["power_w"] for claim in row["claims"]), default=None)] for row in rows])
    without = [row["application"] or "(none)" for row in rows if not row["claims"]]
    if without:
        click.echo(f"note: nothing is claimed of {', '.join(without)}", err=True)


def _asked(config: Path, kind: str, as_json: bool) -> dict[str, Any] | None:
    """What the controller answers; None where it has been printed as JSON."""
    from wattline.controller.speaking import live_order

    found = dict(live_order(config, kind).result)
    for remark in found["remarks"]:
        click.echo(f"note: {remark}", err=True)
    if as_json:
        print_json(found)
        return None
    return found


def moment(time_s: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time_s))
