"""Policies that choose configurations, as a user of `wattline simulate` names them."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from tests.support.commands import refused

import wattline as wl
from wattline.analysis import rundir
from wattline.cli.main import cli, main
from wattline.model.errors import InputError
from wattline.policies.placement.varied import THROTTLE
from wattline.results.verify.judge import verify
from wattline.scenario.build import plan
from wattline.scenario.load import changed, validate

TABLE = """application,nodes,cores,cap_w,time_s,power_w
app,2,8,50,125,200
app,2,8,100,100,400
app,4,8,50,63,400
app,4,8,100,50,800
app,8,8,50,32,800
app,8,8,100,26,1600
"""
JOBS = """job_id,submit_s,run_s,requested_s,procs,application
1,0,50,60,4,app
2,1,50,110,4,app
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "table.csv").write_text(TABLE)
    (tmp_path / "jobs.csv").write_text(JOBS)
    return tmp_path


def options(files, *more):
    return ["simulate", "--trace", str(files / "jobs.csv"), "--nodes", "12", "--node-idle-w", "0",
            "--node-active-w", "230", "--no-folder", "--configurations",
            str(files / "table.csv"), *more]


def test_simulate_with_adaptive_configurations(files):
    arguments = options(files, "--configure", "adaptive", "--threshold", "20%", "--cap", "1100W",
                        "--json")
    result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    found = json.loads(result.stdout)["metrics"]
    assert found["wait_s"]["mean"] == 0.0
    assert found["time_above_cap_s"] == 0.0
    assert found["power_w"]["peak"] <= 1100.0


@pytest.mark.parametrize("configure", ["traditional", "naive", "adaptive"])
@pytest.mark.parametrize("cap", ["50%peak", "100%peak", "70%p99"])
def test_a_cap_is_no_part_of_what_jobs_do_not_draw(files, configure, cap):
    """The peak would be that of nodes as they are assumed, not of the table's."""
    said = f"under policy.configure '{configure}' they draw what their configurations do"
    with pytest.raises(InputError, match=said):
        CliRunner().invoke(cli, options(files, "--configure", configure, "--cap", cap),
                           catch_exceptions=False)


def metrics(arguments):
    result = CliRunner().invoke(cli, [*arguments, "--json"], catch_exceptions=False)
    return json.loads(result.stdout)["metrics"]


def test_simulate_lends_unused_watts(files):
    # Each fair share of 367 W buys 2 nodes at 50 W (125 s). Alone, a job runs on 400 W (100 s);
    # both together have 1100 W, enough for both loans.
    given = options(files, "--configure", "naive", "--cap", "1100W")
    without, lent = metrics(given), metrics([*given, "--power-policy", "lending"])
    assert without["makespan_s"] == pytest.approx(126.0)
    assert lent["makespan_s"] == pytest.approx(101.0)
    assert lent["power_w"]["peak"] == pytest.approx(800.0)
    assert lent["time_above_cap_s"] == 0.0


# The first job asks for one node of a table that begins at two, and for little time.
STUCK = """job_id,submit_s,run_s,requested_s,procs,application
1,0,20,25,1,app
2,1,50,60,4,app
3,2,50,110,3,app
"""


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("traditional", "its smallest configuration needs 2 nodes"),
        ("naive", "its thriftiest configuration draws 200 W, its fair share"),
        ("adaptive", "is 92 W (policy.configure.above_share = 'least-power' runs it all the same)"),
    ],
)
@pytest.mark.parametrize("idle_w", ["0", "10"])
def test_a_job_without_a_configuration_is_refused_and_blocks_nobody(files, rule, reason, idle_w):
    (files / "jobs.csv").write_text(STUCK)
    arguments = options(files, "--configure", rule, "--cap", "1100W", "--json")
    arguments[arguments.index("--node-idle-w") + 1] = idle_w
    result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    found = json.loads(result.stdout)
    assert found["refused"] == 1
    assert "1 of 3 jobs was refused" in result.stderr
    assert "it is job 1 (app on 1 node): " in result.stderr
    assert reason in result.stderr
    assert "never ran" not in result.stderr


