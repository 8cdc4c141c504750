"""The contract for a choice that scenarios name, along whichever axis: subclass `ChoiceContract`.

    class TestSmallest(ChoiceContract):
        fields = {"policy.order": {"name": "smallest", "weight": 0.3}}

It is made as `wattline simulate` makes it, with all that its axis brings: a cap, nodes by name, a
network, tables of configurations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from wattline.model.jobs import JobTable
from wattline.model.run import Run
from wattline.scenario.build import plan
from wattline.scenario.load import changed, validate
from wattline.testing.policy_contract import PolicyContract, Ready
from wattline.traces import Trace


class ChoiceContract(PolicyContract):
    """Set `fields`; what else a scenario needs goes there too."""

    fields: ClassVar[Mapping[str, Any]] = {}
    """Of the scenario, by where they stand: `{"policy.power": "block", "power.cap": "2kW"}`."""
    seeds: tuple[int, ...] = (1, 2)
    jobs = 16

    def make_policy(self) -> Any:
        """As the scenario makes it for the first workload."""
        return self.ready(next(self.workloads())).policy

    def machine_fields(self) -> Mapping[str, Any]:
        """The machine, where `fields` says nothing of it."""
        return {"machine.nodes": self.units, "machine.node_idle_w": 90.0,
                "machine.node_active_w": 300.0}

    def logged(self, jobs: JobTable) -> dict[str, Any]:
        """Further columns of the log that the choice looks at."""
        return {}

    def ready(self, jobs: JobTable) -> Ready:
        given = {"name": "contract", "trace": {"file": "made"}, "policy": {"overrun": "kill"}}
        scenario = validate(changed(given, {**self.machine_fields(), **self.fields}))
        made = plan(scenario, Trace(jobs, source="made", logged=self.logged(jobs)))
        return Ready(made.jobs, made.machine, made.policy, made.rules)

    def left_over(self, run: Run) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which jobs neither ran nor were refused at their submission; some have to run."""
        assert run.ran.any(), "no job ran"
        return np.asarray(~run.ran & ~run.refused)
