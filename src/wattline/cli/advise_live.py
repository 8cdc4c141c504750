"""`wattline advise policy --live` and `advise start --live`: from the books of a controller."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wattline.cli.live_options import needed
from wattline.cli.needs import given, option
from wattline.cli.output import print_json
from wattline.cli.scenario_options import changes_from
from wattline.model.errors import InputError

if TYPE_CHECKING:
    from wattline.advice.futures.following import PolicyRound
    from wattline.traces import Trace

MAP = "trace.map"
FOLLOWING = (given("live"), given("follow", why="one look changes nothing"))
history_option = option(
    "--history", metavar="LOG", needs=given("live"),
    help="With --live: a job log of the site, to draw run times from beside the journals.")
act_option = option(
    "--act", is_flag=True, needs=FOLLOWING,
    help="With --live --follow: change the policy of the controller; without it nothing is done.")
rounds_option = option(
    "--rounds", type=click.IntRange(1), metavar="N", needs=FOLLOWING,
    help="With --live --follow: end after N looks.  [default: go on]")


def history_of(history: str | None, options: dict[str, Any]) -> Trace | None:
    """The log that run times are drawn from; options of a scenario have no meaning here."""
    changes = changes_from(options)
    given = next((name for name in changes if name != MAP or history is None), None)
    if given is not None:
        raise InputError(f"--live is about the machine that runs now: {given} cannot be set there")
    if history is None:
        return None
    from wattline.scenario.bundled_logs import log_path
    from wattline.traces import read

    return read(log_path(history), column_map=changes.get(MAP))


def need_instant(at: str | None) -> str:
    needed(at, "--at")
    assert at is not None
    return at


def follow(config: Path, every: str, act: bool, as_json: bool, asked: dict[str, Any]) -> None:
    """Look every so often, and say each time what is changed or would be."""
    from wattline.advice.futures.following import follow_policy

    for found in follow_policy(config, every=every, act=act, **asked):
        if as_json:
            print_json(found.to_dict(), indent=None)
        else:
            _print_round(found, act)


def date_text(time_s: float) -> str:
    return datetime.fromtimestamp(time_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _print_round(found: PolicyRound, act: bool) -> None:
    advice = found.advice
    if advice is None:
        click.echo(found.why)
        return
    click.echo(f"{date_text(advice.at_s)}: {advice.waiting:,} jobs wait, {advice.running:,} run; "
               f"{found.why}")
    if found.changes:
        said = " ".join(f"{name}={value}" for name, value in found.changes.items())
        click.echo(f"  {found.done or said}" if act else
                   f"  would change: {said} (a dry run: --act changes it)")
    for line in advice.assumed:
        click.echo(f"  note: {line}")
