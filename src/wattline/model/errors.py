"""What can go wrong, in two kinds: the user's mistake, and a failure of ours. And warnings."""

from __future__ import annotations

import warnings
from collections.abc import Iterable


class WattlineError(Exception):
    """Base of every error that the package raises on purpose."""


class WattlineWarning(UserWarning):
    """What must be known of an answer: cleaned, refused or assumed, or without effect."""


def warn(lines: Iterable[str], *, stacklevel: int = 3) -> None:
    """Warn of each line, where the caller's caller stands.

    Python shows the same from one line of code only once.
    """
    for line in lines:
        warnings.warn(line, WattlineWarning, stacklevel=stacklevel)


class InputError(WattlineError):
    """A mistake in what the user gave: the message names it and says what would be right.

    The command line prints the message on one line and exits with status 2.
    """


class PolicyError(WattlineError):
    """A policy asked for something that cannot be: it overcommits, or names an unknown job."""
