"""The commands for views, claims and accounts: what they print and what they refuse."""

import json

import pytest
from click.testing import CliRunner
from tests.support.commands import call, ok, refused
from tests.support.printed import columns
from tests.support.run_maker import fcfs_run, some_jobs

from wattline.analysis import rundir
from wattline.cli import main as cli_main
from wattline.cli.output import print_table
from wattline.model.units import format_energy

POWERS = ("--node-idle-w", 90, "--node-active-w", 300)


@pytest.fixture
def run_dir(tmp_path):
    return rundir.write(fcfs_run(some_jobs(20)), tmp_path / "run")


def test_view_show(capsys):
    out = ok(capsys, "view", "show", "power", "--nodes", 20, "--node-idle-w", 112,
             "--node-active-w", 352, "--nodes-per-rack", 8)
    assert columns(out, "entity", "type", "power_w", "idle_w", "max_w", "limit_w")[0] == (
        "site", "site", "2,240", "2,240", "7,040", "-")
    found = json.loads(ok(capsys, "view", "show", "rack", "--nodes", 4, "--cores", 16, "--json"))
    assert found["rows"][0]["cores"] == 64


VIEW = """
[views.power]
bounds = [{used = "power_w", limit = "limit_w"}]
keys = [{name = "power_w", unit = "W", inherit = "children_sum"}, {name = "limit_w"},
        {name = "serial", type = "text", read_only = true}, {name = "slots", on = ["node"]}]
entities = [{name = "room", limit_w = 400}, {name = "pdu", parent = "room"},
            {name = "n[1-3]", type = "node", parent = "pdu", power_w = 100, serial = "x"}]
"""


def test_a_change_of_a_view_goes_up_the_tree(tmp_path, capsys):
    path = tmp_path / "v.toml"
    path.write_text(VIEW)
    show = ("view", "show", "power", "--file", path)
    found = json.loads(ok(capsys, *show, "--set", "n1.power_w=150", "--json"))
    assert [row["power_w"] for row in found["rows"]] == [350, 350, 150, 100, 100]
    assert found["values_changed"] == 3
    assert "3 values changed" in ok(capsys, *show, "--set", "n1.power_w=150")
    checked = ok(capsys, "view", "check", path)
    assert columns(checked, "view", "entities", "keys", "bounds") == [("power", "5", "4", "1")]
    for change, said in (
        ("n1.power_w=201", "power_w of entity 'room' would be 401, above its limit_w of 400"),
        ("n1.serial=y", "key 'serial' is read-only"),
        ("pdu.power_w=1", "'power_w' of 'pdu' follows from 'power_w' of what lies below it"),
        ("pdu.slots=1", "entity 'pdu' has no key 'slots'; it is for node"),
        ("n9.power_w=1", "the view has no entity 'n9'"),
        ("n1.power_w=x", "'x' is not a number"),
        ("n1=1", "'n1=1' is not like n3.power_w=300"),
    ):
        assert said in refused(capsys, *show, "--set", change)


def test_a_power_below_zero_is_refused(capsys):
    said = refused(capsys, "view", "show", "power", "--nodes", 4, *POWERS, "--depth", 4, "--set",
                   "n1.power_w=-50")
    assert "key 'power_w' is a power; -50.0 is below 0" in said


def test_views_of_the_machine_of_a_scenario(tmp_path, capsys):
    path = tmp_path / "s.toml"
    path.write_text('trace = {generate = "lublin"}\n[machine]\nname = "m"\nclasses = ['
                    '{name = "fat", count = 2, active_w = 500}, {name = "thin", count = 3}]\n')
    found = json.loads(ok(capsys, "view", "show", "rack", path, "--depth", 3, "--json"))
    assert [row["entity"] for row in found["rows"]][1] == "m"
    assert [row["node_class"] for row in found["rows"] if row["type"] == "node"] == [
        "fat", "fat", "thin", "thin", "thin"]
    power = json.loads(ok(capsys, "view", "show", "power", path, "--limit", "site=2kW", "--json"))
    assert (power["rows"][0]["max_w"], power["rows"][0]["limit_w"]) == (1900, 2000)
    assert "leave out SCENARIO" in refused(capsys, "view", "show", "power", path, "--file",
                                           "v.toml")


