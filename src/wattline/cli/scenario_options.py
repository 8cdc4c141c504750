"""Options that describe a scenario, shared by the commands that simulate one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import click

from wattline.cli.choices import Choice, PolicyOption
from wattline.cli.finite import FINITE
from wattline.cli.zone import ZONE_HELP
from wattline.model.errors import InputError


class Axis(NamedTuple):
    """The type of an option that names a policy."""

    name: str


class Text(NamedTuple):
    """The type of an option that the scenario reads; the help shows what it is like."""

    metavar: str


# Each option is a field of the scenario file: option -> (field, type, help). That of a policy has
# its axis as its type, whose choices the help lists.
FIELDS: dict[str, tuple[str, Any, str]] = {
    "--nodes": ("machine.nodes", int, "Nodes of the machine."),
    "--cores-per-node": ("machine.cores_per_node", int,
                         "Processors of the log that make a node; default: by its header."),
    "--granularity": ("machine.granularity", Choice(["node", "core"]),
                      "What jobs share the machine by."),
    "--node-idle-w": ("machine.node_idle_w", Text("WATTS"), "Power of an idle node."),
    "--node-active-w": ("machine.node_active_w", Text("WATTS"), "Power of a busy node."),
    "--order": ("policy.order", Axis("order"), "Order of the queue."),
    "--backfill": ("policy.backfill", Axis("backfill"), "Who may overtake whom."),
    "--power-policy": ("policy.power", Axis("power"), "How a cap is kept."),
    "--placement": ("policy.placement", Axis("placement"), "How nodes are chosen."),
    "--network": ("network.machine", Text("MACHINE"),
                  "Interconnect: dragonfly-272, theta, ... or a file."),
    "--configure": ("policy.configure", Axis("configure"),
                    "How a job's configuration is chosen."),
    "--threshold": ("policy.configure.threshold", Text("PART"),
                    "How much slower than requested an adaptive job may be, like 10%."),
    "--configurations": ("policy.configure.table", Text("CSV"),
                         "Measured configurations (CSV); without it the shipped models."),
    "--overrun": ("policy.overrun", Choice(["extend", "kill"]),
                  "What becomes of jobs that reach their requested time."),
    "--policy": ("policy.python", Text("MODULE:CLASS"), "A policy in Python."),
    "--cap": ("power.cap", Text("WATTS|PERCENT|FILE|none"),
              "A power (1.4MW), per cent of rated power (70%), of the peak or a percentile of "
              "the run without a cap (70%peak, 70%p99), a CSV file of time,watts (dates, or "
              "seconds from the first submission), or none."),
    "--watch-cap": ("power.watch_cap", Text("WATTS|PERCENT|FILE"),
                    "The same, only to measure the time above it."),
    "--alpha": ("power.alpha", FINITE, "Power of a core ~ frequency^alpha."),
    "--beta": ("power.beta", FINITE, "Run time ~ frequency^-beta."),
    "--idle-fraction": ("power.idle_fraction", Text("PART"),
                        "Idle power as a part of active power."),
    "--map": ("trace.map", Text("NAME|FILE"),
              "Column map of a table: eagle, eurora, fdata, pm100, or a TOML file."),
    "--zone": ("trace.zone", Text("ZONE"), ZONE_HELP),
    "--jobs": ("trace.jobs", int, "Use only the first N jobs."),
    "--seed": ("trace.seed", int, "Seed of a generated workload."),
}

_CAPS = ("power.cap", "power.watch_cap")
"""Fields that may be a number, a text or a list."""


def scenario_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command; it gets them as `options`, a dict of fields."""
    for option, (field, kind, text) in reversed(FIELDS.items()):
        command = _option(option, field.replace(".", "__"), kind, text)(command)
    command = click.option("--set", "settings", multiple=True, metavar="FIELD=VALUE",
                           help="Set any field of the scenario.")(command)
    command = click.option("--drop-larger", is_flag=True,
                           help="Leave out jobs that are larger than the machine.")(command)
    command = click.option("--allow-code", is_flag=True,
                           help="Let a scenario from a pipe run code that it names.")(command)
    return click.option("--strict", is_flag=True, help="Irregular jobs in the log are errors.")(
        command
    )


