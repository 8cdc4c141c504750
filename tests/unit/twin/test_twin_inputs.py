"""Odd requests of jobs and files: taken as Slurm takes it, and said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.twin_sites import ACCOUNTS, CONF, sacct, site, submit

import wattline as wl
from wattline.model.errors import InputError
from wattline.scenario.twin.site import Site
from wattline.shared_nodes.outcome import RAN, REFUSED
from wattline.shared_nodes.rules import BUILTIN
from wattline.shared_nodes.simulate import simulate_shared
from wattline.site.down import DOWN, DRAINS, SLEEPS, Down

TWO_GPU_NODES = CONF.replace("NodeName=g1", "NodeName=g[1-2]").replace("Nodes=g1", "Nodes=g[1-2]")
PLAIN = CONF.replace("SchedulerParameters=bf_interval=30,bf_window=60,defer,nonsense=3\n", "")
COLUMNS = ("JobID", "User", "Account", "Partition", "QOS", "Submit", "Eligible", "Start", "End",
           "Timelimit", "ReqTRES", "AllocTRES", "NNodes", "NodeList", "State", "SubmitLine")


def _row(job: str = "5", **cells: str) -> str:
    usual = {
        "JobID": job, "User": "ada", "Account": "phys", "Partition": "batch", "QOS": "normal",
        "Submit": "2025-03-04T08:00:00", "Eligible": "2025-03-04T08:00:00",
        "Start": "2025-03-04T08:00:10", "End": "2025-03-04T08:10:10", "Timelimit": "00:30:00",
        "ReqTRES": "cpu=4,mem=4000M,node=1", "AllocTRES": "cpu=4,mem=4000M,node=1", "NNodes": "1",
        "NodeList": "n1", "State": "COMPLETED", "SubmitLine": ""} | cells
    return "|".join(usual[name] for name in COLUMNS) + "\n"


def _log(folder: Path, *rows: str, conf: str = CONF) -> Site:
    return site(folder, "|".join(COLUMNS) + "\n" + "".join(rows), conf, kind="sacct")


def _run(found: Site) -> Any:
    return simulate_shared(found.machine, found.made.requests, found.rules)


def _nodes(found: Site, run: Any, job: int = 0) -> list[str]:
    rows = run.allocation_node[run.allocation_job == job]
    return sorted(found.machine.nodes.names[row] for row in rows.tolist())


# Nodes that jobs name.


def test_a_list_of_nodes_without_a_number_asks_for_all_of_them(tmp_path: Path) -> None:
    found = site(tmp_path, submit("-w n[2-3]") + submit("-w n4 -n 12", 1))
    run = _run(found)
    assert run.state.tolist() == [RAN, RAN]
    assert _nodes(found, run) == ["n2", "n3"]
    assert "n4" in _nodes(found, run, 1)
    assert len(_nodes(found, run, 1)) == 2  # 12 CPUs are more than one node has


def test_more_named_nodes_than_asked_for_are_refused(tmp_path: Path) -> None:
    text = submit("-N 1 -n 8 -w n3") + submit("-N 1 -n 8 -w n[3-4]", 1) + submit(
        "-N 2 -n 5 --ntasks-per-node=2", 2)
    found = site(tmp_path, text)
    assert found.made.unfit == (
        "1 job: names more nodes (2) than it asks for at most (1) (2)",
        "1 job: more tasks (5) than its nodes may have with 2 on each (4) (3)")
    assert _run(found).state.tolist() == [RAN, REFUSED, REFUSED]


def test_a_job_that_ran_with_fewer_nodes_than_it_names_has_some_of_them(tmp_path: Path) -> None:
    rows = sacct(tmp_path, 2)["sacct.txt"].read_text().splitlines()
    rows = [rows[0] + "|SubmitLine", rows[1] + "|sbatch -N 1 -n 8 -w n3 x",
            rows[2] + "|sbatch -N 1 -n 8 -w n[3-4] x"]
    found = site(tmp_path, "\n".join(rows) + "\n", kind="sacct")
    assert found.made.unfit == ()
    assert any(line.startswith("1 job: names more nodes than it asks for, and ran")
               for line in found.made.filled)
    assert _nodes(found, _run(found), 1) == ["n4"]


@pytest.mark.parametrize(("options", "cpus", "nodes"), [
    ("-n 3 --ntasks-per-node=2", [2, 2], 2), ("-N 2 -n 1", [1], 1), ("-n 1 -w n2,n4", [1], 1)])
def test_accounting_holds_what_sbatch_made_of_the_submit_line(
    tmp_path: Path, options: str, cpus: list[int], nodes: int
) -> None:
    rows = sacct(tmp_path, 1)["sacct.txt"].read_text().splitlines()
    ran = rows[1].replace("cpu=8,", f"cpu={sum(cpus)},").replace("node=1", f"node={nodes}")
    found = site(tmp_path, f"{rows[0]}|SubmitLine\n{ran}|sbatch {options} x\n", kind="sacct")
    assert _run(found).allocation_cpus.tolist() == cpus


def test_a_job_that_had_more_nodes_than_cpus_asked_for_keeps_them(tmp_path: Path) -> None:
    rows = sacct(tmp_path, 1)["sacct.txt"].read_text().splitlines()
    ran = rows[1].replace("cpu=8,", "cpu=1,").replace("node=1", "node=2").replace(
        "|1|n1|", "|2|n[1-2]|")
    found = site(tmp_path, f"{rows[0]}\n{ran}\n", kind="sacct")
    assert len(_nodes(found, _run(found), 0)) == 2


def test_an_unknown_node_is_said_by_job(tmp_path: Path) -> None:
    text = submit("-n 1 -w n9") + submit("-n 1 -w n9,n1", 1) + submit("-n 1 -x n8", 2) + submit(
        "-n 1 -w /home/ada/nodes", 3) + submit("-n 1", 4)
    found = site(tmp_path, text)
    assert found.made.unfit == (
        "2 jobs: asks for nodes that slurm.conf does not have (n9) (1, 2)",
        "1 job: excludes nodes that slurm.conf does not have (n8) (3)",
        "1 job: names its nodes in a file (/home/ada/nodes), which is not read (4)")
    assert _run(found).state.tolist() == [REFUSED] * 4 + [RAN]


def test_a_job_of_a_log_may_have_excluded_nodes_that_are_gone(tmp_path: Path) -> None:
    found = _log(tmp_path, _row(SubmitLine="sbatch -x n8,n1 a.sh"))
    assert found.made.unfit == ()
    assert any("(n8): the others are excluded (5)" in line for line in found.made.filled)
    assert _nodes(found, _run(found)) != ["n1"]


def test_a_begin_time_that_never_comes_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"log:1: begin is 'now\+99999weeks', must be within"):
        site(tmp_path, submit("-n 1 --begin=now+99999weeks"))


# Devices of a whole job.


def test_gpus_of_the_job_are_spread_over_as_few_nodes_as_have_them(tmp_path: Path) -> None:
    text = submit("-p gpu --gpus=4 -n 8") + submit("-p gpu --gpus=2 -n 2", 1)
    found = site(tmp_path, text, TWO_GPU_NODES)
    assert found.made.unfit == ()
    run = _run(found)
    assert run.state.tolist() == [RAN, RAN]
    assert _nodes(found, run) == ["g1", "g2"]
    assert run.allocation_gres.sum(axis=1).tolist() == [2, 2, 2]
    assert len(_nodes(found, run, 1)) == 1


def test_more_gpus_than_all_nodes_have_are_said(tmp_path: Path) -> None:
    found = site(tmp_path, submit("-p gpu --gpus=5 -n 8"), TWO_GPU_NODES)
    assert found.made.unfit == ("1 job: more devices for the whole job than its nodes have "
                                "(5 gpu) (1)",)


# Numbers that Slurm does not take.


@pytest.mark.parametrize("word", [
    "bf_interval=0", "bf_interval=-5", "bf_interval=99999", "bf_window=0", "bf_resolution=0",
    "bf_max_job_test=0", "bf_max_job_test=99999999", "bf_max_time=0", "sched_interval=-7",
    "batch_sched_delay=-1", "default_queue_depth=-1", "bf_max_job_user=-1",
    "bf_min_prio_reserve=0", "bf_min_age_reserve=-3"])
def test_a_number_of_the_scheduler_out_of_range_is_its_default_and_said(
    tmp_path: Path, word: str,
) -> None:
    usual = site(tmp_path, submit("-n 1"), PLAIN).rules
    found = site(tmp_path, submit("-n 1"), f"{PLAIN}SchedulerParameters={word}\n")
    assert found.rules == usual
    (line,) = found.lists.contradictions
    assert f"slurm.conf:12: SchedulerParameters {word} is not from" in line


def test_intervals_of_0_and_less_run(tmp_path: Path) -> None:
    jobs = submit("-n 8 -N 4") * 2
    for word in ("bf_interval=0", "sched_interval=0", "bf_interval=-1"):
        found = site(tmp_path, jobs, f"{PLAIN}SchedulerParameters={word}\n")
        assert _run(found).state.tolist() == [RAN, RAN]
        assert (found.rules.scheduler == BUILTIN) == (word == "bf_interval=-1")


@pytest.mark.parametrize("line", [
    "SchedulerParameters=sched_interval=-1", "PriorityCalcPeriod=0", "FairShareDampeningFactor=0",
    "PriorityWeightAge=-1", "MaxJobCount=-1", "KillWait=-1", "ResumeTimeout=-7",
    "OverTimeLimit=-2", "PriorityWeightQOS=1e99", "PriorityMaxAge=-5", "SuspendTime=-9"])
def test_a_number_that_cannot_be_is_one_line_with_its_key(tmp_path: Path, line: str) -> None:
    name, _, value = line.rpartition("=")
    conf = PLAIN.replace("PriorityWeightAge=1000\n", "") + line + "\n"
    with pytest.raises(InputError) as caught:
        site(tmp_path, submit("-n 1"), conf)
    said = str(caught.value)
    assert "slurm.conf:" in said
    assert name.rpartition("=")[2] in said
    assert value in said


# Records of a log.


def test_a_record_twice_counts_once(tmp_path: Path) -> None:
    running = _row(End="Unknown", State="RUNNING")
    found = _log(tmp_path, running, _row("6"), _row())
    assert found.made.requests.job_ids == ("5", "6")
    assert found.made.requests.run_s.tolist() == [600.0, 600.0]  # the last record counts
    assert any("1 job: the same run stands in the log again" in line
               for line in found.log.left_out)


def test_runs_of_a_requeued_job_are_told_apart_and_said(tmp_path: Path) -> None:
    again = _row(Submit="2025-03-04T08:02:00", Eligible="2025-03-04T08:02:00",
                 Start="2025-03-04T08:05:00")
    found = _log(tmp_path, _row(State="NODE_FAIL", End="2025-03-04T08:02:00"), again)
    assert found.made.requests.job_ids == ("5/1", "5")
    assert found.made.requests.run_s.tolist() == [110.0, 310.0]
    assert any("1 job: ran more than once" in line for line in found.log.filled)


def test_a_resized_job_is_one(tmp_path: Path) -> None:
    found = _log(tmp_path, _row(State="RESIZING", End="2025-03-04T08:02:10"),
                 _row(Start="2025-03-04T08:02:10", NNodes="2"))
    assert found.made.requests.job_ids == ("5",)
    assert found.log.jobs[0].end_s == 610.0
    assert any("was resized" in line for line in found.log.filled)


def test_times_out_of_order_are_said(tmp_path: Path) -> None:
    found = _log(tmp_path, _row(Submit="2025-03-04T08:00:20"),
                 _row("6", End="2025-03-04T08:00:00"))
    waits = {job.job_id: job.start_s - job.submit_s for job in found.log.jobs}
    assert waits["5"] == 0.0
    assert any("started before its submission" in line and "(5)" in line
               for line in found.log.filled)
    assert any("ended before it started" in line and "(6)" in line for line in found.log.filled)


def test_options_of_a_submit_line_are_used_or_listed(tmp_path: Path) -> None:
    line = ("sbatch --reservation=maint --switches=2 -J name --gpus-per-socket=2 -d afterok:3 "
            "--array=1-9%3 -n 2 a.sh --not-an-option")
    found = _log(tmp_path, _row("5_1", SubmitLine=line))
    listed = [each.partition("option ")[2].partition(" ")[0] for each in found.log.not_modelled]
    assert listed == ["switches", "gpus-per-socket"]
    assert found.made.requests.tasks.tolist() == [2]
    assert found.made.requests.array_limit.tolist() == [3]


def test_a_submit_line_says_what_no_column_does(tmp_path: Path) -> None:
    found = _log(tmp_path, _row(Partition="", Timelimit="", QOS="",
                                SubmitLine="sbatch -p gpu -t 40 -q high a.sh"))
    asked = found.made.requests
    assert asked.partitions.tolist() == [[False, True]]
    assert asked.limit_s.tolist() == [2400.0]
    assert asked.qos.tolist() == [1]


def test_licences_of_accounting_are_kept(tmp_path: Path) -> None:
    asks = "cpu=4,license/Abaqus=2,mem=4000M,node=1"
    jobs = [_row(job, ReqTRES=asks, Start="2025-03-04T08:00:10") for job in ("5", "6")]
    found = _log(tmp_path, *jobs, conf=CONF + "Licenses=Abaqus:3\n")
    assert found.made.requests.licences.tolist() == [[2], [2]]
    run = _run(found)
    assert run.start_s.max() >= 600.0  # one after the other
    without = _log(tmp_path, *jobs)
    assert without.made.unfit == ()
    assert any("2 jobs: asks for the licence 'Abaqus'" in line
               for line in without.made.not_modelled)


# Nodes that were out, and files that contradict themselves.


@pytest.mark.parametrize(("states", "effect"), [
    (("DOWN", "DOWN*", "DOWN+DRAIN", "DOWN~", "UNK", "FUTR"), DOWN),
    (("DRAIN", "DRNG", "DRNG*", "DRAINED", "IDLE+DRAIN", "MAINT", "MAINT*", "FAIL", "FAILG",
      "RESV", "BOOT^", "IDLE@", "ALLOC", "DRAIN~"), DRAINS),
    (("POW_DN", "POWERED_DN", "IDLE~", "IDLE+POWERED_DOWN", "POWERING_UP"), SLEEPS)])
def test_a_state_of_an_event_has_its_effect(states: tuple[str, ...], effect: str) -> None:
    assert {state: Down("n1", 0.0, None, state).effect for state in states} == dict.fromkeys(
        states, effect)


def test_maintenance_lets_jobs_end_and_power_saving_is_not_out(tmp_path: Path) -> None:
    events = tmp_path / "events"
    events.write_text("NodeName|TimeStart|TimeEnd|State|Reason\n"
                      "n1|2025-03-04T08:01:00|2025-03-04T09:00:00|MAINT|kernel\n"
                      "n2|2025-03-04T08:01:00|2025-03-04T09:00:00|POW_DN|idle\n")
    log = "|".join(COLUMNS) + "\n" + _row()
    found = site(tmp_path, log, kind="sacct", down=str(events))
    assert found.outages is not None
    assert found.outages.drain.tolist() == [True]
    assert [found.machine.nodes.names[row] for row in found.outages.node] == ["n1"]
    said = [line for line in found.lists.understood if " of nodes " in line]
    assert len(said) == 2
    assert "1 span of nodes drained" in said[0]
    assert "not out" in said[1]


def test_cpus_that_sockets_do_not_make_name_both_lines(tmp_path: Path) -> None:
    conf = CONF.replace("NodeName=n[1-4]", "NodeName=n[1-4] Sockets=2 CoresPerSocket=3")
    found = site(tmp_path, submit("-n 1"), conf)
    (line,) = found.lists.contradictions
    assert "slurm.conf:8: CPUs=8 does not go with Sockets=2" in line
    assert "slurm.conf:9)" in line
    assert found.machine.nodes.cpus.tolist() == [8, 6, 6, 6, 6]


def test_a_burst_buffer_is_no_harmless_setting(tmp_path: Path) -> None:
    found = site(tmp_path, submit("-n 1"), CONF + "BurstBufferType=burst_buffer/lua\n")
    assert any(": BurstBufferType=" in line for line in found.lists.not_modelled)


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
def test_jobs_that_the_simulation_refuses_are_named(tmp_path: Path) -> None:
    texts = {"slurm.conf": CONF + "EnforcePartLimits=ALL\n", "assoc": ACCOUNTS,
             "log": submit("-n 1") + submit("-n 1 -t 3:00:00", 1) + submit("-n 1 -H", 2)}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    twin = wl.make_twin(tmp_path / "slurm.conf", assoc=tmp_path / "assoc", events=tmp_path / "log")
    found = wl.check_twin(twin, phases=1)
    assert found.unfit == (
        "1 job: refused at its submission: over the partition's time (2)",
        "1 job: waits for ever: held (3)")
    assert np.isnan(found.run.schedule.start_s[1])


def test_a_whole_number_of_a_setting_to_try_is_one(tmp_path: Path) -> None:
    """TOML's 500 is read as a float, and slurm.conf has memory in whole megabytes."""
    found = site(tmp_path, submit("-n 1 -t 10"), settings={"MaxMemPerCPU": 500, "DefMemPerNode": 9})
    assert found.machine.partitions.max_memory_per_cpu_mb.tolist() == [500, 500]


def test_submissions_without_a_run_time_are_counted_by_their_last_ids(tmp_path: Path) -> None:
    """Two lines of one number, so that lines are counted, for all remarks."""
    line = "-dt 0 -e submit_batch_job | --uid=ada -A phys"
    found = site(tmp_path, f"{line} -J a_7 -n 1 a.sh\n{line} -J b_7 -n 1 -a 1-2 --contiguous a.sh\n"
                 f"{line} -J c_9 -n 1 -sim-walltime 0 a.sh\n").log
    assert found.filled == ("3 jobs: no -sim-walltime on its line: it ends at once (1, 2_1, 2_2)",)
    assert found.counted == {"no -sim-walltime on its line: it ends at once": 3}
    assert found.not_modelled == ("1 job: nothing is done with the option contiguous (2)",)
