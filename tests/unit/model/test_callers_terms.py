"""A sentence names options to a shell and arguments to Python."""

from __future__ import annotations

import click
import pytest

import wattline as wl
from wattline.model.errors import InputError, in_callers_terms


@pytest.mark.parametrize(("written", "to_python"), [
    ("give --node-idle-w and --node-active-w", "give node_idle_w and node_active_w"),
    ("like --wait +10%", 'like wait="+10%"'),
    ("give --nodes 128, or", "give nodes=128, or"),
    ("need --hours N: how many", "need hours=N: how many"),
    ("choose one with --power-policy (policy.power)", "choose one with power (policy.power)"),
    ("`wattline fit --store URL` puts it there", "`wattline fit --store URL` puts it there"),
    ("the output of sacct --json", "the output of sacct --json"),
    ("a -- dash", "a -- dash"),
])
def test_options_become_arguments_in_python_only(written: str, to_python: str) -> None:
    assert in_callers_terms(written) == to_python
    assert str(InputError(written)) == to_python
    with click.Context(click.Command("any")):
        assert in_callers_terms(written) == written


def test_a_run_asks_python_for_arguments() -> None:
    jobs = wl.JobTable.build(submit_s=[0.0], run_s=[10.0], procs=[1])
    with pytest.warns(wl.WattlineWarning, match="give node_idle_w and node_active_w"):
        run = wl.simulate(jobs, machine=wl.Machine(nodes=4))
    assert "--" not in " ".join(run.remarks)
    with pytest.raises(InputError, match=r"^beta is 2, must lie between 0 and 1$"):
        wl.advise.job("CG.A", beta=2.0)
