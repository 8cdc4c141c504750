"""Options that describe a scenario, shared by the commands that simulate one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from wattline.model.errors import InputError

# Each option is a field of the scenario file: option -> (field, type, help).
FIELDS: dict[str, tuple[str, Any, str]] = {
    "--nodes": ("machine.nodes", int, "Nodes of the machine."),
    "--cores-per-node": ("machine.cores_per_node", int,
                         "Processors of the log that make a node; default: by its header."),
    "--granularity": ("machine.granularity", str, "Share the machine by node or by core."),
    "--node-idle-w": ("machine.node_idle_w", str, "Power of an idle node."),
    "--node-active-w": ("machine.node_active_w", str, "Power of a busy node."),
    "--order": ("policy.order", str, "Order of the queue: fcfs, sjf, largest, wfp, ..."),
    "--backfill": ("policy.backfill", str, "none, easy or conservative."),
    "--power-policy": ("policy.power", str, "How a cap is kept: none, block, wait, dvfs, ..."),
    "--placement": ("policy.placement", str, "How nodes are chosen: counted, first-fit, ..."),
    "--network": ("network.machine", str, "Interconnect: dragonfly-272, theta, ... or a file."),
    "--configure": ("policy.configure", str, "How a job's configuration is chosen."),
    "--threshold": ("policy.configure.threshold", str,
                    "How much slower than requested an adaptive job may be, like 10%."),
    "--configurations": ("policy.configure.table", str,
                         "Measured configurations (CSV); without it the shipped models."),
    "--overrun": ("policy.overrun", str, "At their requested time jobs extend or kill."),
    "--policy": ("policy.python", str, "A policy in Python, as MODULE:CLASS."),
    "--cap": ("power.cap", str,
              "Watts, a fraction of the uncapped peak, or a CSV file; a --power-policy keeps it."),
    "--watch-cap": ("power.watch_cap", str, "The same, only to measure the time above it."),
    "--alpha": ("power.alpha", float, "Power of a core ~ frequency^alpha."),
    "--beta": ("power.beta", float, "Run time ~ frequency^-beta."),
    "--idle-fraction": ("power.idle_fraction", str, "Idle power as a part of active power."),
    "--map": ("trace.map", str, "Column map of a table: a built-in name or a TOML file."),
    "--jobs": ("trace.jobs", int, "Use only the first so many jobs."),
    "--seed": ("trace.seed", int, "Seed of a generated workload."),
}

_CAPS = ("power.cap", "power.watch_cap")
"""Fields that may be a number, a text or a list."""


def scenario_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command; it gets them as `options`, a dict of fields."""
    for option, (field, kind, text) in reversed(FIELDS.items()):
        command = click.option(option, field.replace(".", "__"), type=kind, help=text)(command)
    command = click.option("--set", "settings", multiple=True, metavar="FIELD=VALUE",
                           help="Set any field of the scenario.")(command)
    command = click.option("--drop-larger", is_flag=True,
                           help="Leave out jobs that are larger than the machine.")(command)
    command = click.option("--allow-code", is_flag=True,
                           help="Let a scenario from a pipe run code that it names.")(command)
    return click.option("--strict", is_flag=True, help="Irregular jobs in the log are errors.")(
        command
    )


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
    return changes | parse_settings(options.get("settings") or ())


def load_scenario(path: str | None, trace: str | None, changes: dict[str, Any]) -> Any:
    """A scenario from a file, or from options alone when a log is given."""
    from wattline.scenario.load import changed, load, validate

    if path is not None:
        _refuse_log(path)
        if trace is not None:
            changes = {"trace": {"file": trace}} | changes
        return load(path, changes)
    if trace is None:
        raise InputError("give a scenario file, or a log with --trace LOG")
    fields = changed({"name": _stem(trace), "trace": {"file": trace}}, changes)
    return validate(fields, "command line")


def _refuse_log(path: str) -> None:
    """A log in the scenario's place: say where it belongs."""
    from wattline.traces.files import inner_name

    if Path(inner_name(Path(path))).suffix in (".swf", ".csv", ".parquet", ".pq", ".json"):
        raise InputError(f"{path} is a job log by its name, not a scenario: use --trace {path}")


def _stem(path: str) -> str:
    return Path(path).name.split(".")[0][:200] or "run"
