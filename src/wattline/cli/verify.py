"""`wattline verify RUN...`: judge run folders by their records alone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from wattline.cli.needs import given, option
from wattline.cli.output import json_option, print_json
from wattline.model.errors import InputError
from wattline.model.units import counted


@click.command("verify")
@click.argument("folders", metavar="RUN|JOURNAL...", nargs=-1, required=True,
                type=click.Path(path_type=Path))
@click.option("--store", default="", metavar="URL|FILE",
              help="Of journals: the controller's ledger, whose joules are compared.")
@option("-M", "--clusters", default="", metavar="NAME,...", help="Only these clusters of it.",
        needs=given("store"))
@json_option
def command(folders: tuple[Path, ...], store: str, clusters: str, as_json: bool) -> None:
    """Verify run folders and journals by their own records, with none of the code that made them.

    Every promise that a policy or a scenario made is worked out again at every event. Each broken
    one is a sentence, and the exit status is then 1. The last lines say what was judged, and what
    could not be judged and why. Where a folder has a contract, its bill is worked out anew from
    power.csv too. Of a journal (of a controller, or of `simulate --journal`) orders, nodes, watts,
    meters and Slurm's licences are judged by its lines, and joules of jobs by a ledger
    (--store).
    """
    from wattline.account.measured.journal_jobs import ended_jobs
    from wattline.analysis.result import verify
    from wattline.cli.account.show import names
    from wattline.demand_response.folder import bill_differs
    from wattline.results.verify.journal.rules import is_journal, verify_journal

    if store and not any(map(is_journal, folders)):
        raise InputError("--store goes with journals, and none of these is one")

    def judge(folder: Path) -> dict[str, Any]:
        if is_journal(folder):
            jobs = ended_jobs(store, names(clusters, "-M")) if store else None
            return {"run": str(folder), **verify_journal(folder, jobs).to_dict()}
        plain = verify(folder).to_dict()
        bill = [{"rule": "contract.bill", "sentence": sentence, "job": None, "time_s": None}
                for sentence in bill_differs(folder)]
        return {"run": str(folder), **plain, "findings": [*plain["findings"], *bill]}

    told: list[dict[str, Any]] = []
    unreadable: list[str] = []
    for folder in folders:  # one that cannot be read keeps none of the others from being judged
        try:
            told.append(judge(folder))
        except InputError as error:
            unreadable.append(str(error))
    if as_json and (told or not unreadable):
        print_json({"runs": told})
    elif not as_json:
        for run in told:
            _print(run)
    if unreadable:
        raise InputError("\n".join(unreadable))
    if any(run["findings"] for run in told):
        sys.exit(1)


def _print(run: dict[str, Any]) -> None:
    broken = [found["sentence"] for found in run["findings"]]
    click.echo(f"{run['run']}: " + (f"{counted(len(broken), 'finding')}" if broken
                                    else "nothing is broken"))
    for sentence in broken:
        click.echo(f"  {sentence}")
    click.echo(f"  judged: {', '.join(map(_judged, run['judged']))}")
    for rule in run["not_judged"]:
        click.echo(f"  not judged: {rule['rule']}: {rule['why']}")


def _judged(rule: dict[str, Any]) -> str:
    if rule["decisions"] is None:
        return str(rule["rule"])
    of = "" if rule["of"] == rule["decisions"] else f" of {rule['of']:,}"
    return f"{rule['rule']} ({rule['decisions']:,}{of} decisions)"
