"""What can go wrong, in two kinds: the user's mistake, and a failure of ours. And warnings."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path

_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z0-9-]*\w)"
                     r"(?: ([A-Z][A-Z,]*\b|[-+]?\d+(?:[.,]\d+)*%?(?!\w)))?")
_PACKAGE = str(Path(__file__).parent.parent) + os.sep
_OF_SLURM = {"cpu-freq", "json", "noheader", "parsable2"}
_OTHER_NAMES = {"power-policy": "power"}


def in_callers_terms(text: str) -> str:
    """Options as a shell takes them, or to Python as arguments: `--node-idle-w`, `node_idle_w`.

    Sentences are written with options. What stands between backticks, a whole command, stays.
    """
    if "--" not in text or _in_a_command():
        return text
    parts = text.split("`")
    parts[::2] = [_OPTION.sub(_argument, part) for part in parts[::2]]
    return "`".join(parts)


def _argument(option: re.Match[str]) -> str:
    name, value = option.groups()
    if name in _OF_SLURM:
        return option[0]
    argument = _OTHER_NAMES.get(name, name.replace("-", "_"))
    if value is None:
        return argument
    bare = value.isalpha() or value.isdecimal()
    return f"{argument}={value}" if bare else f'{argument}="{value}"'


def _in_a_command() -> bool:
    """Whether somebody typed a command: then click runs, which Python alone never imports."""
    click = sys.modules.get("click")
    return click is not None and click.get_current_context(silent=True) is not None


def short(text: str) -> str:
    """What stands in a message: on one line, a long one by its beginning."""
    line = " ".join(text.split())
    return line if len(line) <= 80 else f"{line[:77]}..."


class WattlineError(Exception):
    """Base of every error that the package raises on purpose.

    >>> import wattline as wl
    >>> try:
    ...     wl.simulate("nowhere.swf")
    ... except wl.WattlineError as error:
    ...     print(error)
    nowhere.swf: there is no such file
    """


class WattlineWarning(UserWarning):
    """What must be known of an answer: cleaned, refused or assumed, or without effect.

    >>> import wattline as wl
    >>> import warnings
    >>> trace = wl.generate("lublin", jobs=2, nodes=4)
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always", wl.WattlineWarning)
    ...     run = wl.simulate(trace, machine=wl.Machine(nodes=4))
    >>> str(said[0].message).split(":")[0]
    'node powers are assumed'
    """


def warn(lines: Iterable[str]) -> None:
    """Warn of each line, where the code of whoever called the package stands.

    Python shows the same from one line of code only once.
    """
    level = _level_outside()
    for line in lines:
        warnings.warn(in_callers_terms(line), WattlineWarning, stacklevel=level)


def _level_outside() -> int:
    """How many frames above `warn` the package was called from: one function may call another."""
    frame, level = sys._getframe(2), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    return level


class InputError(WattlineError):
    """A mistake in what the user gave: the message names it and says what would be right.

    The command line prints the message on one line and exits with status 2.

    >>> import wattline as wl
    >>> try:
    ...     wl.Machine(nodes=0)
    ... except wl.InputError as error:
    ...     print(error)
    Machine: nodes: must be at least 1 and at most 20,000,000 (it is 0)
    """

    def __init__(self, message: str) -> None:
        super().__init__(in_callers_terms(message))


class PolicyError(WattlineError):
    """A policy asked for something that cannot be: it overcommits, or names an unknown job.

    >>> import wattline as wl
    >>> class Wrong:
    ...     def decide(self, view):
    ...         return [wl.Start(99)]
    >>> trace = wl.generate("lublin", jobs=2, nodes=4)
    >>> try:
    ...     wl.simulate(trace, machine=wl.Machine(nodes=4), policy=Wrong())
    ... except wl.PolicyError as error:
    ...     print(error)
    the policy started job 99, which is not waiting
    """
