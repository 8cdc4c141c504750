"""What can go wrong, in two kinds: the user's mistake, and a failure of ours."""


class WattlineError(Exception):
    """Base of every error that the package raises on purpose."""


class InputError(WattlineError):
    """A mistake in what the user gave: the message names it and says what would be right.

    The command line prints the message on one line and exits with status 2.
    """


class PolicyError(WattlineError):
    """A policy asked for something that cannot be: it overcommits, or names an unknown job."""
