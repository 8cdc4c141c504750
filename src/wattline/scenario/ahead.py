"""Compiles what a scenario will need while something else is compiled and run before it.

A cap that is a percentage of the run without one takes that first, and in a comparison one scenario
comes after the other: each has policies of its own to compile, ten seconds on one core.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Mapping
from typing import Any

from wattline.engine.at_once import is_short
from wattline.engine.compiling import begin, compile_once
from wattline.engine.simulate import made_ready
from wattline.model.cap_value import cap_field
from wattline.policies.contract import Composition
from wattline.policies.setting import Chosen
from wattline.scenario.caps import free_composition, is_of_uncapped_run
from wattline.scenario.model import Scenario
from wattline.traces import Trace

RUN, PEAK = "run", "peak"


def compile_run(
    scenario: Scenario, trace: Trace | None, chosen: Mapping[str, Chosen] | None, allow_code: bool
) -> None:
    """Begin to compile the policies of a scenario in a process beside this one."""
    _begin(RUN, (scenario, trace, chosen, allow_code))


def compile_all(scenario: Scenario, allow_code: bool) -> None:
    """The same, and what runs without a cap first."""
    _begin(RUN, (scenario, None, None, allow_code))
    if is_of_uncapped_run(scenario.power.cap):
        _begin(PEAK, (scenario, None, None, allow_code))


def _begin(what: str, asked: tuple[Any, ...]) -> None:
    if asked[0].policy.python is not None or asked[0].twin is not None:
        return  # nothing of it is compiled by its policies
    try:
        sent = pickle.dumps(asked)
    except Exception:  # something of a notebook, which nobody else can import
        return
    begin("wattline.scenario.ahead", what, sent=sent)


def _compile(what: str, scenario: Scenario, trace: Trace | None,
             chosen: Mapping[str, Chosen] | None, allow_code: bool) -> None:
    from wattline.scenario.build import make_machine, plan, read_trace

    trace = trace or read_trace(scenario)
    if is_of_uncapped_run(scenario.power.cap):
        # Which cap it is makes no difference to the code, only that there is one.
        watts = cap_field(make_machine(scenario, trace).power_w_max)
        power = scenario.power.model_copy(update={"cap": watts})
        scenario = scenario.model_copy(update={"power": power})
    ready = plan(scenario, trace, chosen=chosen, allow_code=allow_code)
    policy = free_composition(ready.rules) if what == PEAK else ready.policy
    if not isinstance(policy, Composition):
        return
    parts = made_ready(ready.jobs, ready.machine, policy, ready.rules)
    if not is_short(parts):  # else it runs plain first, and is compiled then
        compile_once(parts)


if __name__ == "__main__":
    _compile(sys.argv[1], *pickle.loads(sys.stdin.buffer.read()))