def test_view_refusals(tmp_path, capsys):
    assert "there is no view 'heat'" in refused(capsys, "view", "show", "heat")
    err = refused(capsys, "view", "show", "power", "--nodes", 2, *POWERS, "--limit", "rack0")
    assert "rack3=20kW" in err
    path = tmp_path / "v.toml"
    path.write_text('[views.x]\nkeys=[{name="w"}]\nentities=[{name="a",parent="b"},'
                    '{name="b",parent="a"}]\n')
    assert "cyclic: a in b in a" in refused(capsys, "view", "check", path)


def test_a_view_over_its_limit_is_refused(capsys):
    status, _, err = call(capsys, "view", "show", "power", "--nodes", 2, *POWERS, "--limit",
                          "rack0=100W")
    assert status != 0
    assert "above its limit_w of 100" in err


def test_runs_of_the_same_job_are_verified_one_after_the_other(tmp_path, capsys):
    store = tmp_path / "s.db"
    header = "application,node_class,threads,time_s,energy_j\n"
    claims = tmp_path / "claims.csv"
    claims.write_text("\ufeff" + header + "A,x,4,10,100\n")
    assert "1 claim of 1 application imported" in ok(capsys, "claims", "import", claims, "--store",
                                                     store)
    runs = tmp_path / "runs.csv"
    runs.write_text(header + "A,x,4,20,200\nA,x,4,15,150\n")
    found = json.loads(ok(capsys, "claims", "verify", runs, "--store", store, "--json"))
    assert [run["claimed"]["time_s"] for run in found["verified"]] == [10, 15]
    assert found["verified"][1]["corrected"]["time_s"] == 15
    claims.write_text(header + "A,x,4,10,100\nA,x,4,11,100\n")
    err = refused(capsys, "claims", "import", claims, "--store", store)
    assert "line 3: the claim of line 2 again" in err


def test_claims_with_other_columns_and_more_values(tmp_path, capsys):
    claims = tmp_path / "claims.csv"
    claims.write_text("application, node_class,time_s,energy_j,cap\nA,x,10,100,15\n")
    status, _, err = call(capsys, "claims", "import", claims, "--store", tmp_path / "s.db")
    assert (status, err) == (0, "note: nothing is read from column cap\n")
    claims.write_text("application,node_class,time_s,energy_j\nA,x,10,100,15\n")
    err = refused(capsys, "claims", "import", claims, "--store", tmp_path / "s.db")
    assert "line 2: more values than the 4 columns of the header" in err


def test_claims_there_and_back(tmp_path, capsys):
    store = tmp_path / "s.db"
    assert "44 claims of 11" in ok(capsys, "claims", "import", "npb", "--store", store)
    found = json.loads(ok(capsys, "claims", "list", "--store", store, "--class", "xeon", "--json"))
    assert len(found["claims"]) == 22
    csv = tmp_path / "runs.csv"
    csv.write_text("application,node_class,threads,time_s,energy_j\nEP.A,odroid-c2,4,13.0,60\n")
    out = json.loads(ok(capsys, "claims", "verify", csv, "--store", store, "--json"))
    assert out["verified"][0]["time_error"] == pytest.approx(13.0 / 12.58 - 1)
    assert out["verified"][0]["corrected"]["runs"] == 6
    chosen = json.loads(ok(capsys, "claims", "choose", "EP.A", "--store", store, "--json"))
    assert chosen["chosen"]["node_class"] == "odroid-c2"


def test_verified_claims_are_not_lost_to_an_import(tmp_path, capsys):
    store, claims, runs = tmp_path / "c.db", tmp_path / "c.csv", tmp_path / "runs.csv"
    claims.write_text("application,node_class,time_s,energy_j\na,x,1,10\nb,x,1,10\n")
    runs.write_text("application,node_class,time_s,energy_j\na,x,3,10\n")

    def times():
        found = json.loads(ok(capsys, "claims", "list", "--store", store, "--json"))
        return {claim["application"]: claim["time_s"] for claim in found["claims"]}

    ok(capsys, "claims", "import", claims, "--store", store)
    out = ok(capsys, "claims", "verify", runs, "--store", store)
    assert columns(out, "application", "class", "setting", "claimed s", "measured s", "off",
                   "claimed J", "measured J", "off") == [
        ("a", "x", "as is", "1", "3", "+200.0 %", "10", "10", "+0.0 %")]
    assert times() == {"a": 2.0, "b": 1.0}
    out = ok(capsys, "claims", "list", "--store", store)
    assert sorted(columns(out, "application", "time s", "energy J", "power W")) == [
        ("a", "2", "10", "5"), ("b", "1", "10", "10")]  # 10 J in 2 s, and in 1 s
    out = ok(capsys, "claims", "import", claims, "--store", store)
    assert "1 claim of 1 application imported" in out
    assert "1 verified claim kept" in out
    assert times() == {"a": 2.0, "b": 1.0}
    out = ok(capsys, "claims", "import", claims, "--store", store, "--replace")
    assert "1 verified claim replaced" in out
    assert times() == {"a": 1.0, "b": 1.0}


