"""`wattline study puppet`: power capping by DVFS and by allocation, after the published study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from wattline.analysis.folders import run_folder
from wattline.cli.choices import Choice
from wattline.cli.finite import FiniteRange
from wattline.cli.needs import absent, given, option
from wattline.cli.output import json_option, print_json, print_table, progress
from wattline.model.errors import InputError

LOGGED = given("trace", why="the generated log has its own machine and powers")
GENERATED = absent("trace", why="it is of the generated log")


@click.command()
@click.option("--trace", type=click.Path(path_type=Path),
              help="Job log; by default a generated one of four months.")
@option("--nodes", type=click.IntRange(min=1), help="Nodes of the machine (with --trace).",
        needs=LOGGED)
@option("--node-active-w", type=FiniteRange(min=0, min_open=True),
        help="Power of a busy node where the log has none (with --trace); default 62.",
        needs=LOGGED)
@option("--jobs", type=click.IntRange(min=100),
        help="Length of the generated log; default 16,044 jobs, four months.", needs=GENERATED)
@option("--arrivals", type=Choice(["hours", "sessions"]),
        help="How the generated log's jobs come: in sessions of users (default), or by the "
             "hours of the day alone.", needs=GENERATED)
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True,
              help="Of the generated log, or of the powers that a log lacks.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("runs/puppet"),
              show_default=True, help="Folder for the plots.")
@click.option("--plots/--no-plots", default=True, show_default=True, help="Write the plots.")
@json_option
def command(trace: Path | None, nodes: int | None, node_active_w: float | None, jobs: int | None,
            arrivals: str | None, seed: int, out: Path, plots: bool, as_json: bool) -> None:
    """Delay jobs or slow processors? Figures 10 to 16 and table 2 of the PuPPET study."""
    from wattline.studies.puppet import study as puppet
    from wattline.studies.puppet.workloads import workload_of

    workload, remarks = workload_of(trace, nodes, node_active_w, jobs, seed, arrivals)
    for line in remarks:
        click.echo(f"wattline: {line}", err=True)
    if plots:
        run_folder("puppet", str(out))  # a place that cannot be written is found out now
    with progress("simulating") as advance:
        result = puppet.study(workload, advance)
    files: list[Path] = []
    if plots:
        from wattline.studies.puppet.plots import write_pictures

        try:
            files = write_pictures(result, out)
        except OSError as error:
            raise InputError(f"cannot write to {out}: {error.strerror}") from error
    if as_json:
        from wattline.studies.puppet.published import rows

        print_json(puppet.as_json(result) | {"published": rows(result),
                                             "plots": [str(file) for file in files]})
        return
    _print(result, files)


def _print(result: Any, files: list[Path]) -> None:
    from wattline.studies.puppet.log_figures import MIRA, log_figures

    workload = result.workload
    click.echo(f"{workload.source}; {workload.nodes:,} nodes; caps are fractions of "
               f"{result.reference_w / 1e6:.3f} MW, the uncapped peak of {workload.names[0]}\n")
    own = log_figures(workload.whole, workload.nodes)
    print_table(("of the log", "here", "a log of Mira"),
                [(name, value, MIRA[name]) for name, value in own.items()])
    click.echo("")
    for finding in result.findings:
        judged = finding.judgement
        click.echo(f"{finding.verdict.upper() if finding.verdict == 'fails' else finding.verdict}"
                   f" ({judged.right} of {judged.cases} cases): {finding.claim}")
        for name, value in finding.figures.items():
            click.echo(f"         {name}: {_figure(value)}")
        if finding.why:
            click.echo(f"         why: {finding.why}")
    click.echo("")
    print_table(
        ("step (min)", "starts kept (%)", "own schedule (%)", "its mean (%)",
         "power read once a step (%)", "published (%)", "our run (s)", "published (min)"),
        [(row.step_min, 100 * row.replayed, 100 * row.error, 100 * row.mean_error,
          100 * row.sampled, 100 * row.published_error, row.seconds, row.published_min)
         for row in result.steps],
        title="Largest error of a day's energy by simulation step (table 2)",
    )
    _print_tables(result)
    found = [finding.verdict for finding in result.findings]
    click.echo(f"\n{found.count('holds')} of {len(found)} findings hold, "
               f"{found.count('holds on average')} hold on average, {found.count('fails')} fail; "
               f"{result.simulations} simulations in {result.seconds:.1f} s")
    for file in files:
        click.echo(f"  {file}")


def _print_tables(result: Any) -> None:
    """What hangs on assumptions, and the jobs that are in no figure."""
    tables = result.tables
    for title, rows in (
        ("WAIT by load and by what the cap counts", tables.load),
        ("DVFS by its slowest frequency", tables.lowest), ("DVFS by beta", tables.beta),
    ):
        click.echo("")
        print_table(
            (*rows[0].of, "utilisation x", "wait x", "EDP x", "node-seconds left out (%)"),
            [(*(f"{value:.0%}" if name == "cap" else value for name, value in row.of.items()),
              row.utilisation, row.wait, row.edp, 100 * row.left_out_share) for row in rows],
            title=title)
    click.echo("")
    print_table(("method", "cap", "jobs left out", "of node-seconds (%)"),
                [(row["method"], f"{row['cap']:.0%}", row["jobs"], 100 * row["share"])
                 for row in result.left_out],
                title="Jobs that alone exceed the cap: left out there, with the cap and without")


def _figure(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_figure(item)}" if not isinstance(item, dict)
                         else f"{name} ({_figure(item)})" for name, item in value.items())
    if isinstance(value, list):
        return " ".join(_figure(item) for item in value)
    return str(value)