def _option(option: str, name: str, kind: Any, text: str) -> Callable[..., Any]:
    if isinstance(kind, Axis):
        return click.option(option, name, cls=PolicyOption, axis=kind.name, metavar="NAME",
                            help=text)
    if isinstance(kind, Text):
        return click.option(option, name, metavar=kind.metavar, help=text)
    return click.option(option, name, type=kind, help=text)


def code_allowed(
    path: str | None, loaded: Any, changes: dict[str, Any], options: dict[str, Any]
) -> bool:
    """Whether a scenario may run code: its file or the policy was named on the command line.

    What comes through a pipe was not: nobody need have seen it.
    """
    from wattline.model.reading import is_file
    from wattline.scenario.python_policy import code_of, names_code

    named = path is not None and (path.startswith("bundled:") or is_file(path))
    own_word = all(names_code(changes, field) for field in code_of(loaded.policy))
    return bool(options["allow_code"]) or named or own_word


def changes_from(options: dict[str, Any]) -> dict[str, Any]:
    """The scenario fields that the given options set."""
    from wattline.scenario.load import parse_settings, parse_value

    changes: dict[str, Any] = {}
    for field, _, _ in FIELDS.values():
        value = options.get(field.replace(".", "__"))
        if value is not None:
            changes[field] = parse_value(value) if field in _CAPS else value
    for flag in ("strict", "drop_larger"):
        if options.get(flag):
            changes[f"trace.{flag}"] = True
    settings = parse_settings(options.get("settings") or ())
    for field in settings:
        if field in changes:
            raise InputError(f"{option_of(field)} and --set {field} both set {field}; leave one "
                             "out")
    return changes | settings


def option_of(field: str) -> str:
    """The option that sets a field; `--set` where there is none for it alone."""
    flags = {"trace.strict": "--strict", "trace.drop_larger": "--drop-larger"}
    named = {each: option for option, (each, _, _) in FIELDS.items()} | flags
    return named.get(field, f"--set {field}")


def load_scenario(path: str | None, trace: str | None, changes: dict[str, Any]) -> Any:
    """A scenario from a file, or from options alone when a log is given."""
    try:
        return _loaded(path, trace, changes)
    except InputError as error:
        # A shell takes quotes away: only in a file can they be wrong.
        if any(f"{field}:" in str(error) for field in changes):
            raise InputError(str(error).replace(", without quotes", "")) from None
        raise


def _loaded(path: str | None, trace: str | None, changes: dict[str, Any]) -> Any:
    from wattline.scenario.load import changed, load, validate
    from wattline.traces.files import log_name
    from wattline.traces.reader import is_log

    if path is not None and is_log(path):
        if trace is not None:
            raise InputError(f"{path} is a job log, and --trace {trace} is another: "
                             "give one of them, or a scenario")
        path, trace = None, path
    if path is not None:
        _refuse_run(path)
        if trace is not None:
            changes = {"trace": {"file": trace}} | changes
        try:
            return load(path, changes)
        except InputError as error:
            if trace is None and _is_stream(path):
                named = "/dev/stdin" if path == "-" else path
                raise InputError(f"{error}; a job log that another program prints is read with "
                                 f"--trace {named}") from None
            raise
    if trace is None:
        raise InputError("give a scenario file or a job log (also with --trace LOG)")
    fields = changed({"name": log_name(trace) or "run", "trace": {"file": trace}}, changes)
    return validate(fields, "command line")


def _is_stream(path: str) -> bool:
    """Whether it is read once, so that nobody can look first whether it is a log."""
    return path == "-" or Path(path).is_fifo()


def _refuse_run(path: str) -> None:
    """A run folder in the scenario's place: say what can be done with it."""
    if (Path(path) / "scenario.toml").is_file():
        raise InputError(f"{path} is a run folder, not a scenario: `wattline report {path}` draws "
                         f"it, {path}/scenario.toml simulates it again")
