"""The dragonfly study: workloads as described, results that do not hang on the workers."""

import json

import numpy as np
import pytest
from tests.support.printed import columns

from wattline.cli.study_dragonfly import _print_congestor
from wattline.network.placement import BASELINES
from wattline.network.topology import dragonfly
from wattline.studies.dragonfly import congestor
from wattline.studies.dragonfly.compare import POLICIES, WorkloadSettings, run_chunk, workload
from wattline.studies.dragonfly.comparison import PlacementComparison
from wattline.studies.dragonfly.evaluate import Bench
from wattline.studies.dragonfly.figures import energy
from wattline.studies.dragonfly.plots import points, quarters
from wattline.studies.dragonfly.tables import homogeneous_cases, reduction_range, run_case
from wattline.studies.dragonfly.workloads import heterogeneous, homogeneous, random_workload


def test_random_workloads_are_as_described():
    for number in range(300):
        made = random_workload(np.random.default_rng(number))
        small, large = made.kinds
        assert 2 <= small.nodes <= 16
        assert 17 <= large.nodes <= 136
        assert small.count >= 1
        assert large.count >= 1
        assert made.nodes <= 272
        assert made.reversed().sizes == made.sizes[::-1]


def test_equal_workloads_fill_the_machine_as_asked():
    assert homogeneous(1056, 16, "halo2d").kinds[0].count == 59
    assert homogeneous(272, 64, "halo2d").kinds[0].count == 3
    mixed = heterogeneous(272, "halo2d")
    assert [kind.count for kind in mixed.kinds] == [3, 3]
    quarter = next(c for c in homogeneous_cases((1.0,)) if c.label == "quarter")
    assert quarter.workload.nodes == 272


def test_comparison_counts():
    times = np.ones((2, len(POLICIES), 2))
    simple = POLICIES.index("simple")
    times[0, simple] = (2.0, 4.0)  # both slower: Level-Spread is strictly better
    times[1, simple] = (0.5, 0.8)  # both faster
    found = PlacementComparison(POLICIES, times, np.ones((2, len(POLICIES))),
                                np.full((2, len(POLICIES)), 4.0))
    against = found.against(["simple"])
    assert against["strictly_better"] == against["strictly_worse"] == 0.5
    assert against["mean_reduction"] == pytest.approx(np.mean([0.5, 0.75, -1.0, -0.25]))
    assert against["max_reduction"] == 0.75
    assert found.against(["slurm"])["strictly_better"] == 0.0
    cloud = points(found, ["simple"])
    assert quarters(cloud) == {"both slower": 0.5, "small slower": 0, "large slower": 0,
                               "both faster": 0.5}
    lost = energy(found)["simple"]
    assert lost["lost_share"] == 0.25
    assert lost["lost_j_per_million_exchanges"] == pytest.approx(300e6)


@pytest.mark.compiled
def test_a_chunk_does_not_depend_on_the_others():
    settings = WorkloadSettings(repeats=1)
    together = run_chunk(settings, range(2))
    alone = run_chunk(settings, [1])
    for both, one in zip(together, alone, strict=True):
        np.testing.assert_array_equal(both[1], one[0])
    assert together[0].shape == (2, len(POLICIES), 2)
    assert np.all(together[0] > 0)
    assert np.all(together[1] <= together[2])


@pytest.mark.compiled
def test_equal_choices_are_evaluated_once_and_nothing_changes():
    settings = WorkloadSettings()
    work, bench, known = workload(settings, 3), Bench(dragonfly()), {}
    for policy in ("simple", "slurm", "rrn"):
        shared = bench.run(work, policy, seed=3, known=known)
        alone = bench.run(work, policy, seed=3)
        np.testing.assert_array_equal(shared.time_s, alone.time_s)
        assert shared.waited_node_s == alone.waited_node_s
    assert 2 <= len(known) <= 3


def test_large_first_is_the_same_workload():
    settings = WorkloadSettings(repeats=1)
    turned = WorkloadSettings(repeats=1, large_first=True)
    assert workload(settings, 5).sizes == workload(turned, 5).sizes[::-1]


@pytest.mark.compiled
def test_grouping_wins_for_small_jobs_and_spreading_for_large_ones():
    """The published finding, where it is strongest: global links of a quarter of the bandwidth."""
    cases = {(c.label, c.pattern): c for c in homogeneous_cases((0.25,))}
    small = run_case(cases["16-node", "all-to-all"], seed=1, repeats=1)
    large = run_case(cases["64-node", "all-to-all"], seed=1, repeats=1)
    grouping, spreading = ("simple", "slurm", "rdg"), ("rdn", "rdr", "rrn", "rrr")
    assert reduction_range([small], ("level-spread", *grouping), spreading)[0] > 0.5
    assert reduction_range([large], ("level-spread", *spreading), grouping)[0] > 0.3


def test_congestor_summary():
    runs = [dict.fromkeys(congestor.PLACEMENTS, 3.0) | {"low-traffic-router": 2.0}]
    found = congestor.summarize(runs)
    assert found.stretch["HPCG"]["random"] == 1.0
    assert found.stretch["miniMD"]["random"] == pytest.approx(1 + 0.832 * 2)
    assert found.better["random"] == pytest.approx(1 - 1.832 / 2.664)
    json.dumps(found.stretch)


@pytest.mark.compiled
def test_level_spread_beats_the_baselines_more_often_than_not():
    found = PlacementComparison(POLICIES, *run_chunk(WorkloadSettings(repeats=1), range(6)))
    against = found.against(BASELINES)
    assert against["strictly_better"] > against["strictly_worse"]
    assert against["mean_reduction"] > 0


def test_few_runs_of_the_congestor_are_said_to_say_little(capsys):
    result = {"stretch": {"miniMD": {"random": 5.0}}, "runs": 5, "minimd_better": {"random": 0.3}}
    found = {"congestor": {**result, "one_to_all": result},
             "published": {"congestor_minimd_better": {"random": 0.4}}}
    _print_congestor(found)
    said = capsys.readouterr().out
    assert "say little" in said
    assert "one to all" in said
    assert columns(said, "application", "random") == [("miniMD", "5")]
    assert columns(said, "miniMD: low-traffic-router better than", "ours", "published") == [
        ("random", "0.3", "0.4")]
    found["congestor"]["runs"] = 10
    _print_congestor(found)
    assert "say little" not in capsys.readouterr().out
