"""Running what is compared, one after the other, into a folder; with what is said on the way."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wattline.analysis.folders import file_stem
from wattline.cli.simulating import run_plan, say_beforehand, say_budget, say_of_run

if TYPE_CHECKING:
    from wattline.model.run import Run
    from wattline.scenario.lineup import Contender


@dataclass
class RunsDone:
    """By name: the runs, their figures, and the folder each lies in."""

    runs: dict[str, Run] = field(default_factory=dict)
    figures: dict[str, Any] = field(default_factory=dict)
    folders: dict[str, str] = field(default_factory=dict)


def run_each(contenders: Sequence[Contender], folder: Path) -> RunsDone:
    """Simulate or read each contender; what was simulated is written below the folder."""
    from wattline.analysis import rundir
    from wattline.analysis.metrics import metrics
    from wattline.analysis.naming import unique_name

    _clear_old(folder, contenders)
    done, said = RunsDone(), set[str]()
    for number, contender in enumerate(contenders, start=1):
        name = unique_name(contender.name, done.runs)
        run = rundir.read(contender.folder) if contender.folder else _simulate(
            contender, name, said, contenders[number:])
        done.runs[name], done.figures[name] = run, metrics(run)
        done.folders[name] = contender.folder or str(rundir.write(
            run, folder / _file_name(name, number), done.figures[name]))
    return done


def _simulate(
    contender: Contender, name: str, said: set[str], following: Sequence[Contender]
) -> Run:
    plan = contender.plan(name)
    say_beforehand(plan, said)
    for line in contender.remarks:
        if line not in said:
            click.echo(f"wattline: {line}", err=True)
        said.add(line)
    run = run_plan(plan, before_compiling=following[0].compile_ahead if following else None)
    say_of_run(plan, run, said, name)
    say_budget(run, name)
    return replace(run, remarks=(*run.remarks, *contender.remarks))


def _clear_old(folder: Path, contenders: Sequence[Contender]) -> None:
    """Take away the runs and the report of an earlier comparison in the same folder; of runs that
    are not made again, say so."""
    from wattline.analysis import rundir
    from wattline.analysis.naming import unique_name

    old = sorted(path for path in folder.glob("[0-9][0-9]-*") if rundir.is_run(path))
    names: list[str] = []
    for contender in contenders:
        names.append(unique_name(contender.name, names))
    others = [f"'{there}'" for path in old if (there := rundir.name_in(path)) not in ("", *names)]
    if others:
        runs, whose = ("run", "its") if len(others) == 1 else ("runs", "their")
        click.echo(f"wattline: {folder} held the {runs} {', '.join(others)}; this comparison takes "
                   f"{whose} place", err=True)
    for path in [*old, folder / "report"] if old else []:
        shutil.rmtree(path, ignore_errors=True)


def _file_name(name: str, number: int) -> Path:
    return Path(f"{number:02d}-{file_stem(name)}"[:60])
