"""Simulating from Python, with the same fields as a scenario file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from wattline.model.run import Run
from wattline.policies.view import Policy
from wattline.scenario.build import plan
from wattline.scenario.load import changed, load, validate
from wattline.scenario.python_policy import code_of, names_code
from wattline.traces import Trace


def simulate(
    scenario: str | Path | None = None,
    *,
    trace: Trace | str | Path | None = None,
    policy: Policy | None = None,
    allow_code: bool = False,
    progress: Callable[[float], None] | None = None,
    **fields: Any,
) -> Run:
    """Simulate a scenario file, or a trace on a machine given by fields.

    Fields are those of the scenario file, with `__` for the dot: `machine__nodes=100`,
    `policy__order="wfp"`, `power__cap=0.7`. `policy` is an object with `decide(view)`. The file
    that you name may run code (`policy.python`, or an axis at `module:NAME`); fields, which may
    come from elsewhere, may do so with `allow_code`.

        run = simulate(trace="KTH.swf.gz", machine__nodes=100, policy__backfill="conservative")
    """
    changes = {name.replace("__", "."): value for name, value in fields.items()}
    given = trace if isinstance(trace, Trace) else None
    if trace is not None:
        # A trace that is there already stands under its source's name in the scenario.
        source = given.source or "trace" if given is not None else str(trace)
        changes = {"trace": {"file": source}} | changes
    if scenario is not None:
        loaded = load(scenario, changes)
    else:
        loaded = validate(changed({"name": "run"}, changes), "simulate()")
    named = scenario is not None and not any(
        names_code(changes, field) for field in code_of(loaded.policy))
    return plan(loaded, given, policy, allow_code=allow_code or named).run(progress)
