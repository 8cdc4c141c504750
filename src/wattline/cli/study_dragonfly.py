"""`wattline study dragonfly`: Level-Spread and NeDD beside their published figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from wattline.cli.choices import Choice
from wattline.cli.finite import FiniteRange
from wattline.cli.output import json_option, print_json, print_table, progress


@click.command("dragonfly")
@click.option("--quick", is_flag=True, help="50 random workloads and the tables of one machine.")
@click.option("--part", type=Choice(["all", "random", "rules", "equal", "mixed", "congestor",
                                     "endpoints"]),
              default="all", show_default=True,
              help="Random workloads, rules of adaptive routing, equal jobs, two sizes of jobs and "
                   "of messages, the congestor, or endpoint against intermediate congestion.")
@click.option("--workloads", type=click.IntRange(min=1), help="Random workloads by flows (1000).")
@click.option("--repeats", type=click.IntRange(min=1),
              help="Runs of random workloads, small jobs first, and of equal jobs (2).")
@click.option("--packets", type=click.IntRange(min=0),
              help="Random workloads to run packet by packet as well (20; 5 with --quick).")
@click.option("--checkpoint", type=click.Path(dir_okay=False, path_type=Path),
              help="Keep runs of random workloads in this file, and go on from those it has.")
@click.option("--node-gbit-s", type=FiniteRange(min=0, min_open=True), default=8.0,
              show_default=True, help="Bandwidth of the node links, which the document leaves out.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True,
              help="Seed of all workloads.")
@click.option("--workers", type=click.IntRange(min=1), default=2, show_default=True,
              help="Processes.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path),
              help="Write pictures and the results as JSON into this folder.")
@json_option
def command(quick: bool, part: str, out: Path | None, as_json: bool, **settings: Any) -> None:
    """Placement on dragonflies: communication time, congestor, joules lost, beside published."""
    from wattline.studies.dragonfly.figures import summary
    from wattline.studies.dragonfly.study import plan_of, run_study

    plan = plan_of(part, quick=quick, **settings)
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
    if "workloads" in found:
        _print_random(found)
        click.echo()
        _print_policies(found)
    if "rules" in found:
        _print_rules(found["rules"])
    _print_tables(found)
    if "congestor" in found:
        click.echo()
        _print_congestor(found)
    if "endpoints" in found:
        _print_endpoints(found["endpoints"])


_NAMES = ("strictly_better", "strictly_worse", "only_small_better", "only_large_better", "tied",
          "mean_reduction", "max_reduction")
_HEADS = ("both better", "both worse", "only small", "only large", "tied", "mean cut", "best cut")


def _print_random(found: dict[str, Any]) -> None:
    """Level-Spread against the others: four quadrants, ties apart, published figures beside."""
    rows = [(f"  published: {name}", *(found["published"][key].get(n) for n in _NAMES))
            for name, key in (("baselines", "random"), ("jokanovic", "jokanovic"))]
    ways = [(f"flows, {found['workloads']} workloads x {found['repeats']}", found),
            ("flows, large first", found["large_first"])]
    if "packets" in found:
        steps = found["packets_in_steps"]
        ways = [(f"packets in steps, {steps['workloads']} workloads x {steps['runs']}", steps),
                ("packets in steps, large first", steps["large_first"]),
                ("packets in steps under ugal, one run", found["packets_in_steps_ugal"]),
                (f"packets at once, {found['packets']['workloads']} workloads", found["packets"]),
                *ways]
    for label, result in ways:
        for name, figures in (("baselines", result), ("jokanovic", result["jokanovic"]),
                              ("jokanovic's code", result["jokanovic_code"])):
            rows.append((f"{label}: {name}", *(figures[n] for n in _NAMES)))
    print_table(("Level-Spread against", *_HEADS), rows,
                title="Random workloads on 272 nodes; a case is better or worse when it is so for "
                      "small and for large jobs, and tied when one kind takes exactly as long")


def _print_rules(found: dict[str, Any]) -> None:
    print_table(
        ("threshold", "queue", "x hops", "inside groups", "baselines", "worse", "jokanovic",
         "worse", "its code", "worse", "its large jobs"),
        [(row["threshold"], row["queue"], *("yes" if row[key] else "no" for key in (
            "hops", "detours_inside_groups")),
          *(row[name][figure] for name in ("baselines", "jokanovic", "jokanovic_code")
            for figure in ("strictly_better", "strictly_worse")), row["large_jobs_of_jokanovic"])
         for row in found["rows"]],
        title=f"Rules of adaptive routing: Level-Spread strictly better and worse, packets in "
              f"steps, {found['workloads']} workloads, one run")


def _print_policies(found: dict[str, Any]) -> None:
    print_table(
        ("placement", "small jobs", "large jobs", "J lost / million exchanges", "share lost"),
        [(name, *found["relative_time"][name], energy["lost_j_per_million_exchanges"],
          energy["lost_share"]) for name, energy in found["energy"].items()],
        title="Mean time over Level-Spread, and energy lost to waiting on the network")


def _print_tables(found: dict[str, Any]) -> None:
    for key, kinds in (("homogeneous", 1), ("heterogeneous", 2), ("message_sizes", 2)):
        if key not in found:
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
    cuts = [(how, found[key]) for how, key in (("", "reductions"), (
        ", ratio 1, packets in steps", "reductions_in_steps")) if key in found]
    if not cuts:
        return
    print_table(("reduction of communication time", "ours", "published"), [
        (f"{label}{how}", _span(cut[key]), _span(published[key])) for how, cut in cuts
        for key, label in (
            ("sixteen_nodes", "16-node jobs, grouping against spreading"),
            ("sixty_four_nodes", "64-node jobs, Level-Spread against simple"))])


def _print_congestor(found: dict[str, Any]) -> None:
    """Both kinds of congestor: execution times, and NeDD's choice beside the published figures."""
    published = found["published"]["congestor_minimd_better"]
    for kind, result in (("all to all", found["congestor"]),
                         ("one to all", found["congestor"]["one_to_all"])):
        policies = list(next(iter(result["stretch"].values())))
        print_table(("application", *policies),
                    [(name, *(row[policy] for policy in policies))
                     for name, row in result["stretch"].items()],
                    title=f"Congestor ({kind}) on 64 of 200 nodes, application on 32, other users: "
                          f"execution time over that without congestor (runs: {result['runs']})")
        print_table(("miniMD: low-traffic-router better than", "ours", "published"),
                    [(name, value, published.get(name))
                     for name, value in result["minimd_better"].items()])
        click.echo()
    if found["congestor"]["runs"] < 10:
        click.echo("Few runs of the congestor say little: they differ widely, and the order of the "
                   "placements is that of the mean of ten, which the study without --quick gives.")


def _print_endpoints(found: dict[str, Any]) -> None:
    print_table(("application", *found["communication"]),
                [(name, *row.values()) for name, row in found["execution"].items()],
                title="Nodes in a row (I), spaced (II), beside a congestor (III, IV): execution "
                      f"time over that of I, medians (runs: {found['runs']})")
    print_table(("", "ours", "published"), [
        ("correlation of time and stalls per flit", found["correlation_time_stalls"], "positive"),
        ("correlation of time and stalls per second", found["correlation_time_stalled"],
         "positive"),
        ("correlation of canary bandwidth and stalls per flit",
         found["correlation_bandwidth_stalls"], "rough; more stalls, less bandwidth")])
    print_table(("nodes of the congestor", "bandwidth of canaries over that alone"),
                list(found["canary_bandwidth"].items()))


def _span(pair: tuple[float, float]) -> str:
    return f"{pair[0]:.0%} to {pair[1]:.0%}"
