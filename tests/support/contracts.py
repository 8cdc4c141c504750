"""Scenarios of contracts for tests, from the short names of their fields."""

from __future__ import annotations

import tomllib

import tomli_w
from click.testing import Result

from wattline.cli.regulate import BROKEN, DECLINED
from wattline.demand_response.reading import with_given


def contract_text(short: str) -> str:
    """The scenario file of fields that are written flat, under their short names.

    Without a warm-up, and planned on its own hour, where nothing else is said: that is quick.
    """
    fields = {"warmup": "0s", "forecast": 0} | tomllib.loads(short)
    return tomli_w.dumps(with_given({}, fields))


def check_ended(result: Result) -> None:
    """Assert that a command ended by itself: a contract that fails, or none, is a status too."""
    assert result.exit_code in (0, BROKEN, DECLINED), result.output
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
