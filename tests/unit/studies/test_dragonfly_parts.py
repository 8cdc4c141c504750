"""Parts of the dragonfly study: what is run, and what is said of it."""

from itertools import product

import numpy as np
import pytest
from tests.support.printed import columns

from wattline.cli.study_dragonfly import _print
from wattline.model.errors import InputError
from wattline.model.machine import NodeClass
from wattline.network.packets import RULES, Rule
from wattline.studies.dragonfly import compare as comparing
from wattline.studies.dragonfly.compare import POLICIES
from wattline.studies.dragonfly.figures import summary
from wattline.studies.dragonfly.rules import variants
from wattline.studies.dragonfly.study import comparisons, plan_of, run_study


@pytest.fixture
def made_up(monkeypatch):
    """Level-Spread takes a second, every other policy two for small jobs and three for large."""
    def run(settings, chunk, run):
        times = np.tile([2.0, 3.0], (len(chunk), len(POLICIES), 1))
        times[:, 0] = 1.0
        return times, times[..., 0] / 2, times[..., 0]

    monkeypatch.setattr(comparing, "run_chunk", run)


def test_every_rule_differs_from_another_in_one_thing():
    rules = [settings.rule for settings in variants(1) if settings.routing == "adaptive"]
    assert set(rules) == {Rule(*way) for way in product((1.0, 2.0), (True, False), (True, False))}
    assert [settings.rule for settings in variants(1) if settings.routing == "ugal"] == list(
        RULES.values())


def test_a_part_runs_and_prints_alone(made_up, capsys):
    found = summary(run_study(plan_of("random", quick=True, workloads=3, packets=2, workers=1)))
    assert found["packets_in_steps"]["strictly_better"] == 1.0
    assert found["packets_in_steps"]["jokanovic_code"]["mean_reduction"] == pytest.approx(
        1 - (1 / 2 + 1 / 3) / 2)
    assert not {"homogeneous", "congestor", "rules"} & set(found)
    _print(found)
    said = capsys.readouterr().out
    # Of 2 s and of 3 s 1 s is left: cuts of 1/2 and of 2/3.
    rows = columns(said, "Level-Spread against", "both better", "both worse", "only small",
                   "only large", "tied", "mean cut", "best cut")
    for way in ("packets in steps, 2 workloads x 2", "packets in steps under ugal, one run"):
        assert (f"{way}: jokanovic's code", "1", "0", "0", "0", "0", "0.5833", "0.6667") in rows
    # Half of the time of a small job is waited, at the power of a busy node.
    lost = [f"{waited_s * 1e6 * NodeClass().power_w_active:,.0f}" for waited_s in (0.5, 1.0)]
    placed = columns(said, "placement", "small jobs", "large jobs", "J lost / million exchanges",
                     "share lost")
    assert (placed[0], placed[-1][1:]) == (("level-spread", "1", "1", lost[0], "0.5"),
                                           ("2", "3", lost[1], "0.5"))


def test_the_rules_are_a_table(made_up, capsys):
    found = summary(run_study(plan_of("rules", packets=2, workers=1)))
    assert len(found["rules"]["rows"]) == 10
    assert found["rules"]["rows"][0]["large_jobs_of_jokanovic"] == pytest.approx(3.0)
    _print(found)
    assert columns(capsys.readouterr().out, "threshold", "queue", "x hops", "inside groups",
                   "baselines", "worse", "jokanovic", "worse", "its code", "worse",
                   "its large jobs")[:2] == [
        ("1", "one channel", "no", "yes", "1", "0", "1", "0", "1", "0", "3"),
        ("1", "one channel", "yes", "yes", "1", "0", "1", "0", "1", "0", "3")]


def test_packets_in_steps_run_as_often_as_flows():
    asked = comparisons(plan_of("random", repeats=10, packets=1000))
    assert asked["steps"][0].repeats == 10
    assert asked["steps"][0].steps
    assert asked["steps"][1] == 1000
    assert asked["large_first_steps"][0].large_first
    by_ugal, workloads = asked["ugal_steps"]
    assert (by_ugal.routing, by_ugal.steps, by_ugal.repeats, workloads) == ("ugal", True, 1, 1000)


def test_an_unknown_part_is_refused():
    with pytest.raises(InputError, match="no part 'nedd'; there are all, random"):
        plan_of("nedd")