def test_an_impossible_claim_leaves_the_store_unchanged(tmp_path, capsys):
    store = tmp_path / "s.db"
    ok(capsys, "claims", "import", "npb", "--store", store)
    before = ok(capsys, "claims", "list", "--store", store, "--csv")
    bad = tmp_path / "bad.csv"
    bad.write_text("application,node_class,time_s,energy_j\nA,x,1,1\nB,x,-1,1\n")
    assert "line 3" in refused(capsys, "claims", "import", bad, "--store", store)
    assert ok(capsys, "claims", "list", "--store", store, "--csv") == before


def test_account_prints_like_sacct(run_dir, capsys):
    out = ok(capsys, "account", run_dir, "-X", "-P", "-o", "jobid,user,consumedenergyraw")
    lines = out.splitlines()
    assert lines[0] == "JobID|User|ConsumedEnergyRaw"
    run = rundir.read(run_dir)
    job, user, joules = lines[1].split("|")
    assert (int(job), int(joules)) == (1, round(float(run.schedule.energy_j[0])))
    assert user == run.jobs.name_of("user", int(run.jobs.user[0]))
    found = json.loads(ok(capsys, "account", run_dir, "--json"))
    assert len(found["jobs"]) == 20


def test_account_keeps_a_ledger(run_dir, tmp_path, capsys):
    store = tmp_path / "s.db"
    ok(capsys, "account", run_dir, "--store", store)
    out = json.loads(ok(capsys, "account", "--store", store, "--by", "user", "--json"))
    run = rundir.read(run_dir)
    total = sum(t["energy_j"] for t in out["totals"])
    assert total == pytest.approx(float(run.schedule.energy_j.sum()))
    assert "no run 'other'" in refused(capsys, "account", "--store", store, "--run-name", "other")


def test_account_writes_profiles(run_dir, tmp_path, capsys):
    from wattline.account.profile import read_profile

    ok(capsys, "account", run_dir, "-j", "3", "--profile", tmp_path / "prof")
    (path,) = (tmp_path / "prof").rglob("*.h5")
    assert path.name == "job_3.h5"
    assert next(iter(read_profile(path).values()))["Power"][0] == 250


def test_account_refusals(run_dir, tmp_path, capsys):
    assert "is no field" in refused(capsys, "account", run_dir, "-o", "Colour")
    assert "name a run folder" in refused(capsys, "account")
    assert "not a job number" in refused(capsys, "account", run_dir, "-j", "x")
    refused(capsys, "account", tmp_path / "nothing")
    assert "at least 1 wide" in refused(capsys, "account", run_dir, "-o", "jobid%0")


def test_a_store_that_is_not_there_is_not_made_by_reading(tmp_path, capsys):
    store, runs = tmp_path / "e.db", tmp_path / "runs.csv"
    runs.write_text("application,node_class,time_s,energy_j\na,x,1,10\n")
    for words in (("account",), ("account", tmp_path / "nothing"), ("claims", "list"),
                  ("claims", "verify", runs), ("claims", "choose", "a"), ("fairshare",)):
        refused(capsys, *words, "--store", store)
        assert not store.exists()


def test_an_empty_file_is_no_store_to_read_and_stays_empty(tmp_path, capsys):
    store = tmp_path / "e.db"
    store.touch()
    for words in (("account",), ("claims", "list"), ("fairshare",)):
        assert "is an empty file" in refused(capsys, *words, "--store", store)
        assert not store.stat().st_size


def test_a_file_where_a_folder_should_be_written_is_refused(run_dir, tmp_path, capsys):
    file = tmp_path / "file"
    file.write_text("")
    for words in (("study", "esp", "--out"), ("study", "fairshare", "--out"),
                  ("study", "hetero", "--out"), ("account", run_dir, "--profile")):
        assert "is a file, not a folder" in refused(capsys, *words, file)