def test_a_job_that_must_wait_for_a_higher_cap_holds_nobody_up(files):
    # A twelfth of 900 W is 75 W, of 3000 W it is 250 W, and 200 W are needed.
    (files / "jobs.csv").write_text(STUCK)
    (files / "cap.csv").write_text("time_s,watts\n0,900\n500,3000\n")
    ran = simulate_plan(files, "naive", str(files / "cap.csv"))
    assert ran.schedule.start_s.tolist() == [500.0, 1.0, 2.0]


def test_requests_that_the_table_lacks_are_said(files):
    (files / "jobs.csv").write_text(STUCK)
    arguments = options(files, "--configure", "traditional", "--cap", "3000W")
    said = CliRunner().invoke(cli, arguments, catch_exceptions=False).stderr
    assert "1 job asked for a node count" in said
    assert "(job 3: 2 for 3)" in said


def simulate_plan(files, rule, cap):
    fields = {"trace": {"file": str(files / "jobs.csv")},
              "machine": {"nodes": 12, "node_idle_w": 0},
              "policy": {"configure": {"name": rule, "table": str(files / "table.csv")}},
              "power": {"cap": cap}}
    return plan(validate(fields)).run()


def test_simulate_with_nodes_that_differ(files):
    # 367 W buy 2 nodes at 50 W, where the cap is felt: the thirstiest node sets the pace.
    (files / "nodes.csv").write_text("host,run_id,nodes,pkg0_w,pkg1_w,pkg0_limit_w\n" + "".join(
        f"n{i:02},a,12,{60 * factor},{60 * factor},95\n"
        for i, factor in enumerate([1.2, 1.1, *[1.0] * 7, 0.9, 0.9, 0.8])))
    (files / "table.csv").write_text(TABLE.replace("app,2,8,100,", "app,2,8,80,"))
    given = options(files, "--configure", "naive", "--cap", "1100W", "--placement", "varied",
                    "--set", f"policy.placement.file={files / 'nodes.csv'}")
    blind = metrics(given)
    aware = metrics([*given, "--set", "policy.placement.nodes=thrifty",
                     "--set", "policy.placement.caps=fitted"])
    assert blind["turnaround_s"]["max"] == pytest.approx(125.0 * 1.2**THROTTLE)
    assert aware["turnaround_s"]["max"] == pytest.approx(125.0 * 0.95**THROTTLE)


def test_loans_are_counted_at_what_thirsty_nodes_draw(files):
    # Both jobs start with 200 W by their table, 220 W on these nodes; a loan costs 220 W more.
    # Under 850 W there is room for one, though the table alone would allow both.
    (files / "nodes.csv").write_text("host,run_id,nodes,pkg0_w,pkg1_w,pkg0_limit_w\n" + "".join(
        f"n{i:02},a,12,{60 * factor},{60 * factor},95\n"
        for i, factor in enumerate([*[1.1] * 4, *[1.0] * 8])))
    found = metrics(options(
        files, "--configure", "naive", "--cap", "850W", "--power-policy", "lending",
        "--placement", "varied", "--set", f"policy.placement.file={files / 'nodes.csv'}"))
    assert found["power_w"]["peak"] == pytest.approx(660.0)
    assert found["time_above_cap_s"] == 0.0


def test_a_cap_is_shared_out_even_if_no_power_policy_is_named(files):
    fields = {"trace": {"file": str(files / "jobs.csv")}, "machine": {"nodes": 12},
              "policy": {"configure": {"name": "naive", "table": str(files / "table.csv")}},
              "power": {"cap": 5000}}
    ready = plan(validate(fields))
    assert type(ready.policy.admission).__name__ == "Lending"
    assert ready.policy.admission.lends == 0


