"""`wattline study all`: every published figure beside ours, with a verdict."""

from __future__ import annotations

from pathlib import Path

import click

from wattline.cli.output import json_option, print_json, print_table, progress


@click.command("all")
@click.option("--small", is_flag=True,
              help="Sizes that try the way in minutes and prove nothing.")
@click.option("--only", multiple=True, metavar="NAME",
              help="Only this study; may be given several times.")
@click.option("--kept", default="wattline-studies", show_default=True, metavar="FOLDER",
              help="Where the figures of each study stay; an interrupted call goes on there.")
@click.option("--data", metavar="FOLDER",
              help="Public measurements (rapl/configs.csv.xz, rapl/sphot_grid.csv); without it, "
                   "what the shipped models predict.")
@click.option("--anew", is_flag=True,
              help="Run also what takes hours, instead of the figures kept with the package.")
@click.option("--docs", metavar="FOLDER", help="Write a page per study into this folder.")
@json_option
def command(
    small: bool, only: tuple[str, ...], kept: str, data: str | None, anew: bool,
    docs: str | None, as_json: bool,
) -> None:
    """Run every study and set each published figure beside ours.

    Verdicts: holds; holds on average (not at every point); holds in part (of a range); holds,
    larger; holds, smaller; fitted (agrees because something was inferred from it); fails; not
    reproduced (not tried, or not possible here).
    """
    from wattline.studies.every import study_all

    with progress("studies") as advance:
        found = study_all(only, small=small, kept=kept, data=data, anew=anew,
                          progress=advance)
    for line in (*found.remarks, *(f"figures of '{name}' are those kept in {kept}"
                                   for name in found.resumed)):
        click.echo(f"wattline: {line}", err=True)
    written = found.write_pages(Path(docs)) if docs else []
    if as_json:
        print_json({**found.to_dict(), "pages": [str(path) for path in written]})
        return
    for name, rows in found.rows.items():
        if rows:
            print_table(["where", "what", "published", "ours", "verdict"],
                        [[row.section, row.what, row.published, row.ours, row.verdict]
                         for row in rows], title=name)
            click.echo()
    for path in written:
        click.echo(str(path))
