"""A contract as a list: which of its clauses do not hold, without a test runner."""

from __future__ import annotations

from typing import Any

from wattline.model.errors import WattlineError


def broken_clauses(contract: Any) -> dict[str, str]:
    """What is wrong, by the name of the clause; empty where the contract is kept."""
    found = {}
    for name in sorted(name for name in dir(contract) if name.startswith("test_")):
        try:
            getattr(contract, name)()
        except (AssertionError, WattlineError) as error:
            found[name] = str(error) or type(error).__name__
    return found
