"""`wattline replay`: ask a journal again, or ask what another policy would have done."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from wattline.cli.output import counted, json_option, print_json, print_table


@click.command()
@click.argument("journal")
@click.option("--scenario", metavar="FILE",
              help="Ask with the policy of this scenario instead of the journal's own.")
@click.option("--allow-code", is_flag=True,
              help="Let a journal, or a scenario from a pipe, run code that it names.")
@json_option
@click.pass_context
def command(
    context: click.Context, journal: str, scenario: str | None, allow_code: bool, as_json: bool
) -> None:
    """Tell the events of JOURNAL to fresh books and compare decision by decision.

    Exit status 0 where every decision is the journal's, 1 where one differs.
    """
    from wattline.scenario.journals import replay_journal

    asked = replay_journal(journal, scenario, allow_code=allow_code)
    if as_json:
        print_json(_as_json(asked))
    else:
        _print(journal, asked)
    if not asked.equal:
        context.exit(1)


def _as_json(asked: Any) -> dict[str, Any]:
    found = asked.result
    first = found.first_difference
    said: dict[str, Any] = {
        "jobs": asked.jobs, "steps": found.steps, "decisions": found.decisions,
        "equal": asked.equal, "first_difference": None if first is None else asdict(first),
        "refused": [{"event": type(each.event).__name__, "reason": each.reason}
                    for each in found.refused[:20]],
        "damaged_lines": list(asked.damaged), "complete": asked.complete,
    }
    if asked.alternative is not None:
        from wattline.analysis.metrics import metrics

        said["metrics"] = metrics(asked.alternative)
    return said


def _print(journal: str, asked: Any) -> None:
    found = asked.result
    click.echo(f"{journal}: {counted(asked.jobs, 'job')}, {counted(found.steps, 'step')}, "
               f"{counted(found.decisions, 'decision')}")
    if asked.damaged:
        click.echo(f"damaged: the checksum of line {asked.damaged[0]} does not fit "
                   f"({counted(len(asked.damaged), 'line')})")
    if not asked.complete:
        click.echo("the journal has no last line: its writer did not end, or lines were lost")
    for refused in found.refused[:3]:
        click.echo(f"not possible here: {refused.reason}")
    if found.first_difference is None:
        click.echo("every decision is the same" if asked.equal else "not the same")
    else:
        first = found.first_difference
        click.echo(f"first difference at step {first.step}, {first.time_s:g} s:")
        rows = [[where, _told(decisions)] for where, decisions in
                (("journal", first.journal), ("here", first.here))]
        print_table(["", "decided"], rows)
    if asked.alternative is not None:
        from wattline.analysis.metrics import metrics
        from wattline.analysis.summary import summary_rows

        other = asked.alternative
        print_table(["metric", "value"], summary_rows(metrics(other), other),
                    "the same jobs under the other policy")


def _told(decisions: Any) -> str:
    told = [f"{each.kind} {'' if each.job is None else each.job}".strip()
            + f" ({each.rate:g}, {each.power_w:.15g} W, {each.control.units} units)"
            for each in decisions]
    more = f" and {len(told) - 8} more" if len(told) > 8 else ""
    return ", ".join(told[:8]) + more if told else "nothing"
