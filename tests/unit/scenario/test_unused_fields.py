"""Settings that change nothing are said, and those that do are not."""

import pytest

import wattline as wl
from wattline.model.errors import InputError
from wattline.scenario.build import plan
from wattline.scenario.load import validate
from wattline.scenario.unused import MATTERS, unused

LOG = {"file": "examples/tiny.swf"}
DRAWN = {"generate": "lublin", "jobs": 5}


def lines(fields, **rest):
    found = {"trace": DRAWN, "machine": {"nodes": 64}, **fields, **rest}
    return [line.split(" ")[0] for line in unused(plan(validate(found)))]


@pytest.mark.parametrize(("fields", "field"), [
    ({"trace": {**LOG, "seed": 7}, "machine": {}}, "trace.seed"),
    ({"trace": {**DRAWN, "strict": True}}, "trace.strict"),
    ({"machine": {"nodes": 64, "node_idle_w": 50}, "power": {"idle_fraction": 0.5}},
     "power.idle_fraction"),
    ({"machine": {"classes": [{"count": 64}], "node_idle_w": 50}}, "machine.node_idle_w"),
    ({"power": {"alpha": 3.0}}, "power.alpha"),
    ({"policy": {"power": "block"}, "power": {"beta": 0.2, "cap": "10kW"}}, "power.beta"),
    ({"policy": {"power": "dvfs"}, "power": {"wait_slots": 3, "cap": "10kW"}}, "power.wait_slots"),
])
def test_a_field_that_nothing_reads_is_said(fields, field):
    assert lines(fields) == [field]


@pytest.mark.parametrize("fields", [
    {}, {"trace": {**DRAWN, "seed": 7}}, {"power": {"idle_fraction": 0.5}},
    {"policy": {"power": "dvfs"}, "power": {"alpha": 3.0, "latency_s": 1.0, "cap": "10kW"}},
    {"policy": {"power": "wait"}, "power": {"wait_slots": 3, "cap": "10kW"}},
    {"policy": {"power": "dvfs"}, "power": {"alpha": 3.0, "cap": "none"}},
])
def test_a_field_that_is_read_is_not(fields):
    assert lines(fields) == []


def test_every_field_of_the_table_is_one_of_a_scenario():
    for field in MATTERS:
        section, name = field.split(".")
        assert name in type(getattr(validate({"trace": DRAWN}), section)).model_fields


def test_it_stands_in_the_remarks_of_the_run():
    with pytest.warns(wl.WattlineWarning, match="power.alpha has no effect"):
        run = wl.simulate(wl.generate("lublin", jobs=5, nodes=8), power__alpha=3.0,
                          machine=wl.Machine(nodes=8, node_idle_w=90, node_active_w=300))
    assert any("power.alpha has no effect" in line for line in run.remarks)


def test_a_sweep_that_changes_nothing_says_so():
    trace = wl.generate("lublin", jobs=5, nodes=8)
    machine = wl.Machine(nodes=8, node_idle_w=90, node_active_w=300)
    with pytest.warns(wl.WattlineWarning, match="all 2 runs come out alike: power.alpha"):
        found = wl.sweep(trace, machine=machine, vary={"power.alpha": [2.0, 2.5]})
    assert found.remarks[-1].endswith("power.alpha changed nothing")
    assert found.to_dict()["remarks"] == list(found.remarks)


def test_what_is_varied_cannot_be_given_too():
    with pytest.raises(InputError, match=r"order is given and policy\.order is varied"):
        wl.sweep(wl.generate("lublin", jobs=5, nodes=8), machine=wl.Machine(nodes=8), order="sjf",
                 vary={"policy.order": ["fcfs", "sjf"]})


@pytest.mark.parametrize(("asked", "said"), [(11, []), (12, []), (5_000, [
    "trace.jobs is 5,000, and the log has 12 jobs; all are taken"])])
def test_more_jobs_than_the_log_has_are_said(asked, said):
    run = wl.simulate("examples/tiny.swf", trace__jobs=asked)
    assert [line for line in run.remarks if line.startswith("trace.jobs")] == said
    assert len(run.jobs) == min(asked, 12)


def test_a_generator_makes_as_many_as_are_asked_for():
    assert not [line for line in wl.simulate(trace__generate="lublin", trace__jobs=5,
                                             machine__nodes=64).remarks if "trace.jobs" in line]
