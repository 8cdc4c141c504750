"""Claims choose the class of node on a twin: from the files of a site to what is said of a run.

Nodes b1 and b2 (4 CPUs) are slow, x1 and x2 (8 CPUs) fast; idle they draw 30 W. Of the application
`sim` it is claimed that it takes 100 s and 200 W on a fast node, 400 s and 40 W on a slow one.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.support.printed import columns
from tests.support.twin_sites import submit

import wattline as wl
from wattline.cli.main import cli
from wattline.controller.sharing.parts import read_section

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")

CONF = """\
ClusterName=two
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName=b[1-2] CPUs=4 RealMemory=2000 Feature=slow Weight=1
NodeName=x[1-2] CPUs=8 RealMemory=2000 Feature=fast Weight=5
PartitionName=main Nodes=ALL Default=YES MaxTime=1-0
PartitionName=whole Nodes=ALL OverSubscribe=EXCLUSIVE
"""
CLAIMS = """\
application,node_class,threads,cap_w,time_s,energy_j
sim,fast,,,100,20000
sim,slow,,,400,16000
"""
HEADER = ("JobID|JobName|User|Account|Partition|Submit|Start|End|Timelimit|NNodes|ReqTRES|"
          "AllocTRES|State|NodeList|ConsumedEnergyRaw")


def row(number: int, name: str, node: str, **more: Any) -> str:
    """A job of 4 CPUs that ran for 10 minutes on a node."""
    cpus = more.get("cpus", 4)
    asked = f"cpu={cpus},mem=100M,node=1"
    return "|".join((
        str(number), name, "ada", "phys", more.get("partition", "main"), "2024-01-01T00:00:00",
        "2024-01-01T00:00:00", "2024-01-01T00:10:00", more.get("limit", "01:00:00"), "1", asked,
        asked, more.get("state", "COMPLETED"), node, str(more.get("joules", ""))))


def made(folder: Path, *rows: str, claims: str = CLAIMS, conf: str = CONF) -> Path:
    for name, text in (("slurm.conf", conf), ("claims.csv", claims),
                       ("sacct.txt", "\n".join((HEADER, *rows)) + "\n")):
        (folder / name).write_text(text)
    out = folder / "twin.toml"
    wl.make_twin(folder / "slurm.conf", sacct=folder / "sacct.txt", idle_w=30, cpu_w=10, out=out)
    return out


def chosen(twin: Path, objective: str = "time", **more: Any) -> Any:
    parameters = {"name": "claims", "claims": str(twin.parent / "claims.csv"),
                  "objective": objective, **more.pop("parameters", {})}
    run = wl.simulate(twin, placement="claims", configure=parameters, **more)
    assert wl.verify(run).sentences == []
    return run


def held(run: Any) -> list[str]:
    """The node of each job, by the class that its configuration is."""
    return ["" if kind == 0 else ("slow", "fast")[kind - 1]
            for kind in run.schedule.configuration.tolist()]


def took_s(run: Any) -> list[float]:
    return [round(each - 0.1, 6) for each in (run.schedule.end_s - run.schedule.start_s).tolist()]


def test_the_objective_says_which_class_comes_first(tmp_path: Path) -> None:
    """The log's 600 s on a slow node are 150 s on a fast one, those on a fast one 2400 s on a slow
    one. On a fast node the job has half of the idle power, and adds 170 W."""
    twin = made(tmp_path, row(1, "sim", "b1"), row(2, "sim", "x1"))
    fast = chosen(twin)
    assert (held(fast), took_s(fast)) == (["fast", "fast"], [150.0, 600.0])
    assert fast.schedule.energy_j == pytest.approx([185.0 * 150.1, 185.0 * 600.1])
    slow = chosen(twin, "energy")
    assert (held(slow), took_s(slow)) == (["slow", "slow"], [600.0, 2400.0])
    assert slow.schedule.energy_j == pytest.approx([40.0 * 600.1, 40.0 * 2400.1])


def test_the_next_class_serves_when_the_best_is_full(tmp_path: Path) -> None:
    twin = made(tmp_path, *(row(number, "sim", "b1") for number in range(1, 7)))
    run = chosen(twin)
    assert held(run) == ["fast"] * 4 + ["slow"] * 2
    assert run.notes["claims_fast_jobs"] == run.notes["claims_best_class_jobs"] == 4.0
    assert any(line.startswith("claims chose the node class of 6 jobs: slow 2, fast 4; 4 of them")
               for line in run.remarks)
    patient = chosen(twin, parameters={"patience": 1.0})
    assert held(patient) == ["fast"] * 6  # ln 4 is above 1
    assert (patient.schedule.start_s[4:] >= 150.0).all()


def test_without_claims_of_any_application_nothing_changes(tmp_path: Path) -> None:
    twin = made(tmp_path, *(row(number, "other", "b1") for number in range(1, 9)))
    free, run = wl.simulate(twin), chosen(twin)
    for name in ("start_s", "end_s", "energy_j"):
        assert getattr(run.schedule, name).tolist() == getattr(free.schedule, name).tolist()
    assert any("claims speak of 0 of 8 jobs" in line for line in run.assumed)


def test_measured_watts_follow_the_ratio_of_the_claims(tmp_path: Path) -> None:
    """80 W were measured on a slow node, where 40 W are claimed; on a fast one it is 400 W."""
    twin = made(tmp_path, row(1, "sim", "b1", joules=80 * 600, partition="whole"))
    run = chosen(twin)
    assert (held(run), took_s(run)) == (["fast"], [150.0])
    assert run.power_w_peak == pytest.approx(4 * 30.0 + 400.0 - 30.0)


def test_threads_and_caps_are_settings_that_a_job_can_have(tmp_path: Path) -> None:
    """8 threads are for a job that has a fast node alone, and so is a cap, which is thriftier."""
    claims = CLAIMS + "sim,fast,8,,50,9000\nsim,fast,8,50,60,5000\n"
    twin = made(tmp_path, row(1, "sim", "b1"), row(2, "sim", "b1", partition="whole"),
                claims=claims)
    run = chosen(twin)
    assert (held(run), took_s(run)) == (["fast", "fast"], [150.0, 75.0])
    thrifty = chosen(twin, "energy")
    assert (held(thrifty), took_s(thrifty)) == (["slow", "fast"], [600.0, 90.0])
    late = chosen(twin, "energy", parameters={"cap_latency_s": 25.0})
    assert took_s(late)[1] == pytest.approx(600.0 * (0.5 * 50 + 0.5 * 60) / 400)


def test_a_job_that_ran_into_its_limit_does_so_on_any_class(tmp_path: Path) -> None:
    twin = made(tmp_path, row(1, "sim", "b1", state="TIMEOUT", limit="00:10:00"))
    run = chosen(twin)
    assert held(run) == ["fast"]
    assert 599.9 <= took_s(run)[0] <= 660.0


def test_whom_a_slower_class_costs_its_limit_is_said(tmp_path: Path) -> None:
    """2400 s on a slow node, of which its partition alone has some now; the limit is 1200 s."""
    twin = made(tmp_path, row(1, "sim", "x1", limit="00:20:00"),
                conf=CONF.replace("=main Nodes=ALL", "=main Nodes=b[1-2]"))
    run = chosen(twin, "energy")
    assert held(run) == ["slow"]
    assert any(line.startswith("claims: 1 job: killed at its limit, which it kept in the log")
               for line in run.remarks)


@pytest.mark.parametrize(("node", "limit", "held_on"), [
    ("x1", "00:20:00", "fast"), ("x1", "00:45:00", "slow"), ("b1", "00:10:01", "slow"),
    ("", "00:06:00", "fast"), ("", "00:07:00", "slow")])
def test_a_class_on_which_the_job_would_pass_its_limit_is_passed_over(
    tmp_path: Path, node: str, limit: str, held_on: str
) -> None:
    """The log's 600 s on a fast node are 2400 s on a slow one; without a node 400 s are claimed."""
    twin = made(tmp_path, row(1, "sim", node, limit=limit))
    assert held(chosen(twin, "energy")) == [held_on]