def test_jobs_that_never_ran_are_listed_and_use_nothing(tmp_path, capsys):
    """Four nodes; job 2 needs more watts than any cap to come: refused, as one cancelled."""
    log, scenario = tmp_path / "log.csv", tmp_path / "s.toml"
    log.write_text("job_id,submit_s,run_s,procs,power_w\n1,0,100,1,300\n2,10,100,1,9000\n")
    scenario.write_text(f"""
[trace]
file = "{log}"
[machine]
nodes = 4
node_idle_w = 100
[policy]
power = "block"
[power]
cap = "900W"
""")
    ok(capsys, "simulate", scenario, "--out", tmp_path / "run")
    lines = ok(capsys, "account", tmp_path / "run", "-X", "-P", "-o", "JobID,State,Start,Elapsed,"
               "ConsumedEnergyRaw,ExitCode").splitlines()
    assert lines[1] == "1|COMPLETED|1970-01-01T00:00:00|00:01:40|30000|0:0"
    assert lines[2] == "2|CANCELLED|None|00:00:00|0|0:0"
    out = json.loads(ok(capsys, "account", tmp_path / "run", "--by", "user", "--json"))
    assert [total["jobs"] for total in out["totals"]] == [1]


def test_help_lists_them():
    out = CliRunner().invoke(cli_main.cli, ["--help"]).output
    assert "account" in out
    assert "claims" in out


def test_fairshare_of_a_run(run_dir, tmp_path, capsys):
    found = json.loads(ok(capsys, "fairshare", run_dir, "--json"))
    assert {a["name"] for a in found["accounts"]} <= {"ada", "bob", "chi", "dan", "eve"}
    assert sum(a["usage"] for a in found["accounts"]) == pytest.approx(1)
    shares = tmp_path / "shares.toml"
    shares.write_text('[[account]]\nname = "ada"\nshare = 0.3\n')
    status, out, err = call(capsys, "fairshare", run_dir, "--shares", shares)
    assert status == 0
    # Who alone has a share has used all of it, and stands at 2 ** -1.
    assert columns(out, "account", "parent", "share", "used", "effective", "factor") == [
        ("ada", "-", "1", "1", "1", "0.5")]
    told = json.loads(ok(capsys, "fairshare", run_dir, "--shares", shares, "--json"))
    assert columns(out, "usage") == [(format_energy(told["accounts"][0]["usage_j"]),)]
    assert "shares below 'the root' add up to 0.3; they count in proportion" in err
    assert "have no place in the share tree" in err
    refused(capsys, "fairshare", run_dir, "--half-life", "0")
    refused(capsys, "fairshare")


def test_energy_plan(tmp_path, capsys):
    prices = tmp_path / "p.csv"
    prices.write_text("time_s,price/kWh\n0,3\n3600,1\n7200,2\n")
    machine = ("--nodes", 10, "--node-idle-w", 100, "--node-active-w", 200, "--period", "3h")
    found = json.loads(ok(capsys, "energy", "plan", "--energy", "4.5kWh", "--price", prices,
                          *machine, "--json"))
    assert [slot["power_w"] for slot in found["slots"]] == [1000, 2000, 1500]
    assert found["cost"] == pytest.approx(3 + 2 + 3)
    assert found["cost_flat"] == pytest.approx(1.5 * 6)
    assert "draws idle" in refused(capsys, "energy", "plan", "--energy", "1kWh", *machine)
    said = refused(capsys, "energy", "plan", "--energy", "4kWh", "--price", prices,
                   "--carbon-weight", "0.5", *machine)
    assert "--carbon-weight needs --carbon" in said


def test_a_table_that_ends_within_the_period_is_told(tmp_path, capsys):
    prices = tmp_path / "p.csv"
    prices.write_text("time_s,price/kWh\n0,3\n3600,1\n7200,2\n")
    words = ("energy", "plan", "--energy", "45kWh", "--price", prices, "--nodes", 10,
             "--node-idle-w", 100, "--node-active-w", 200)
    for period, warned in (("3h", 0), ("30h", 1)):
        status, out, err = call(capsys, *words, "--period", period)
        assert (status, err.count("\n")) == (0, warned)
        # 45 kWh are more than ten nodes can use in 3 h; in 30 h the dearest hour is idle.
        assert columns(out, "from", "until", "power")[:2] == [
            ("0 s", "01:00:00", "1 kW" if warned else "2 kW"), ("01:00:00", "02:00:00", "2 kW")]
    assert f"{prices} ends 03:00:00 after the beginning" in err


def test_tables_write_numbers_without_exponents(capsys):
    print_table(["n"], [[value] for value in (0.00123456, 9999.4, 9999.6, 25344.0, 1774080.0)])
    assert capsys.readouterr().out.split()[2:] == [
        "0.001235", "9,999", "10,000", "25,344", "1,774,080"]