def test_the_run_folder_says_in_which_configuration_a_job_ran(files):
    fields = {"trace": {"file": str(files / "jobs.csv")},
              "machine": {"nodes": 12, "node_idle_w": 0},
              "policy": {"configure": {"name": "naive", "table": str(files / "table.csv")}},
              "power": {"cap": 2400}}
    run = plan(validate(fields)).run()
    folder = rundir.write(run, files / "run")
    numbers = pq.read_table(folder / "jobs.parquet")["configuration"].to_pylist()
    meant = {row["configuration"]: row
             for row in pq.read_table(folder / "configurations.parquet").to_pylist()}
    # The fair share of 800 W buys the fastest of those: 8 nodes at 50 W.
    assert [(meant[n]["application"], meant[n]["nodes"], meant[n]["cores"], meant[n]["cap_w"])
            for n in numbers] == [("app", 8, 8, 50.0)] * 2
    again = rundir.read(folder).configurations
    assert {name: list(values) for name, values in again.items()} == {
        name: list(values) for name, values in run.configurations.items()}


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (["naive", "--threshold", "10%"], "threshold has no effect on 'naive'"),
        (["fixed"], "takes the most cores and the highest cap"),
        (["traditional"], "the run times of the log are not used"),
    ],
)
def test_what_a_rule_does_not_take_from_the_user_is_said(files, rule, said):
    result = CliRunner().invoke(cli, options(files, "--cap", "1kW", "--configure", *rule),
                                catch_exceptions=False)
    assert said in result.stderr


GPUS = "application,nodes,gpus,gpu_cap_w,time_s,power_w\n" + "".join(
    f"app,{n},{g},{w},{round(9600 / n / g / (w / 100) ** 0.5)},{n * (100 + g * w)}\n"
    for n in (2, 4) for g in (1, 2) for w in (100, 400))


def of_gpus(files, *more):
    (files / "table.csv").write_text(GPUS)
    return options(files, "--cap", "9kW", "--configure", "fixed", *more)


@pytest.mark.parametrize(("given", "gpus", "cap_w"), [
    ([], 2, 400), (["gpus=1"], 1, 400), (["gpu_cap_w=100"], 2, 100),
    (["gpus=1", "gpu_cap_w=100"], 1, 100)])
def test_fixed_takes_any_settings_of_a_table(files, given, gpus, cap_w):
    asked = [part for one in given for part in ("--set", f"policy.configure.settings.{one}")]
    said = CliRunner().invoke(cli, of_gpus(files, *asked, "--json"), catch_exceptions=False)
    found = json.loads(said.stdout)["metrics"]
    # Both jobs run at once on 4 of the 12 nodes each.
    assert found["power_w"]["peak"] == 2 * 4 * (100 + gpus * cap_w)
    assert ("like 'traditional'" in said.stderr) == (not given)


@pytest.mark.parametrize(("given", "message"), [
    (["cores=2"], "'app' has no setting 'cores'; it has gpus, gpu_cap_w"),
    (["settings.tiles=2"], "'app' has no setting 'tiles'; it has gpus, gpu_cap_w"),
    (["settings.gpus=3"], "has no configuration with"),
    (["settings.gpus=0"], "must be above 0"),
    (["cores=1", "settings.cores=2"], "give cores or settings.cores, not both")])
def test_settings_that_a_table_has_not_are_refused(files, capsys, given, message):
    asked = [part for one in given for part in ("--set", f"policy.configure.{one}")]
    with pytest.raises(SystemExit) as stopped:
        main(of_gpus(files, *asked))
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


KEPT = {"table": "t.csv", "map": "nodes=N", "margin": 0.1}


@pytest.mark.parametrize("before", ["traditional", "fixed", "naive", "adaptive"])
@pytest.mark.parametrize("after", ["traditional", "fixed", "naive", "adaptive"])
def test_another_rule_keeps_the_table_of_the_scenario(before, after):
    own = {"fixed": {"cores": 8}}.get(before, {})
    fields = {"policy": {"configure": {"name": before, **KEPT, **own}}}
    found = changed(fields, {"policy.configure": after})["policy"]["configure"]
    assert found == {"name": after, **KEPT, **(own if after == "fixed" else {})}
    new = changed(fields, {"policy.configure": after, "policy.configure.table": "u.csv"})
    assert new["policy"]["configure"]["table"] == "u.csv"