def test_submissions_and_tables_name_applications(tmp_path: Path) -> None:
    """A job of which no log says its class takes what is claimed."""
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "claims.csv").write_text(CLAIMS)
    (tmp_path / "log.events").write_text(
        submit("-n 4 --mem=100 -t 60").replace("a.sh", "/apps/sim")
        + submit("-J sim -n 4 --mem=100 -t 60", at=1))
    (tmp_path / "log.csv").write_text(
        "submit,start,end,nodes,application\n0,0,600,1,sim\n0,0,600,1,odd\n")
    for log in ("log.events", "log.csv"):
        out = tmp_path / "twin.toml"
        given = {"events": tmp_path / log} if log == "log.events" else {"sacct": tmp_path / log}
        wl.make_twin(tmp_path / "slurm.conf", idle_w=30, cpu_w=10, out=out, **given)
        run = chosen(out)
        assert held(run) == (["fast", "fast"] if log == "log.events" else ["fast", ""])
        assert took_s(run)[0] == 100.0
        assert any("the log does not say on which class it ran" in line for line in run.assumed)


@pytest.mark.parametrize(("change", "message"), [
    ({"claims": CLAIMS.replace("slow", "odd").replace("fast", "strange")},
     "the claims are of the node classes strange, odd, and none of these is a feature"),
    ({"claims": CLAIMS + "sim,main,,,1,10\n"}, "node b1 would be of two node classes"),
    ({"claims": CLAIMS + "sim,fast,,,1,10\n"}, "the claim of line 2 again"),
])
def test_claims_that_do_not_fit_the_machine_are_refused(
    tmp_path: Path, change: dict[str, str], message: str
) -> None:
    twin = made(tmp_path, row(1, "sim", "b1"), **change)
    with pytest.raises(wl.InputError, match=message):
        chosen(twin)