@pytest.mark.parametrize("text", ["1_0", "\u0661", "\u00b2"])
def test_numbers_on_the_command_line_and_in_claims_are_plain(tmp_path, text, capsys):
    assert "is not like xeon=4" in refused(capsys, "claims", "choose", "EP.A", "--free",
                                           f"xeon={text}")
    claims = tmp_path / "claims.csv"
    claims.write_text(f"application,node_class,time_s,energy_j\nA,x,{text},100\n")
    said = refused(capsys, "claims", "import", claims, "--store", tmp_path / "s.db")
    assert f"line 2: time_s is '{text}'" in said


def test_verifying_by_the_same_runs_again_counts_nothing_again(tmp_path, capsys):
    store, claims, runs = tmp_path / "s.db", tmp_path / "claims.csv", tmp_path / "runs.csv"
    header = "application,node_class,time_s,energy_j,runs\n"
    claims.write_text(header + "A,x,10,20,5\n")
    runs.write_text("application,node_class,time_s,energy_j\nA,x,15,30\n")
    ok(capsys, "claims", "import", claims, "--store", store)

    def claim():
        found = json.loads(ok(capsys, "claims", "list", "--store", store, "--json"))
        return [(c["runs"], c["energy_j"]) for c in found["claims"]]

    ok(capsys, "claims", "verify", runs, "--store", store)
    assert claim() == [(6, pytest.approx(130 / 6))]
    before = claim()
    assert "1 run already counted" in ok(capsys, "claims", "verify", runs, "--store", store)
    again = json.loads(ok(capsys, "claims", "verify", runs, "--store", store, "--json"))
    assert (again["verified"], again["already_counted"]) == ([], 1)
    assert claim() == before
    # A line more in the file: only that one is new, though it has the figures of the other.
    with runs.open("a") as file:
        file.write("A,x,15,30\n")
    ok(capsys, "claims", "verify", runs, "--store", store)
    assert claim()[0][0] == 7


def test_a_run_id_tells_runs_of_the_same_figures_apart(tmp_path, capsys):
    store, runs = tmp_path / "s.db", tmp_path / "runs.csv"
    header = "application,node_class,time_s,energy_j,run_id\n"
    ok(capsys, "claims", "import", "npb", "--store", store)
    for lines, counted in (("A,x,1,2,7\n", 1), ("A,x,1,2,8\n", 1), ("A,x,1,2,7\nA,x,1,2,7\n", 0)):
        runs.write_text(header + lines)
        status, out, err = call(capsys, "claims", "verify", runs, "--store", store, "--json")
        assert (status, err) == (0, "")
        assert len(json.loads(out)["verified"]) == counted


def test_runs_count_again_when_what_they_verified_was_replaced(tmp_path, capsys):
    store, claims, runs = tmp_path / "s.db", tmp_path / "c.csv", tmp_path / "runs.csv"
    claims.write_text("application,node_class,time_s,energy_j\nA,x,1,10\n")
    runs.write_text("application,node_class,time_s,energy_j\nA,x,3,10\n")
    ok(capsys, "claims", "import", claims, "--store", store)
    ok(capsys, "claims", "verify", runs, "--store", store)
    ok(capsys, "claims", "import", claims, "--store", store, "--replace")
    found = json.loads(ok(capsys, "claims", "verify", runs, "--store", store, "--json"))
    assert found["verified"][0]["corrected"]["time_s"] == 2


def test_account_knows_the_frequency_that_an_adaptive_run_chose(tmp_path, capsys):
    """At 60 % of full power some jobs are slowed; their joules are less than at full speed."""
    ok(capsys, "simulate", "--trace", "examples/tiny.swf", "--nodes", 8, "--cap", "60%",
       "--power-policy", "adaptive", "--out", tmp_path / "run")
    out = ok(capsys, "account", tmp_path / "run", "-X", "-P", "-o",
             "JobID,AveCPUFreq,ReqCPUFreq,AllocTRES")
    rows = [line.split("|") for line in out.splitlines()[1:]]
    chosen = {row[0]: row[1] for row in rows}
    assert chosen["1"] == "2.60G"
    assert chosen["2"] == "1.20G"
    assert {row[2] for row in rows} == {""}
    assert rows[0][3] == "cpu=16,energy=2160000,node=2"


def test_account_leaves_a_frequency_empty_that_nobody_chose(run_dir, capsys):
    out = ok(capsys, "account", run_dir, "-X", "-P", "-o", "AveCPUFreq")
    assert set(out.splitlines()[1:]) == {""}
