"""`wattline study dragonfly`: Level-Spread and NeDD beside their published figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from wattline.cli.output import json_option, print_json, print_table, progress


@click.command("dragonfly")
@click.option("--quick", is_flag=True, help="50 random workloads and the tables of one machine.")
@click.option("--workloads", type=click.IntRange(min=1), help="Random workloads (1000).")
@click.option("--repeats", type=click.IntRange(min=1),
              help="Runs of random workloads, small jobs first, and of equal jobs (2).")
@click.option("--packets", type=click.IntRange(min=0),
              help="Random workloads to run packet by packet as well (20; none with --quick).")
@click.option("--node-gbit-s", type=click.FloatRange(min=0, min_open=True), default=8.0,
              show_default=True, help="Bandwidth of the node links, which the document leaves out.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True)
@click.option("--workers", type=click.IntRange(min=1), default=2, show_default=True)
@click.option("--out", type=click.Path(file_okay=False, path_type=Path),
              help="Write pictures and the results as JSON into this folder.")
@json_option
def command(quick: bool, workloads: int | None, repeats: int | None, packets: int | None,
            node_gbit_s: float, seed: int, workers: int, out: Path | None, as_json: bool) -> None:
    """Placement on dragonflies: communication time, congestor, joules lost, beside published."""
    from dataclasses import replace

    from wattline.studies.dragonfly.study import StudyPlan, run_study, summary

    plan = StudyPlan.fast(seed, workers=workers) if quick else StudyPlan(seed=seed, workers=workers)
    plan = replace(plan, workloads=workloads or plan.workloads, repeats=repeats or plan.repeats,
                   packets=plan.packets if packets is None else packets, node_gbit_s=node_gbit_s)
    with progress("dragonfly study") as advance:
        study = run_study(plan, advance)
    found = summary(study)
    if out is not None:
        from wattline.studies.dragonfly.plots import write_pictures

        write_pictures(study, found, out)
    if as_json:
        print_json(found)
        return
    _print(found)
    if out is not None:
        click.echo(f"\npictures and results: {out}")


def _print(found: dict[str, Any]) -> None:
    names = ("strictly_better", "strictly_worse", "mean_reduction", "max_reduction")
    published = found["published"]
    columns = [("baselines", found), ("jokanovic", found["jokanovic"]),
               ("large first: baselines", found["large_first"]),
               ("large first: jokanovic", found["large_first"]["jokanovic"])]
    if "packets" in found:
        count = found["packets"]["workloads"]
        for key, label in (("packets", "packets"), ("packets_in_steps", "packets in steps")):
            columns += [(f"{label} ({count}): baselines", found[key]),
                        (f"{label} ({count}): jokanovic", found[key]["jokanovic"])]
    rows = [(label, *(result[name] for name in names)) for label, result in columns]
    rows.insert(1, ("  published", *(published["random"][name] for name in names)))
    rows.insert(3, ("  published", *(published["jokanovic"].get(name) for name in names)))
    print_table(("Level-Spread against", "better", "worse", "mean cut", "best cut"), rows,
                title=f"{found['workloads']} random workloads on 272 nodes, flow model, "
                      f"{found['repeats']} runs of each")
    click.echo()
    _print_policies(found)
    click.echo()
    _print_tables(found)
    click.echo()
    _print_congestor(found)


def _print_policies(found: dict[str, Any]) -> None:
    print_table(
        ("placement", "small jobs", "large jobs", "J lost / million exchanges", "share lost"),
        [(name, *found["relative_time"][name], energy["lost_j_per_million_exchanges"],
          energy["lost_share"]) for name, energy in found["energy"].items()],
        title="Mean time over Level-Spread, and energy lost to waiting on the network")


def _print_tables(found: dict[str, Any]) -> None:
    for key, kinds in (("homogeneous", 1), ("heterogeneous", 2), ("message_sizes", 2)):
        if not found[key]:
            continue
        policies = list(found[key][0]["relative_to_simple"])
        print_table(
            ("nodes", "ratio", "jobs", "pattern", *policies),
            [(row["nodes"], row["ratio"], row["jobs"], row["pattern"],
              *("/".join(f"{value:.2f}" for value in row["relative_to_simple"][name][:kinds])
                for name in policies)) for row in found[key]],
            title=f"{key.replace('_', ' ')}: time over simple"
                  + (" (small/large jobs)" if kinds == 2 else ""))
        click.echo()
    published = found["published"]
    cuts = [("", found["reductions"])]
    if "packets_in_steps" in found:
        cuts.append((", ratio 1, packets in steps", found["packets_in_steps"]["reductions"]))
    print_table(("reduction of communication time", "ours", "published"), [
        (f"{label}{how}", _span(cut[key]), _span(published[key])) for how, cut in cuts
        for key, label in (
            ("sixteen_nodes", "16-node jobs, grouping against spreading"),
            ("sixty_four_nodes", "64-node jobs, Level-Spread against simple"))])


def _print_congestor(found: dict[str, Any]) -> None:
    stretch = found["congestor"]["stretch"]
    policies = list(next(iter(stretch.values())))
    print_table(("application", *policies),
                [(name, *(row[policy] for policy in policies)) for name, row in stretch.items()],
                title=f"Congestor on 64 of 200 nodes, application on 32: execution time over that "
                      f"without (runs: {found['congestor']['runs']})")
    published = found["published"]["congestor_minimd_better"]
    print_table(("miniMD: low-traffic-router better than", "ours", "published"),
                [(name, value, published.get(name))
                 for name, value in found["congestor"]["minimd_better"].items()])
    if found["congestor"]["runs"] == 1:
        click.echo("One run of the congestor says little: runs differ widely, and the order of the "
                   "placements is that of the mean of ten, which the study without --quick gives.")


def _span(pair: tuple[float, float]) -> str:
    return f"{pair[0]:.0%} to {pair[1]:.0%}"
