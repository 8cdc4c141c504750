"""Simulating from Python: objects, names, or the fields of a scenario file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from wattline.analysis.result import Result
from wattline.model.errors import warn
from wattline.model.machine import Machine as RunMachine
from wattline.policies.view import Policy
from wattline.scenario.in_python import PolicyChoice, Source, asked
from wattline.scenario.model import CapPlan
from wattline.scenario.objects import Machine

Cap = float | str | Path | Iterable[Mapping[str, float]] | CapPlan
"""Watts, `"1.4MW"`, per cent (`"70%"`, `"70%peak"`, `"70%p99"`), a file, or steps."""


def simulate(
    scenario: Source | None = None,
    *,
    trace: Source | None = None,
    machine: Machine | RunMachine | None = None,
    order: PolicyChoice | None = None,
    backfill: PolicyChoice | None = None,
    power: PolicyChoice | None = None,
    configure: PolicyChoice | None = None,
    placement: PolicyChoice | None = None,
    cap: Cap | None = None,
    watch_cap: Cap | None = None,
    policy: Policy | None = None,
    journal: str | Path | None = None,
    allow_code: bool = False,
    progress: Callable[[float], None] | None = None,
    **fields: Any,
) -> Result:
    """Simulate jobs on a machine under policies.

    First comes a scenario (a file, `bundled:NAME`, a `Scenario`) or the jobs: a log, a `Trace`, a
    `JobTable`, a table of pandas or Arrow. Along each axis a policy is chosen by its name, as an
    object with its parameters, or as a `Declaration`; `cap` is kept by the power policy,
    `watch_cap` only measured. `policy` is an object with `decide(view)`, in place of all axes.
    `journal` is a file for every event and decision, which `replay` asks again. Further fields are
    those of a scenario file, with `__` for the dot: `policy__overrun="kill"`.

    What was cleaned, refused or assumed, or had no effect, is a `WattlineWarning` and stands in
    `run.remarks`; `run.assumed` has what was assumed alone.

    The file that you name may run code (`policy.python`, or an axis at `module:NAME`); fields,
    which may come from elsewhere, may do so with `allow_code`.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=50, nodes=100)
    >>> machine = wl.Machine(nodes=100, node_idle_w=90, node_active_w=300)
    >>> free = wl.simulate(trace, machine=machine)
    >>> run = wl.simulate(trace, machine=machine, power=wl.Dvfs(cap="70%peak"), order="sjf")
    >>> round(run.power_w_peak / free.power_w_peak, 2) <= 0.7
    True
    """
    policies = {"order": order, "backfill": backfill, "power": power, "configure": configure,
                "placement": placement}
    found = asked(scenario, trace=trace, machine=machine, policies=policies, cap=cap,
                  watch_cap=watch_cap, policy=policy, allow_code=allow_code, fields=fields)
    if journal is None:
        run = found.plan().run(progress)
    else:
        from wattline.scenario.journals import run_with_journal

        run = run_with_journal(found.plan(), journal, progress)
    warn(run.remarks)
    return run
