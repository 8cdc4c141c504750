"""`wattline sensors fit`: a server's power from that of its parts."""

from __future__ import annotations

import click

from wattline.cli.output import json_option, print_json, print_table


@click.command("fit")
@click.argument("table", type=click.Path())
@click.option("--server", required=True, metavar="COLUMN", help="The power of the whole server.")
@click.option("--part", "parts", multiple=True, metavar="COLUMN",
              help="A part of it, may be repeated; all other columns otherwise.")
@click.option("--out", metavar="FILE",
              help="Keep the model, for `wattline sensors --kind model --place FILE`.")
@json_option
def command(table: str, server: str, parts: tuple[str, ...], out: str | None,
            as_json: bool) -> None:
    """Fit the power of a server to that of its parts, where TABLE can tell it.

    TABLE has a column of watts per meter, at common times: `wattline sensors compare --csv TABLE`
    writes one.
    """
    from wattline.live.fitting import fit_server_power

    found = fit_server_power(table, server=server, parts=parts, out=out)
    if as_json:
        print_json(found.to_dict())
        return
    model = found.model
    print_table(["part", "watts for each", "seen"], [
        ["base", f"{model.base_w:.1f} W", None],
        *([name, f"{part.weight:.3f}", f"{part.low_w:.0f} to {part.high_w:.0f} W"]
          for name, part in model.parts.items())])
    click.echo(f"R2 {model.r2:.4f}; error {model.error_w:.1f} W, at worst {model.worst_w:.1f} W, "
               f"on data that was left out; {model.rows} rows")
    for line in found.remarks:
        click.echo(f"note: {line}")
    if out is not None:
        click.echo(f"model: {out}")
