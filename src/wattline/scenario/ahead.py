"""Compiles what a scenario will need while something else is compiled and run before it.

A cap that is a part of the peak takes a run without one first, and in a comparison one scenario
comes after the other: each has policies of its own to compile, ten seconds on one core.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Mapping
from typing import Any

from wattline.engine.at_once import MOST_JOBS
from wattline.engine.compiling import begin, compile_once
from wattline.engine.simulate import made_ready
from wattline.policies.contract import Composition
from wattline.policies.setting import Chosen
from wattline.scenario.caps import free_composition, is_part_of_peak
from wattline.scenario.model import Scenario
from wattline.traces import Trace

RUN, PEAK = "run", "peak"


def compile_run(
    scenario: Scenario, trace: Trace | None, chosen: Mapping[str, Chosen] | None, allow_code: bool
) -> None:
    """Begin to compile the policies of a scenario in a process beside this one."""
    _begin(RUN, (scenario, trace, chosen, allow_code))


def compile_all(scenario: Scenario, allow_code: bool) -> None:
    """The same, and what finds the peak that its cap is a part of."""
    _begin(RUN, (scenario, None, None, allow_code))
    if is_part_of_peak(scenario.power.cap):
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
    if len(trace.jobs) <= MOST_JOBS:
        return  # it runs plain first, and is compiled then
    if is_part_of_peak(scenario.power.cap):
        # Which cap it is makes no difference to the code, only that there is one.
        watts = make_machine(scenario, trace).power_w_max
        power = scenario.power.model_copy(update={"cap": f"{watts} W"})
        scenario = scenario.model_copy(update={"power": power})
    ready = plan(scenario, trace, chosen=chosen, allow_code=allow_code)
    policy = free_composition(ready.rules) if what == PEAK else ready.policy
    if isinstance(policy, Composition):
        compile_once(made_ready(ready.jobs, ready.machine, policy, ready.rules))


if __name__ == "__main__":
    _compile(sys.argv[1], *pickle.loads(sys.stdin.buffer.read()))
