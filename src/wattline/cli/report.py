"""`wattline report RUN...`: the HTML report of one or more run folders."""

from __future__ import annotations

from pathlib import Path

import click

from wattline.analysis.folders import run_folder
from wattline.cli.choices import Choice
from wattline.cli.drawing import load_plots
from wattline.cli.output import json_option, print_comparison, print_json, progress
from wattline.cli.simulating import say_assumed, say_caps, whole_or_gone
from wattline.model.errors import InputError
from wattline.model.run import Run


@click.command("report", short_help="Make the HTML report of one or more run folders.")
@click.argument("folders", metavar="RUN...", nargs=-1, required=True,
                type=click.Path(path_type=Path))
@click.option("-o", "--out", type=click.Path(path_type=Path), metavar="FOLDER",
              help="Where the report goes; FILE.html is the page alone. [default: RUN/report, or "
                   "./report for several runs]")
@click.option("--pictures", type=Choice(["png", "svg", "pdf"]), default="png", show_default=True,
              help="Form of the pictures beside the page.")
@json_option
def command(folders: tuple[Path, ...], out: Path | None, pictures: str, as_json: bool) -> None:
    """Make a self-contained HTML page, and its pictures as files, from run folders.

    The page has charts to zoom into and to read values from, tables that can be sorted, and needs
    no network. With several runs it compares them; ratios are to the first.
    """
    from wattline.analysis.other_caps import cap_givers
    from wattline.analysis.report import report
    from wattline.analysis.rundir import read
    from wattline.analysis.summary import compare_table

    runs: dict[str, Run] = {}
    with progress("reading runs") as advance:
        for number, (name, folder) in enumerate(_named(folders)):
            runs[name] = read(folder)
            advance((number + 1) / len(folders))
    target = out or (folders[0] / "report" if len(folders) == 1 else Path("report"))
    folder = target.parent if target.suffix.lower() == ".html" else target
    run_folder("report", str(folder))  # a place that cannot be written is found out now
    with whole_or_gone(folder), progress("drawing") as advance:
        load_plots()
        page = report(runs, target, advance, pictures)
    rows = compare_table(runs)
    if as_json:
        print_json({
            "report": str(page),
            "runs": list(runs),
            "above_cap_of": cap_givers(runs),
            "assumed": {name: run.assumed for name, run in runs.items()},
            "figures": [
                {"name": row.key, "values": row.values, "ratios": row.ratios} for row in rows
            ],
        })
        return
    print_comparison(list(runs), rows)
    say_caps(runs)
    say_assumed(runs)
    click.echo(f"\nreport: {page}")


def _named(folders: tuple[Path, ...]) -> list[tuple[str, Path]]:
    """Runs by the shortest end of their path that tells them apart."""
    paths = [folder.resolve() for folder in folders]
    if len(set(paths)) < len(paths):
        raise InputError("a run folder is named twice; name each run once")
    for depth in range(1, max(len(path.parts) for path in paths) + 1):
        names = ["/".join(path.parts[-depth:]) for path in paths]
        if len(set(names)) == len(names):
            return list(zip(names, folders, strict=True))
    raise InputError("the run folders cannot be told apart by name")
