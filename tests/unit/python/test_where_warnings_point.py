"""Warnings point at the line that called the package, however deep they arise."""

import warnings

import pytest

import wattline as wl

TRACE = wl.generate("lublin", seed=1, jobs=6, nodes=8)
MACHINE = wl.Machine(nodes=8)  # without powers, which are then assumed


@pytest.mark.parametrize("call", [
    lambda: wl.simulate(TRACE, machine=MACHINE),
    lambda: wl.compare([TRACE], machine=MACHINE),
    lambda: wl.sweep(TRACE, machine=MACHINE, vary={"order": ["fcfs", "sjf"]}),
    lambda: wl.advise_cap(TRACE, wait="+50%", machine=MACHINE, policies="block", tolerance=0.2),
    lambda: wl.compare_jobs(wl.Scenario(trace={"generate": "lublin", "jobs": 5},
                                        machine={"nodes": 8}),
                            wl.Scenario(trace={"generate": "lublin", "jobs": 5},
                                        machine={"nodes": 8}, policy={"order": "sjf"})),
], ids=["simulate", "compare", "sweep", "advise_cap", "compare_jobs"])
def test_warnings_name_the_file_of_the_caller(call):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", wl.WattlineWarning)
        call()
    assert said
    assert {each.filename for each in said} == {__file__}