@pytest.mark.parametrize("choice", ["requested", "claims", {"name": "naive"}, "mine:Rule"])
def test_what_chooses_from_no_table_keeps_none(choice):
    fields = {"policy": {"configure": {"name": "naive", **KEPT}}}
    assert changed(fields, {"policy.configure": choice})["policy"]["configure"] == choice


def test_a_choice_without_a_name_is_not_called_by_an_empty_one(files, capsys):
    with pytest.raises(SystemExit):
        main(options(files, "--power-policy", "lending", "--cap", "1kW"))
    said = capsys.readouterr().err
    assert "does not go with policy.configure without a name: lending needs" in said


def test_a_field_that_is_right_in_none_of_its_forms_is_one_mistake(files, capsys):
    with pytest.raises(SystemExit):
        main(options(files, "--configure", "adaptive", "--threshold", "-5%", "--cap", "1kW"))
    said = capsys.readouterr().err
    assert "threshold: must be at least 0 (it is '-5%')" in said
    assert "more mistake" not in said


@pytest.mark.parametrize("rule", [[], ["--configure", "naive", "--cap", "5kW"]])
def test_run_times_above_requests_are_said_where_they_are_used(files, rule):
    (files / "jobs.csv").write_text(JOBS.replace("1,0,50,60", "1,0,50,40"))
    arguments = [*options(files), *rule]
    if not rule:
        arguments = [word for word in arguments if word != "--configurations"
                     and not word.endswith("table.csv")]
    said = CliRunner().invoke(cli, arguments, catch_exceptions=False).stderr
    assert ("A run time above the request is kept" in said) == (not rule)
    assert ("run times of the log are not used" in said) == bool(rule)


def test_shares_of_power_are_weighed_by_queue(files):
    (files / "jobs.csv").write_text(JOBS.replace("application\n", "application,queue\n")
                                    .replace("4,app\n", "4,app,slow\n", 1)
                                    .replace("4,app\n", "4,app,fast\n"))
    fields = {"trace": {"file": str(files / "jobs.csv")}, "machine": {"nodes": 12},
              "policy": {"configure": {"name": "naive", "table": str(files / "table.csv"),
                                       "weights": {"fast": 2.0}}},
              "power": {"cap": 5000}}
    offers = plan(validate(fields)).policy.configuration.offers
    assert offers.weight.tolist() == [1.0, 2.0]


