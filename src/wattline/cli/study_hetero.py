"""`wattline study hetero`: energy claims on a cluster of x86 and ARM nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from wattline.analysis.folders import run_folder
from wattline.cli.finite import FiniteRange
from wattline.cli.output import json_option, print_json, print_table, progress


@click.command("hetero")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True,
              help="Of the larger batch.")
@click.option("--start", "start_s", type=FiniteRange(min=0), default=None, metavar="SECONDS",
              help="Before the first jobs of a load start; inferred otherwise.")
@click.option("--gap", "gap_s", type=FiniteRange(min=0), default=None, metavar="SECONDS",
              help="Between two jobs of a submitting thread; inferred otherwise.")
@click.option("--xeon-idle-w", type=FiniteRange(min=0), default=None,
              help="Idle power of the Xeon node; inferred otherwise.")
@click.option("--cap-latency", "cap_latency_s", type=FiniteRange(min=0), default=0.0,
              show_default=True, metavar="SECONDS",
              help="After a start until its cap takes effect; 0.31 explains sz-load.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FOLDER",
              help="Write the comparison as a picture here.")
@json_option
def command(
    seed: int, start_s: float | None, gap_s: float | None, xeon_idle_w: float | None,
    cap_latency_s: float, out: Path | None, as_json: bool,
) -> None:
    """Two published loads under several rules, and claims that order, learn and estimate."""
    from wattline.studies.hetero import study as hetero
    from wattline.studies.hetero.published import all_results, rows

    if out is not None:
        run_folder("hetero", str(out))  # a place that cannot be written is found out now
    with progress("hetero") as advance:
        found = all_results(start_s=start_s, gap_s=gap_s, xeon_idle_w=xeon_idle_w,
                            cap_latency_s=cap_latency_s)
        advance(0.5)
        more = hetero.beyond(seed)
    written = ""
    if out is not None:
        from wattline.studies.hetero.plots import write_pictures

        written = str(write_pictures(found, out)[0])
    if as_json:
        print_json({**found, "beyond": more, "picture": written or None,
                    "published": rows(found)})
        return
    _print(found, found["late"], more)
    print_table(["two jobs, two nodes", "on gpn", "on lpn", "energy J", "load J", "published"],
                [[name, f["gpn"], f["lpn"], f["energy_j"], f["load_j"],
                  "{:.0f} J, {:.0f} J".format(*f["published"])]
                 for name, f in found["example"].items()],
                title="Tables 3.1 and 3.2: the greedy rule picks the worse where j1 comes first")
    if written:
        click.echo(written)


def _print(found: dict[str, Any], late: dict[str, Any], more: dict[str, Any]) -> None:
    inferred = found["inferred"]
    click.echo(f"inferred: Xeon idle {inferred['xeon_idle_w']:.1f} W, boards idle "
               f"{inferred['board_idle_w']:.1f} W (assumed), "
               f"{inferred['start_s']:.2f} s before the "
               f"first jobs, {inferred['gap_s']:.3f} s between jobs of a thread; caps take effect "
               f"{inferred['cap_latency_s']:g} s after a start (--cap-latency)")
    rows = []
    for load, rules in found["loads"].items():
        for rule, figures in rules.items():
            seen = figures.get("published", {})
            rows.append([load, rule, figures["makespan_s"], seen.get("makespan_s"),
                         figures["energy_j"], seen.get("energy_j"), figures["edp_js"] / 1e3])
    print_table(["load", "rule", "time s", "published", "energy J", "published", "EDP kJs"], rows)
    for load, saving in found["saving"].items():
        click.echo(f"{load}: {100 * saving['time']:.0f} % less time (published "
                   f"{100 * saving['time_published']:.0f} %), {100 * saving['energy']:.0f} % less "
                   f"energy (published {100 * saving['energy_published']:.0f} %; "
                   f"{100 * late['saving'][load]['energy']:.0f} % here with caps that take effect "
                   f"{late['inferred']['cap_latency_s']:g} s after a start)")
    nodes = ", ".join(f"{count} {name}" for name, count in more["nodes"].items())
    click.echo(f"\nbeyond: {more['jobs']} jobs of 1 to 4 nodes on {nodes}")
    print_table(["variant", "makespan s", "energy kJ", "turnaround s", "claims off"],
                [[name, f["makespan_s"], f["energy_j"] / 1e3, f["turnaround_s"],
                  f"{100 * f['claim_error']:.0f} %"] for name, f in more["variants"].items()])
