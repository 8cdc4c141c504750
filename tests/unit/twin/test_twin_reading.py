"""A site's files as machine, rules and requests: nothing is dropped without a word."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.support.twin_sites import CONF, site, submit

from wattline.model.errors import InputError
from wattline.scenario.twin.asked import NEVER_ENDS_S
from wattline.shared_nodes.machine import NO_LIMIT
from wattline.shared_nodes.requests import AFTEROK


def test_the_machine_has_what_slurm_conf_says(tmp_path: Path) -> None:
    found = site(tmp_path, submit("-n 1")).machine
    assert found.nodes.names == ("g1", "n1", "n2", "n3", "n4")  # by name, as slurmctld has them
    assert found.nodes.cpus.tolist() == [8] * 5
    assert found.nodes.memory_mb.tolist() == [32000] + [16000] * 4
    assert found.nodes.gres_kinds == (("gpu", "a100"),)
    assert found.nodes.gres[:, 0].tolist() == [2, 0, 0, 0, 0]
    parts = found.partitions
    assert parts.names == ("batch", "gpu")
    assert parts.default == 0
    assert parts.tier.tolist() == [1, 3]
    assert parts.max_time_s.tolist() == [7200, NO_LIMIT]
    assert parts.default_time_s.tolist() == [600, -1]
    assert parts.default_memory_per_cpu_mb.tolist() == [1000, 0]
    assert found.qos.names == ("normal", "high")
    assert found.qos.limits.user_tres[1, 0] == 8
    assert found.associations.accounts == ("root", "phys")
    assert found.associations.shares.tolist() == [1, 10, 1, 1]  # the last is of the user root


def test_every_key_falls_into_a_list(tmp_path: Path) -> None:
    lists = site(tmp_path, submit("-n 1")).lists
    assert any(line.startswith("PriorityWeightAge=1000") for line in lists.understood)
    assert any("bf_resolution=60 s" in line for line in lists.assumed)
    assert any("slurm.conf:6: Prolog=/bin/true: " in line for line in lists.not_modelled)
    assert any("defer: " in line for line in lists.not_modelled)
    assert any(line.endswith("slurm.conf:7: Wibble=7") for line in lists.unknown)
    assert any("nonsense=3" in line for line in lists.unknown)


def test_two_partitions_of_one_name_name_both_lines(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"slurm.conf:13: partition 'gpu' .*slurm.conf:12"):
        site(tmp_path, submit("-n 1"), CONF + "PartitionName=gpu Nodes=n1\n")


def test_two_default_partitions_are_a_contradiction(tmp_path: Path) -> None:
    found = site(tmp_path, submit("-n 1"), CONF + "PartitionName=more Nodes=n1 Default=YES\n")
    (line,) = found.lists.contradictions
    assert "slurm.conf:11" in line
    assert "slurm.conf:13" in line
    assert found.machine.partitions.default == 2


def test_another_count_in_gres_conf_names_both_lines(tmp_path: Path) -> None:
    gres = tmp_path / "gres.conf"
    gres.write_text("AutoDetect=off\nNodeName=g1 Name=gpu Type=a100 Count=1\n")
    found = site(tmp_path, submit("-n 1"), gres=str(gres))
    (line,) = found.lists.contradictions
    assert "slurm.conf:10 has 2 gpu on g1" in line
    assert "gres.conf:2 has 1" in line
    assert found.machine.nodes.gres[0, 0] == 2


def test_options_are_read_short_and_long(tmp_path: Path) -> None:
    text = submit("-N 2 -n 12 -t 00:07:30 --mem=2G -q high -p batch,gpu --exclusive") + submit(
        "--nodes=1-3 --ntasks=6 --ntasks-per-node 3 -c2 --mem-per-cpu 500 --gres=gpu:2 "
        "-C ib&fast --nice=5 --begin=now+60 -d afterok:1 --no-requeue -L x:2", 10, -1) + submit(
        "-G a100:1 -w n1 -x n[2-3] -H", 20, 0)
    conf = CONF + "Licenses=x:4\n"
    made = site(tmp_path, text, conf).made
    asked = made.requests
    assert asked.min_nodes.tolist() == [2, 1, 1]  # as many as -w names
    assert asked.max_nodes.tolist() == [2, 3, 1]
    assert asked.tasks.tolist() == [12, 6, -1]
    assert asked.cpus_per_task.tolist() == [-1, 2, -1]
    assert asked.limit_s.tolist() == [480.0, -1.0, -1.0]  # whole minutes
    assert asked.memory_per_node_mb.tolist() == [2048, -1, -1]
    assert asked.memory_per_cpu_mb.tolist() == [-1, 500, -1]
    assert asked.exclusive.tolist() == [True, False, False]
    assert asked.partitions.tolist()[0] == [True, True]
    assert asked.begin_s.tolist() == [0.0, 70.0, 0.0]
    assert asked.dependencies is not None
    assert asked.dependencies.job.tolist() == [1]
    assert asked.dependencies.awaited.tolist() == [0]
    assert asked.dependencies.kind.tolist() == [AFTEROK]
    assert asked.nice.tolist() == [0, 5, 0]
    assert asked.run_s.tolist() == [60.0, NEVER_ENDS_S, 0.0]
    assert asked.licences[:, 0].tolist() == [0, 2, 0]
    assert asked.feature_masks[asked.features[1]].tolist() == [False] + [True] * 4
    assert asked.node_masks[asked.required[2]].tolist() == [False, True, False, False, False]
    assert asked.node_masks[asked.excluded[2]].tolist() == [False, False, True, True, False]
    assert asked.held.tolist() == [False, False, True]
    assert asked.requeue.tolist() == [True, False, True]
    assert asked.qos.tolist() == [1, 0, 0]
    assert asked.gres_choices == (("gpu", ""), ("gpu", "a100"))
    assert "gpu" in made.unfit[0]  # two GPUs, and the partition of its own has none


@pytest.mark.parametrize(("options", "why"), [
    ("-p nowhere -n 1", "unknown partition 'nowhere'"),
    ("--mem=99G -n 1", "more memory than any node has (101,376 MB, the most is 16,000 MB)"),
    ("-N 9 -n 9", "more nodes than its partitions have (9 of 4)"),
    ("-C purple -n 1", "no node has the features 'purple'"),
    ("-C fast*2 -n 1", "counts of nodes (*) are not modelled"),
    ("-q odd -n 1", "unknown QOS 'odd'"),
    ("-A nobody -n 1", "unknown account 'nobody' of user 'ada'"),
    ("-p gpu --gres=gpu:h100:1", "more gpu:h100 on a node than any has (1 of 0)"),
    ("-n 1 -L none:1", "unknown licence 'none'"),
])
def test_a_job_that_does_not_fit_is_said_and_kept(tmp_path: Path, options: str, why: str) -> None:
    found = site(tmp_path, submit("-n 1") + submit(options, 5))
    (line,) = found.made.unfit
    assert line.startswith("1 job: ")
    assert why in line
    assert "(2)" in line  # which one
    assert len(found.made.requests.job_ids) == 2
    assert found.made.requests.refused is not None
    assert (found.made.requests.refused > 0).tolist() == [False, True]


def test_counts_and_the_first_ids_are_said_of_many(tmp_path: Path) -> None:
    found = site(tmp_path, "".join(submit("-p nowhere -n 1", at) for at in range(8)))
    assert found.made.unfit == ("8 jobs: unknown partition 'nowhere' (1, 2, 3, 4, 5, ...)",)


@pytest.mark.parametrize(("text", "nodes"), [
    ("fast", "01111"), ("ib&fast", "01111"), ("fast|ib", "11111"), ("[fast|ib]", "11111"),
    ("!fast", "00000"), ("(fast|ib)&ib", "11111"), ("ib,fast", "01111")])
def test_features_are_worked_out_from_left_to_right(tmp_path: Path, text: str, nodes: str) -> None:
    requests = site(tmp_path, submit(f"-n 1 -p batch,gpu -C '{text}'")).made.requests
    assert requests.feature_masks[0].tolist() == [each == "1" for each in nodes]


@pytest.mark.parametrize("text", ["a&", "&a", "(a", "a)", "a b"])
def test_broken_constraints_say_so(tmp_path: Path, text: str) -> None:
    (line,) = site(tmp_path, submit(f"-n 1 -C '{text}'")).made.unfit
    assert "constraint '" in line


def test_without_associations_those_of_the_log_have_a_share_each(tmp_path: Path) -> None:
    found = site(tmp_path, submit("-n 1"), accounts=None)
    assert found.machine.associations.users == ("ada", "root")
    assert any("no associations" in line for line in found.lists.assumed)


def test_nodes_like_others_can_be_added(tmp_path: Path) -> None:
    found = site(tmp_path, submit("-n 1"), add_nodes={"like": "n2", "count": 3}).machine
    assert len(found.nodes.names) == 8
    assert found.partitions.nodes.sum(axis=1).tolist() == [7, 1]
    with pytest.raises(InputError, match="no node 'zz'"):
        site(tmp_path, submit("-n 1"), add_nodes={"like": "zz", "count": 3})


def test_settings_can_be_tried(tmp_path: Path) -> None:
    found = site(tmp_path, submit("-n 1"), settings={
        "PriorityWeightAge": 7, "SchedulerParameters": "bf_interval=5"})
    assert found.rules.priority.age == 7
    assert found.rules.bf_interval_s == 5.0


def test_nodes_that_were_down_are_outages(tmp_path: Path) -> None:
    down = tmp_path / "down"
    down.write_text("Cluster|Node Name|Time Start|Time End|State|Reason|User\n"
                    "small||2025-03-04T08:00:00|Unknown|||\n"
                    "small|n[1-2]|100|200|DOWN*|disk|root\n"
                    "small|n3|60|Unknown|DRAINED|fan|root\n"
                    "small|old1|60|Unknown|DOWN|gone|root\n")
    found = site(tmp_path, submit("-n 1"), down=str(down))
    assert found.outages is not None
    assert found.outages.node.tolist() == [3, 1, 2]
    assert found.outages.start_s.tolist() == [60.0, 100.0, 100.0]
    assert found.outages.end_s.tolist() == [np.inf, 200.0, 200.0]
    assert found.outages.drain.tolist() == [True, False, False]
    assert any("old1" in line for line in found.lists.contradictions)


@pytest.mark.parametrize(("conf", "message"), [
    ("", "no NodeName"), ("hello world\n", "is not Key=Value"), ("ClusterName=a\n", "no NodeName"),
    ("NodeName=n1\n", "no PartitionName"),
    ("NodeName=n1 CPUs=999999999999\nPartitionName=a Nodes=n1\n", "must be from 1 to 1,000,000"),
    ("NodeName=n1 CPUs=4\nPartitionName=a Nodes=n1\nPriorityWeightAge=1e99\n", "must be a number"),
    ("NodeName=n1 CPUs=4\nPartitionName=a Nodes=n1\nSelectType=select/odd\n", "must be select/"),
    ("NodeName=n1 CPUs=4\nPartitionName=a Nodes=n1 MaxTime=soon\n", "no time of Slurm"),
    ("NodeName=n1 CPUs=4\nPartitionName=a Nodes=n1\nSchedulerParameters=bf_interval=x\n",
     "must be a number"),
])
def test_what_is_no_slurm_conf_is_one_line(tmp_path: Path, conf: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        site(tmp_path, submit("-n 1"), conf)


@pytest.mark.parametrize(("log", "message"), [
    ("", "has no submission"), ("-dt 0 -e submit_batch_job -n 1\n", "has no '|'"),
    ("rubbish\n", "a line is like"), (submit("-n"), "must be a whole number"),
    (submit("-n 1", at=1e30), "must be"), (submit("-n x"), "must be a whole number"),
    (submit("-n 1 -t never"), "no time of Slurm"), (submit("-n 1 --mem=lots"), "must be like"),
])
def test_what_are_no_events_is_one_line(tmp_path: Path, log: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        site(tmp_path, log)