def test_varied_nodes_are_drawn_by_seed(files):
    fields = {"trace": {"file": str(files / "jobs.csv")}, "machine": {"nodes": 12},
              "policy": {"configure": {"name": "naive", "table": str(files / "table.csv")},
                         "placement": {"name": "varied", "nodes": "thrifty", "caps": "fitted",
                                       "sd": "5%", "seed": 3}},
              "power": {"cap": 5000}}
    placement = plan(validate(fields)).policy.placement
    assert placement.fitted_caps == 1
    assert (placement.factor[placement.order][:-1] <= placement.factor[placement.order][1:]).all()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--configure", "adaptive"], "needs a cap"),
        (["--configure", "adaptive", "--cap", "150W"], "below the smallest configuration of 'app'"),
        (["--threshold", "10%", "--cap", "1kW"], "threshold, table is given and no name"),
        (["--configure", "adaptive", "--threshold", "-1", "--cap", "1kW"],
         "threshold: must be at least 0"),
        (["--configure", "adaptive", "--threshold", "soon", "--cap", "1kW"], "is not a fraction"),
        (["--configure", "molded", "--cap", "1kW"], "there is no 'molded'"),
        (["--configure", "fixed", "--set", "policy.configure.cores=3", "--cap", "1kW"],
         "no configuration with 3 cores"),
        (["--configure", "naive", "--set", "policy.configure.weights={no = 2.0}", "--cap", "1kW"],
         "no job is in the queue 'no'"),
        (["--configure", "adaptive", "--set", 'policy.configure.map="map.toml"', "--cap", "1kW"],
         "must be NAME=COLUMN, separated by commas"),
        (["--configure", "adaptive", "--set", 'policy.configure.holds="all"', "--cap", "1kW"],
         "holds"),
        (["--configure", "adaptive", "--power-policy", "block", "--cap", "1kW"],
         "has no watts of its own to be held back for"),
        (["--power-policy", "lending", "--cap", "1kW"], "needs configurations to lend by"),
        (["--configure", "naive", "--placement", "varied", "--set",
          "policy.placement.nodes=best", "--cap", "1kW"], "nodes: must be 'first' or 'thrifty'"),
    ],
)
def test_mistakes_get_one_clear_line(files, capsys, more, message):
    with pytest.raises(SystemExit) as stopped:
        main(options(files, *more))
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(("rule", "cap", "room"), [
    ("naive", "1250W", "the cap of 1.25 kW leaves 170 W, since all 12 nodes count as idle"),
    ("adaptive", "1250W", "the cap of 1.25 kW leaves 170 W, since all 12 nodes count as idle"),
    ("traditional", "1100W", "the cap of 1.1 kW leaves 200 W, since the other 10 nodes count"),
])
def test_a_refusal_says_what_idle_nodes_leave(files, rule, cap, room):
    arguments = [*options(files), "--configure", rule, "--cap", cap, "--node-idle-w", "90"]
    result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert room in " ".join(result.output.split())
    assert "as idle at 90 W each" in " ".join(result.output.split())


def test_a_busy_node_that_draws_less_than_an_idle_one_is_refused_or_said(files, capsys):
    thrifty = TABLE + "app,8,4,20,90,640\n"
    (files / "table.csv").write_text(thrifty)
    arguments = [*options(files), "--configure", "naive", "--cap", "3kW"]
    told = refused(capsys, *arguments, "--node-idle-w", "90")
    assert ("'app' as (8 x 4, 20 W) draws 640 W, less than its 8 nodes idle (720 W, "
            "machine.node_idle_w): its watts are taken for those of its devices") in told
    assumed = [word for word in arguments if word not in ("--node-idle-w", "0")]
    said = CliRunner().invoke(cli, [*assumed, "--node-active-w", "300"], catch_exceptions=False)
    told = " ".join(said.output.split())
    assert "app: in 1 of 7 configurations a node draws less (80 W at least) than the 90 W" in told
    quiet = CliRunner().invoke(cli, [*arguments, "--node-idle-w", "70"], catch_exceptions=False)
    assert "draws less" not in quiet.output


def test_what_nodes_draw_beside_their_devices_counts_under_the_cap(files):
    """1,600 W of devices on 8 nodes fit under 1.7 kW, and do not with 100 W beside them each."""
    def run(*given):
        return wl.simulate(
            trace=files / "jobs.csv", machine=wl.Machine(nodes=8, node_idle_w=0, **dict(given)),
            cap="1.7kW", configure=wl.AdaptiveConfiguration(
                table=files / "table.csv", power_scope="devices", threshold="unbounded"))

    plain, real = run(("node_base_w", 0)), run(("node_base_w", 100), ("supply_efficiency", 0.9))
    assert not any("counts as 0 W" in line for line in plain.assumed)
    assert plain.events.power_w.max() <= 1700.0
    # Each row is (devices + nodes x 100) / 0.9, and no instant is above the cap by that.
    measured = np.array([200, 400, 400, 800, 800, 1600])
    nodes = np.array([2, 2, 4, 4, 8, 8])
    assert sorted(real.configurations["power_w"]) == pytest.approx(
        sorted((measured + 100 * nodes) / 0.9))
    assert real.events.power_w.max() <= 1700.0
    assert real.end_s > plain.end_s
    assert not verify(real).sentences


