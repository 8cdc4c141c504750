"""The command `wattline`: finds the module of a command and prints its errors in one line."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import click

from wattline.cli.start import INTERRUPTED, leave
from wattline.cli.visible import visible_streams
from wattline.model import (
    before_compiling,
    before_running_plain,
    compiling_beside,
    when_nothing_is_kept,
    while_compiling,
)
from wattline.model.errors import InputError, WattlineError, WattlineWarning

GOES_ON = ("; what is compiled for the next time goes on in the background, for a minute or two at "
           "most")


class Listed(NamedTuple):
    """Where a command lives; its module is imported only when it is called."""

    section: str
    help: str
    module: str = ""


SECTIONS: Mapping[str, str] = {
    "plan": "Plan: replay a job log and ask what if",
    "models": "Models: configurations, predictions, procurement, specifications",
    "grid": "Grid: demand response, prices, budgets",
    "network": "Network: placement and congestion",
    "live": "Live: run beside a resource manager",
    "account": "Account: who used which joules",
}

RENAMED = {"check": "verify"}
"""Old names of commands, and those of today."""

# Each command is `command` in the module wattline.cli.<name>, with dashes as underscores.
COMMANDS: Mapping[str, Listed] = {
    "simulate": Listed("plan", "Simulate a job log on a machine under a policy."),
    "compare": Listed("plan", "Simulate several scenarios and compare them in a table."),
    "sweep": Listed("plan", "Simulate a scenario at every point of its axes."),
    "twin": Listed("plan", "Make a machine like your Slurm, and check it against your log."),
    "advise": Listed("plan", "Ask which cap can be borne, and how to run a job."),
    "replay": Listed("plan", "Ask a journal again, decision by decision."),
    "report": Listed("plan", "Make the HTML report of one or more run folders."),
    "verify": Listed("plan", "Verify run folders by their own records: caps, queue, energy."),
    "trace": Listed("plan", "Look at job logs, convert them, generate them."),
    "serve": Listed("plan", "Serve the dashboard: the machine, its jobs, what if."),
    "examples": Listed("plan", "List the examples, and copy them to run and to change."),
    "policies": Listed("plan", "List the policies along each axis."),
    "bench": Listed("plan", "Measure the speed of this installation."),
    "regulate": Listed("grid", "Simulate a contract that follows the grid's regulation signal."),
    "bid": Listed("grid", "Choose average power, reserve and weights of such a contract."),
    "power": Listed("grid", "Show, set and reserve the power cap of a scenario."),
    "energy": Listed("grid", "Energy budgets planned by price and carbon."),
    "view": Listed("plan", "Show the machine as trees: power, racks, network."),
    "claims": Listed("account", "What applications are known to need; choose, verify."),
    "account": Listed("account", "Who used which joules, printed like sacct."),
    "fairshare": Listed("account", "Who used how much of its share of the joules."),
    "configure": Listed("models", "Find the best configuration of an application under a bound."),
    "fit": Listed("models", "Learn time and power of applications from measurements."),
    "predict": Listed("models", "Predict time and power of one configuration."),
    "procure": Listed("models", "Compare few new nodes with more older ones."),
    "study": Listed("plan", "Reproduce a published evaluation beside its figures."),
    "petri": Listed("models", "Petri nets: draw, run and walk through the specification."),
    "sensors": Listed("live", "Read the power sensors of this machine, and compare them."),
    "agent": Listed("live", "Read and cap the power of this node for a controller."),
    "controller": Listed("live", "Decide what a real Slurm starts, under a cap."),
    "openadr": Listed("live", "Follow the events of an OpenADR server with the cap."),
    "doctor": Listed("live", "Say what is missing or misconfigured, and how to mend it."),
    "testbed": Listed("live", "A real Slurm with emulated power on this machine."),
    "network": Listed("network", "Look at interconnects and place jobs on them."),
}


class LazyGroup(click.Group):
    """A group that imports a command when it is called and lists commands by section."""

    def invoke(self, ctx: click.Context) -> Any:
        """Ending well when the reader went away (`wattline ... | head`): click itself would make
        it a failure."""
        try:
            done = super().invoke(ctx)
            sys.stdout.flush()
            return done
        except BrokenPipeError:
            _drop_output()
            return 0

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module = importlib.import_module(
            entry.module or f"wattline.cli.{cmd_name.replace('-', '_')}"
        )
        command = module.command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from wattline.model.nearest import did_you_mean

            meant = RENAMED.get(args[0], args[0])
            hint = did_you_mean(meant, COMMANDS)
            raise click.UsageError(f"there is no command '{args[0]}'{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for section, title in SECTIONS.items():
            rows = [(name, e.help) for name, e in COMMANDS.items() if e.section == section]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="wattline", message="wattline %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """Plan, run and account for an HPC cluster under a power limit."""
    context.with_resource(warnings.catch_warnings())
    warnings.simplefilter("ignore", WattlineWarning)  # commands say it themselves


def main(argv: list[str] | None = None) -> None:
    """Entry point: exit 0, 2 for a mistake of the user's, 1 for a failure, 130 for Ctrl-C."""
    # Little of what a command makes is ever garbage: looking for it as often as Python does by
    # default takes a tenth of a second while the modules load.
    gc.set_threshold(100_000)
    before_compiling[:] = [_say]
    before_running_plain[:] = [_say_running_plain]
    when_nothing_is_kept[:] = [_say]
    while_compiling[:] = [] if sys.stderr.isatty() else [_say]
    with _interrupts() as interrupted, visible_streams():
        try:
            status = cli.main(args=argv, prog_name="wattline", standalone_mode=False)
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            status = 2
        except click.ClickException as error:
            _say(error.format_message() + _usage(error))
            status = 2
        except InputError as error:
            _say(str(error))
            status = 2
        except WattlineError as error:
            _say(str(error))
            status = 1
        except OSError as error:
            _say(f"{error.filename or 'output'}: {error.strerror or error}")
            _drop_output()
            status = 1
        except MemoryError:
            _say("there is not enough memory for this; a smaller machine or log takes less")
            status = 1
        except (click.Abort, KeyboardInterrupt) as error:
            status = _interruption(error)
        except Exception:
            if not interrupted:
                raise
            status = _interruption()
    sys.exit(status if isinstance(status, int) else 0)


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Remember Ctrl-C: the compiler turns an interruption in its middle into other errors."""
    seen: list[int] = []

    def note(number: int, frame: Any) -> None:
        seen.append(number)
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    if before not in (signal.default_int_handler, leave):
        yield seen  # ignored, or somebody else's
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, before)


def _usage(error: click.ClickException) -> str:
    """How a command is called, for whoever left something out or named one that is not there."""
    context = getattr(error, "ctx", None)
    if context is None:
        return ""
    if isinstance(error, click.MissingParameter):
        pieces = context.command.collect_usage_pieces(context)
        if isinstance(error.param, click.Option):  # pieces say [OPTIONS] of all of them
            pieces.insert(0, f"{error.param.opts[0]} {error.param.make_metavar(context)}")
        return f" Write: {context.command_path} {' '.join(pieces)}"
    if isinstance(error, click.UsageError) and error.message.startswith("No such command"):
        return f" There are: {', '.join(context.command.list_commands(context))}."
    return ""


def _interruption(error: BaseException | None = None) -> int:
    """Say what the interrupted one has to say, or what holds of all; click wraps it up."""
    cause = error.__cause__ if isinstance(error, click.Abort) else error
    said = str(cause) if isinstance(cause, KeyboardInterrupt) else ""
    _say((said or INTERRUPTED) + (GOES_ON if any(map(_runs, compiling_beside)) else ""))
    return 130


def _runs(child: int) -> bool:
    """Whether a process that this one began has not ended."""
    try:
        return os.waitpid(child, os.WNOHANG) == (0, 0)
    except ChildProcessError:  # somebody else waited for it
        return False


def _drop_output() -> None:
    """What could not be written would be tried, and complained about, again at the end."""
    with suppress(OSError, ValueError):
        sys.stdout.close()


def _say_running_plain() -> None:
    _say("these policies are not compiled yet: this small run goes without, and they are compiled "
         "in the background for the next time")


def _say(message: str) -> None:
    line = " ".join(message.split())
    # A value of any length may be quoted in it.
    click.echo("wattline: " + (line if len(line) <= 800 else f"{line[:797]}..."), err=True)
