"""Scenarios of contracts for tests, from the short names of their fields."""

from __future__ import annotations

import tomllib

import tomli_w

from wattline.demand_response.reading import with_given


def contract_text(short: str) -> str:
    """The scenario file of fields that are written flat, under their short names.

    Without a warm-up, and planned on its own hour, where nothing else is said: that is quick.
    """
    fields = {"warmup": "0s", "forecast": 0} | tomllib.loads(short)
    return tomli_w.dumps(with_given({}, fields))
