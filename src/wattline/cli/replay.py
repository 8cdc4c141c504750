"""`wattline replay`: ask a journal again, or ask what another policy would have done."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import click

from wattline.cli.needs import given, option
from wattline.cli.output import json_option, print_json, print_table, progress
from wattline.model.units import counted

LIVE_S = 1e9
"""No simulation lasts so long: a later time is one of the calendar, after 2001."""


@click.command()
@click.argument("journal")
@click.option("--scenario", metavar="FILE",
              help="Ask with the policy of this scenario instead of the journal's own.")
@option("--from", "since", metavar="TIME",
        help="With --scenario: let the journal's own policy decide up to here; a time (90m) "
             "or decision:N. Without it, the other policy decides from the beginning.",
        needs=given("scenario"))
@option("--assume-requested", is_flag=True,
        help="With --scenario: jobs that the journal does not see to their end run as long "
             "as they asked for; without it, only the journal's events are told.",
        needs=given("scenario"))
@click.option("--allow-code", is_flag=True,
              help="Let a journal, or a scenario from a pipe, run code that it names.")
@json_option
@click.pass_context
def command(
    context: click.Context, journal: str, scenario: str | None, since: str | None,
    assume_requested: bool, allow_code: bool, as_json: bool,
) -> None:
    """Tell the events of JOURNAL to fresh books and compare decision by decision.

    What a controller decided about jobs that share nodes lies beside its journal and is compared
    too. Exit status 0 where every decision is the journal's, 1 where one differs; where Slurm
    started the jobs there is none to compare, and that is said.
    """
    from wattline.controller.replaying import replay
    with progress("replaying", spoken=True) as advance:
        asked = replay(journal, scenario, since=since, assume_requested=assume_requested,
                       allow_code=allow_code, progress=advance)
    if as_json:
        print_json(_as_json(asked))
    else:
        _print(journal, asked)
    if not asked.equal:
        context.exit(1)


def _as_json(asked: Any) -> dict[str, Any]:
    found = asked.result
    first = _first(asked)
    said: dict[str, Any] = {
        "jobs": asked.jobs, "steps": found.steps, "decisions": asked.decisions,
        "equal": None if _nothing_to_compare(asked) else asked.equal,
        "first_difference": None if first is None else asdict(first),
        "refused": [{"event": type(each.event).__name__, "reason": each.reason}
                    for each in found.refused[:20]],
        "damaged_lines": list(asked.damaged), "complete": asked.complete,
    }
    if asked.beside is not None:
        said["remarks"] = list(asked.beside.remarks)
    if asked.other is not None:
        said |= {"from_s": asked.other.from_s, "world": _world(asked.other),
                 "remarks": list(asked.other.remarks), "starts": dict(asked.other.starts)}
        if asked.other.run is not None:
            from wattline.analysis.metrics import metrics

            said["metrics"] = metrics(asked.other.run)
    return said


def _first(asked: Any) -> Any:
    """The first difference, in the journal or beside it."""
    return asked.result.first_difference or (asked.beside and asked.beside.first_difference)


def _nothing_to_compare(asked: Any) -> bool:
    """A journal without decisions shows only that its events can be told."""
    return bool(asked.equal and asked.decisions == 0)


def _world(other: Any) -> str:
    return "simulated" if other.simulated else "events only"


def _print_how(other: Any) -> None:
    """From when on, in which world, and what was assumed."""
    since = "the beginning" if other.from_s is None else (
        f"{_at(other.from_s)}; up to there the journal's own decides")
    click.echo(f"the other policy decides from {since}")
    click.echo("world: simulated, jobs end as their new starts make them" if other.simulated
               else "world: events only, as the journal has them")
    for remark in other.remarks:
        click.echo(f"  {remark}")


def _print(journal: str, asked: Any) -> None:
    found = asked.result
    click.echo(f"{journal}: {counted(asked.jobs, 'job')}, {counted(found.steps, 'step')}, "
               f"{counted(asked.decisions, 'decision')}")
    if asked.damaged:
        click.echo(f"damaged: the checksum of line {asked.damaged[0]} does not fit "
                   f"({counted(len(asked.damaged), 'line')})")
    if not asked.complete:
        click.echo("the journal has no last line: its writer still runs or was killed, or lines "
                   "were lost")
    if asked.other is not None:
        _print_how(asked.other)
    for refused in found.refused[:3]:
        click.echo(f"not possible here: {refused.reason}")
    for remark in () if asked.beside is None else asked.beside.remarks:
        click.echo(remark)
    _print_outcome(asked)
    if asked.other is not None and asked.other.run is not None:
        from wattline.analysis.metrics import metrics
        from wattline.analysis.summary import summary_rows

        if asked.other.starts:
            click.echo("starts of jobs: " + ", ".join(
                f"{count} {name.replace('_', ' ')}" for name, count in asked.other.starts.items()))
        other = asked.other.run
        print_table(["metric", "value"], summary_rows(metrics(other), other),
                    "the same jobs under the other policy")


def _print_outcome(asked: Any) -> None:
    if _nothing_to_compare(asked):
        click.echo("there is no decision to compare: its events can be told, and no more is shown")
    elif asked.equal:
        click.echo("every decision is the same")
    elif asked.result.first_difference is not None:
        _print_difference(asked.result.first_difference)
    elif asked.beside is not None and asked.beside.first_difference is not None:
        first = asked.beside.first_difference
        click.echo(f"first difference on shared nodes, {_at(first.time_s)}:")
        print_table(["", "decided"], [["beside the journal", ", ".join(first.journal) or "nothing"],
                                      ["here", ", ".join(first.here) or "nothing"]])
    else:
        click.echo("not the same")


def _print_difference(first: Any) -> None:
    click.echo(f"first difference at step {first.step}, {_at(first.time_s)}:")
    alike = _alike(first.journal, first.here)
    if alike:
        click.echo(f"  ({counted(alike, 'decision')} of it the same)")
    rows = [[where, _told(decisions[alike:])] for where, decisions in
            (("journal", first.journal), ("here", first.here))]
    print_table(["", "decided"], rows)


def _at(time_s: float) -> str:
    """Seconds of a simulation; a controller's journal counts from 1970, and has a date."""
    if time_s < LIVE_S:
        return f"{time_s:g} s"
    return f"{datetime.fromtimestamp(time_s, UTC):%Y-%m-%d %H:%M:%S} UTC"


def _alike(journal: Any, here: Any) -> int:
    """How many decisions at the beginning are the same."""
    pairs = enumerate(zip(journal, here, strict=False))
    return next((place for place, (one, other) in pairs if one != other),
                min(len(journal), len(here)))


def _told(decisions: Any) -> str:
    """Decisions with all that is to be carried out: they may differ in any of it."""
    told = [f"{each.kind} {'' if each.job is None else each.job}".strip()
            + f" ({each.rate:.15g}, {each.power_w:.15g} W{_set(each.control)})"
            for each in decisions]
    more = f" and {len(told) - 8} more" if len(told) > 8 else ""
    return ", ".join(told[:8]) + more if told else "nothing"


def _set(control: Any) -> str:
    """What is set, by name; of many nodes the first."""
    said = {name: value for name, value in asdict(control).items() if value not in (None, ())}
    return "".join(f", {name} {_short(value)}" for name, value in said.items())


def _short(value: Any) -> str:
    if not isinstance(value, tuple):
        return str(value)
    more = f" and {len(value) - 12} more" if len(value) > 12 else ""
    return " ".join(map(str, value[:12])) + more