@pytest.mark.parametrize(("parameters", "message"), [
    ({"objective": "cheap"}, "objective 'cheap' is unknown"), ({"patience": -1}, "patience"),
    ({"store": "none.db"}, "claims and store are both given")])
def test_bad_values_are_refused(
    tmp_path: Path, parameters: dict[str, Any], message: str
) -> None:
    twin = made(tmp_path, row(1, "sim", "b1"))
    with pytest.raises(wl.InputError, match=message):
        chosen(twin, parameters=parameters)


def test_partitions_are_classes_too_and_what_is_not_used_is_said(tmp_path: Path) -> None:
    conf = CONF.replace("Feature=fast ", "").replace(
        "PartitionName=whole", "PartitionName=quick Nodes=x[1-2]\nPartitionName=whole")
    claims = CLAIMS.replace("fast", "quick").replace("slow", "gone")
    run = chosen(made(tmp_path, row(1, "sim", "b1"), claims=claims, conf=conf))
    said = "\n".join(run.assumed)
    assert "claims: node class quick is a partition, x[1-2]" in said
    assert "claims: the twin has no node class gone" in said
    assert "claims: 2 nodes (b[1-2]) are of no class that is claimed" in said
    assert run.schedule.configuration.tolist() == [1]


def test_a_run_folder_with_claims_is_read_back_and_run_again(tmp_path: Path) -> None:
    run = chosen(made(tmp_path, row(1, "sim", "b1")))
    folder = run.save(tmp_path / "run")
    again = wl.simulate(folder / "scenario.toml")
    assert again.schedule.end_s.tolist() == run.schedule.end_s.tolist()


def test_by_command_with_figures_for_programs(tmp_path: Path) -> None:
    twin = made(tmp_path, row(1, "sim", "b1"))
    given = '{name = "claims", claims = "%s", objective = "time"}' % (tmp_path / "claims.csv")
    found = CliRunner().invoke(cli, [
        "simulate", str(twin), "--set", 'policy.placement="claims"', "--set",
        f"policy.configure={given}", "--json", "-o", str(tmp_path / "run")])
    assert found.exit_code == 0, found.output
    notes = json.loads(found.stdout)["metrics"]["notes"]
    assert (notes["claims_fast_jobs"], notes["claims_slow_jobs"]) == (1.0, 0.0)


def test_the_live_controller_refuses_them(tmp_path: Path) -> None:
    twin = made(tmp_path, row(1, "sim", "b1"))
    twin.write_text(twin.read_text().replace(
        "[policy]\n", '[policy]\nplacement = "claims"\nconfigure = "claims"\n'))
    with pytest.raises(wl.InputError, match="claims choose the class of node in simulations alone"):
        read_section(str(twin))


def test_the_check_says_apart_which_classes_claims_chose(tmp_path: Path) -> None:
    """A job of the log asks for more than any node has; that alone does not fit."""
    twin = made(tmp_path, row(1, "sim", "b1"), row(2, "sim", "x1", cpus=99))
    twin.write_text(twin.read_text().replace("[policy]\n", (
        '[policy]\nplacement = "claims"\nconfigure = {name = "claims", claims = "claims.csv", '
        'objective = "time"}\n')))
    found = CliRunner().invoke(cli, ["twin", "check", str(twin), "--phases", "1"])
    assert found.exit_code == 0, found.output
    assert columns(found.output, "by", "name", "jobs", "simulated", "logged")[:3] == [
        ("all", "", "1", "0.0 s", "0.0 s"), ("account", "phys", "1", "0.0 s", "0.0 s"),
        ("user", "ada", "1", "0.0 s", "0.0 s")]
    lines = [line for line in found.output.splitlines() if line.startswith("note: ")]
    assert [line for line in lines if "claims chose the node class" in line] == [
        "note: of what-ifs: claims chose the node class of 1 jobs: slow 0, fast 1; 1 of them got "
        "the one that is best for them"]
    assert any(line.startswith("note: does not fit: 1 job") and line.endswith("(2)")
               for line in lines)
    told = json.loads(CliRunner().invoke(
        cli, ["twin", "check", str(twin), "--phases", "1", "--json"]).stdout)
    assert [line.partition(":")[0] for line in told["came_of"]] == [
        "claims chose the node class of 1 jobs"]
    assert not any("claims" in line for line in told["unfit"])


def test_where_the_log_names_no_nodes_an_option_says_on_which_class_jobs_ran(
    tmp_path: Path,
) -> None:
    """600 s by the log, 100 s claimed on a fast node and 400 s on a slow one."""
    twin = made(tmp_path, row(1, "sim", ""))
    assert took_s(chosen(twin)) == [100.0]
    assert took_s(chosen(twin, parameters={"logged_on": "slow"})) == [150.0]
    assert took_s(chosen(twin, parameters={"logged_on": "fast"})) == [600.0]
    with pytest.raises(wl.InputError, match="'epyc' is no class of the claims that the twin has"):
        chosen(twin, parameters={"logged_on": "epyc"})