def test_of_what_watts_are_is_asked_for_and_said(files, capsys):
    given = [*options(files), "--configure", "naive", "--cap", "3kW"]
    base = ["--set", "machine.node_base_w=50W"]
    assert "of what the watts of 'app' are; say policy.configure.power_scope devices" in refused(
        capsys, *given, *base)
    done = CliRunner().invoke(cli, [*given, *base, "--set", "policy.configure.power_scope=node",
                                    "--json"], catch_exceptions=False)
    assert not any("watts of" in line for line in json.loads(done.stdout)["assumed"])
    unused = [word if word != "naive" else "requested" for word in given[:-4]]
    del unused[-2:]
    said = CliRunner().invoke(cli, [*unused, *base], catch_exceptions=False)
    assert "only a policy that chooses configurations" in " ".join(said.output.split())


UNMEASURED = JOBS + """3,2,77,110,3,other
4,3,20,110,2,
5,3,20,110,9,other
"""


@pytest.mark.parametrize("rule", ["traditional", "fixed", "naive", "adaptive"])
@pytest.mark.parametrize("backfill", ["easy", "conservative", "none"])
def test_a_job_without_a_measured_application_runs_as_requested(files, rule, backfill):
    """On its own nodes, for the time of the log, at the 230 W of a busy node; nine are too many."""
    (files / "jobs.csv").write_text(UNMEASURED)
    result = CliRunner().invoke(
        cli, options(files, "--configure", rule, "--backfill", backfill, "--cap", "1100W",
                     "--json"), catch_exceptions=False)
    found = json.loads(result.stdout)
    assert found["refused"] == 1
    assert "it is job 5 (other on 9 nodes): alone on the machine it exceeds" in result.stderr
    assert any("3 of 5 jobs have no measured application ('other', 1 without a name)" in line
               for line in found["assumed"])
    assert found["metrics"]["notes"]["unmeasured_jobs"] == 3
    given = ["--configure", rule, "--backfill", backfill, "--cap", "1100W", "--out",
             str(files / "run")]
    arguments = [each for each in options(files, *given) if each != "--no-folder"]
    CliRunner().invoke(cli, arguments, catch_exceptions=False)
    run = wl.open_run(files / "run")
    schedule = run.schedule
    assert schedule.nodes[2:4].tolist() == [3, 2]
    assert (schedule.end_s - schedule.start_s)[2:4].tolist() == [77.0, 20.0]
    assert schedule.energy_j[2:4].tolist() == [3 * 230.0 * 77, 2 * 230.0 * 20]
    assert run.power_w_peak <= 1100.0
    assert wl.verify(run).sentences == []


def test_a_run_with_unmeasured_jobs_is_refused_where_that_is_asked_for(files):
    (files / "jobs.csv").write_text(UNMEASURED)
    with pytest.raises(InputError, match=r"names no application|no application 'other'"):
        CliRunner().invoke(cli, options(
            files, "--configure", "naive", "--cap", "1kW", "--set",
            'policy.configure.unknown="refuse"'), catch_exceptions=False)


def test_where_no_job_is_measured_the_name_is_a_mistake(files):
    (files / "jobs.csv").write_text(JOBS.replace(",app\n", ",ap\n"))
    with pytest.raises(InputError, match="there is no application 'ap'; known are: app"):
        CliRunner().invoke(cli, options(files, "--configure", "naive", "--cap", "1kW"),
                           catch_exceptions=False)


def test_an_unmeasured_job_waits_for_a_cap_that_can_power_it_and_holds_nobody_up(files):
    (files / "jobs.csv").write_text(JOBS.replace("1,0,50,60,4,app", "1,0,50,60,4,other"))
    (files / "cap.csv").write_text("time_s,watts\n0,800\n500,1100\n")
    run = plan(validate(changed({}, {
        "name": "cap", "trace.file": str(files / "jobs.csv"), "machine.nodes": 12,
        "machine.node_idle_w": 0, "machine.node_active_w": 230,
        "power.cap": str(files / "cap.csv"),
        "policy.configure": {"name": "naive", "table": str(files / "table.csv")}}))).run()
    assert run.schedule.start_s[0] == 500.0
    assert run.schedule.start_s[1] < 500.0
