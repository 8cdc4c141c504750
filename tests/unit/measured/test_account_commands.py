"""`wattline account import`, `show`, `bill` and `job`: what they print and what they refuse."""

import json
import shlex
import shutil
import warnings
from importlib import resources
from pathlib import Path

import pytest
from tests.support.commands import call, ok, refused
from tests.support.printed import columns
from tests.support.run_maker import fcfs_run, some_jobs
from tests.unit.measured.test_from_sacct import DUMP, HEAD, line

import wattline as wl
from wattline.account.measured.tables import rests
from wattline.account.store import Store
from wattline.advice.measured_job import power_over_time
from wattline.analysis import rundir
from wattline.cli.account.job import sparkline
from wattline.model.local_time import zone_of

TRUTH_J = 11.73e6


@pytest.fixture
def dump(tmp_path):
    path = tmp_path / "dump.txt"
    path.write_text("\n".join([HEAD, *DUMP]) + "\n")
    return path


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """The ledger of the dump, which each test has a copy of."""
    folder = tmp_path_factory.mktemp("imported")
    (folder / "dump.txt").write_text("\n".join([HEAD, *DUMP]) + "\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wl.WattlineWarning)
        wl.account_import(folder / "dump.txt", store=folder / "s.db", zone="UTC")
    return folder / "s.db"


@pytest.fixture
def store(tmp_path, imported):
    return shutil.copy(imported, tmp_path / "s.db")


def more(tmp_path, capsys, *lines, name="more.txt"):
    path = tmp_path / name
    path.write_text("\n".join([HEAD, *lines]) + "\n")
    ok(capsys, "account", "import", path, "--store", tmp_path / "s.db", "--zone", "UTC")


def asked(store, capsys, *words, command="show"):
    return json.loads(ok(capsys, "account", command, *(["--store", store]), *words, "--json"))


def test_import_says_what_became_of_each_record(dump, tmp_path, capsys):
    words = ("account", "import", dump, dump, "--store", tmp_path / "s.db", "--zone", "UTC")
    found = json.loads(ok(capsys, *words, "--json"))
    assert (found["jobs"], found["lives"], found["energy_j"]) == (6, 7, TRUTH_J)
    assert found["coverage"] == pytest.approx(30600 / 34200)  # all but the hour of job 600
    assert found["rows"] == 21
    assert found["skipped"] == {"never started": 6}  # in both files
    assert (found["new"], found["mended"]) == (7, {})
    table = ok(capsys, *words)
    assert "skipped   never started" in table
    assert "mended    nothing" in table
    rows = dict(columns(table, "what", "how much"))
    # All jobs are in the ledger already, with 11.73 MJ and joules for 30600 s of 34200.
    assert [rows[what] for what in ("jobs", "lives", "of them new", "energy", "coverage")] == [
        "6", "7", "0", "3.258 kWh", "89.5%"]


def test_the_zone_is_said_where_times_have_none(dump, tmp_path, capsys, monkeypatch):
    tokyo = tmp_path / "zoneinfo" / "Asia" / "Tokyo"  # a machine's own file, as TZ may name it
    tokyo.parent.mkdir(parents=True)
    tokyo.write_bytes(resources.files("tzdata.zoneinfo.Asia").joinpath("Tokyo").read_bytes())
    for name in (f":{tokyo}", "Asia/Tokyo"):
        monkeypatch.setenv("TZ", name)
        assert zone_of("local").name == "Asia/Tokyo"
    for named, said in (((), "UTC (--zone names another"), (("--zone", "local"), "Asia/Tokyo")):
        _, out, err = call(capsys, "account", "import", dump, "--store",
                           tmp_path / f"{len(named)}.db", "--json", *named)
        assert f"times without an offset are taken as {said}" in err
        assert any(said in remark for remark in json.loads(out)["remarks"])


@pytest.mark.parametrize(("by", "rows"), [
    ("user", {"ann": TRUTH_J}), ("account", {"phys": TRUTH_J}), ("partition", {"p": TRUTH_J}),
    ("application", {"a": TRUTH_J}), ("class", {"": TRUTH_J}),
    # n1: half of 100, all of 200, 300 and 500, and 1.5 MJ of 400; n2: the rest.
    ("node", {"n1": 2.88e6 + 1.62e6 + 0.7e6 + 0.15e6 + 1.5e6, "n2": 2.88e6 + 2e6}),
])
def test_totals_by_any_name_add_up(store, capsys, by, rows):
    found = asked(store, capsys, "--by", by)
    assert {row[by]: row["energy_j"] for row in found["rows"]} == pytest.approx(rows)
    assert all(row["key"] == row[by] for row in found["rows"])
    assert found["total_j"] == pytest.approx(TRUTH_J)
    assert sum(row["node_s"] for row in found["rows"]) == pytest.approx(34200)


def test_a_partition_gives_its_jobs_a_class_where_nobody_told_it(store, tmp_path, capsys):
    more(tmp_path, capsys, line("900", Partition="gpu", energy=9))
    found = asked(store, capsys, "--by", "class", "--class", "p=xeon")
    assert {row["key"]: (row["energy_j"], row["jobs"]) for row in found["rows"]} == {
        "xeon": (pytest.approx(TRUTH_J), 6), "": (9.0, 1)}
    assert any("tells the class of nodes: 1; --class" in remark for remark in found["remarks"])
    both = asked(store, capsys, "--by", "class", "--class", "p=xeon", "--class", "gpu=xeon")
    assert [(row["class"], row["jobs"]) for row in both["rows"]] == [("xeon", 7)]
    assert "--class needs --by class" in refused(
        capsys, "account", "show", "--store", store, "--class", "p=x")


def test_a_views_file_gives_each_node_its_class(store, tmp_path, capsys):
    more(tmp_path, capsys, line("900", Partition="gpu", NodeList="n9", energy=9))
    views = tmp_path / "views.toml"
    views.write_text("""[views.rack]
keys = [{ name = "node_class", type = "text" }]
entities = [{ name = "r1", type = "rack" },
            { name = "n1", type = "node", parent = "r1", node_class = "old" },
            { name = "n2", type = "node", parent = "r1", node_class = "new" }]
""")
    found = asked(store, capsys, "--by", "class", "--views", views, "--class", "gpu=h100")
    by_node = {row["key"]: row["energy_j"] for row in asked(store, capsys, "--by", "node")["rows"]}
    assert {row["key"]: row["energy_j"] for row in found["rows"]} == pytest.approx(
        {"old": by_node["n1"], "new": by_node["n2"], "h100": 9.0})
    assert {row["key"]: row["jobs"] for row in found["rows"]}["h100"] == 1
    assert any("divided among its nodes alike" in remark for remark in found["remarks"])
    views.write_text(views.read_text().replace("node_class", "model"))
    assert "no view says of which class its nodes are" in refused(capsys, "account", "show",
                                                                  "--store", store, "--by", "class",
                                                                  "--views", views)


@pytest.mark.parametrize(("words", "energy_j"), [
    (("-j", "200"), 1.62e6), (("-j", "400.0"), 0.8e6), (("-j", "400,400.0"), 3.5e6),
    (("-j", "100,500"), 5.91e6), (("-u", "bob"), 0.0), (("-u", "ann", "-A", "phys"), TRUTH_J),
    (("-A", "phys", "-u", "bob"), 0.0), (("-M", "c", "-j", "500"), 0.15e6),
    # Job 100 runs from 10 to 11: half of its hour.
    (("-j", "100", "-S", "2026-10-05T10:30"), 2.88e6),
    (("-j", "100", "-S", "2026-10-05T12:30+02:00", "-E", "2026-10-05T10:45"), 1.44e6),
    (("-S", "2026-10-06"), 0.0), (("-E", "2026-10-06"), TRUTH_J),
])
def test_conditions_hold_together(store, capsys, words, energy_j):
    found = asked(store, capsys, "--by", "user", "--zone", "UTC", *words)
    assert found["total_j"] == pytest.approx(energy_j)
    assert sum(row["energy_j"] for row in found["rows"]) == pytest.approx(energy_j)


@pytest.mark.parametrize("words", [
    ("account", "show"), ("account", "bill", "--period", "2026-10"), ("account", "job", "100"),
    ("energy", "metered", "--energy", "1kWh", "--start", "2026-10-05"),
])
def test_a_cluster_that_is_not_there_is_refused_with_those_that_are(store, capsys, words):
    said = refused(capsys, *words, "--store", store, "-M", "nosuch")
    assert "-M: the ledger has no cluster 'nosuch'; it has 'c'" in said


def test_users_and_accounts_that_no_job_has_are_said(store, capsys):
    found = asked(store, capsys, "--by", "user", "-u", "ann,nosuch", "-A", "phys,chem")
    assert found["total_j"] == TRUTH_J
    assert [remark for remark in found["remarks"] if "no job of the ledger" in remark] == [
        "-u: no job of the ledger is of user 'nosuch'",
        "-A: no job of the ledger is of account 'chem'"]


def test_jobs_go_by_what_slurm_prints(store, tmp_path, capsys):
    more(tmp_path, capsys, line("300_1", JobIDRaw="305", energy=5), line("12+0", energy=7),
         line("12+1", energy=8, JobIDRaw="13"), line("3001", energy=9))
    for job, energy_j in (("300_1", 5), ("305", 5), ("12", 15), ("12+1", 8), ("13", 8),
                          ("3001", 9), ("300", 0.7e6 + 5)):
        assert asked(store, capsys, "-j", job, "--by", "user")["total_j"] == energy_j, job
    assert "'x' is not a job" in refused(capsys, "account", "show", "--store", store, "-j", "x")


def test_jobs_are_listed_like_sacct_with_unknown_joules_empty(store, capsys):
    out = ok(capsys, "account", "show", "--store", store, "-X", "-P", "-n", "-o",
             "jobid,state,end,consumedenergyraw")
    lines = out.splitlines()
    assert "600|FAILED|2026-10-05T11:00:00|" in lines
    assert "300|RUNNING|Unknown|700000" in lines
    assert [each for each in lines if each.startswith("200|")] == [
        "200|REQUEUED|2026-10-05T10:30:00|540000", "200|COMPLETED|2026-10-05T11:50:00|1080000"]


def test_steps_have_their_own_states_and_lives_count_their_restarts(store, tmp_path, capsys):
    more(tmp_path, capsys, line("200", "FAILED", start="12:00", end="12:10"))
    out = ok(capsys, "account", "show", "--store", store, "-j", "200,400", "-P", "-n", "-o",
             "jobid,state,restarts")
    lines = out.splitlines()
    assert "200|REQUEUED|0" in lines
    assert "200|COMPLETED|1" in lines
    assert "200|FAILED|2" in lines
    assert "400|NODE_FAIL|0" in lines
    assert "400.batch|CANCELLED|" in lines
    assert "400.1|NODE_FAIL|" in lines
    assert "400.0|COMPLETED|" in lines


def test_times_are_printed_in_the_zone_with_its_offset_or_said_to_be_utc(store, capsys):
    words = ("account", "show", "--store", store, "-j", "100", "-X", "-n", "-o", "start,end")
    _, out, err = call(capsys, *words, "-P")
    assert out == "2026-10-05T10:00:00|2026-10-05T11:00:00\n"
    assert "times are printed in UTC" in err
    _, out, err = call(capsys, *words, "--zone", "Europe/Berlin")
    assert out.split() == ["2026-10-05T12:00:00+02:00", "2026-10-05T13:00:00+02:00"]
    assert "UTC" not in err


def test_a_step_that_is_asked_for_chooses_only_jobs_that_have_it(store, tmp_path, capsys):
    more(tmp_path, capsys, line("12+0", Account="bio"), line("12+0.0", energy=7),
         line("12+1", Account="chem"), line("12+1.batch", energy=8), line("12+2"))
    found = asked(store, capsys, "-j", "12.0", "--by", "account")
    assert [(row["account"], row["jobs"]) for row in found["rows"]] == [("bio", 1)]
    assert (found["total_j"], found["jobs"]) == (7.0, 1)


def test_bare_options_mean_show_and_a_run_stays_a_run(store, tmp_path, capsys):
    assert json.loads(ok(capsys, "account", "--store", store, "--by", "user",
                         "--json"))["total_j"] == TRUTH_J
    run = rundir.write(fcfs_run(some_jobs(8)), tmp_path / "run")
    ok(capsys, "account", run, "--store", store)
    _, out, err = call(capsys, "account", "--store", store, "--by", "user", "--json")
    assert json.loads(out)["run"] == "run"
    assert "this is the last run, `wattline account show` is of the measured jobs" in err
    _, out, err = call(capsys, "account", "show", "--store", store, "--by", "user", "--json")
    assert json.loads(out)["total_j"] == TRUTH_J
    assert "--run-name NAME is of a run" in err
    assert "goes with measured jobs" in refused(capsys, "account", "show", run, "--by", "node")
    assert "account bill" in refused(capsys, "account", "show", "--store", store, "--price", "1")


CROSSING = line("77", nodes="n9", tres="energy=7200000", ElapsedRaw=7200, Account="bio",
                Start="2026-10-31T23:30:00", End="2026-11-01T01:30:00")


def test_a_bill_cuts_jobs_at_the_ends_of_its_period(store, tmp_path, capsys):
    more(tmp_path, capsys, CROSSING)
    october, november = (asked(store, capsys, "--period", period, "--zone", "UTC",
                               command="bill") for period in ("2026-10", "2026-11"))
    owed = {row["account"]: row["energy_j"] for row in october["accounts"]}
    assert owed == pytest.approx({"phys": TRUTH_J, "bio": 1.8e6})
    assert [row["energy_j"] for row in november["accounts"]] == pytest.approx([5.4e6])
    assert any("power is taken as even" in remark for remark in october["remarks"])
    # In Berlin November begins an hour earlier, as the job has run for none of it.
    berlin = asked(store, capsys, "--period", "2026-10", "--zone", "Europe/Berlin",
                   command="bill")
    assert {row["account"] for row in berlin["accounts"]} == {"phys"}


def test_periods_as_people_write_them_are_the_same_seconds(store, tmp_path, capsys):
    more(tmp_path, capsys, CROSSING)
    for period, energy_j in (("2026-Q4", TRUTH_J + 7.2e6), ("2026", TRUTH_J + 7.2e6),
                             ("2026-10-05", TRUTH_J), ("2026-10-05..2026-10-31", TRUTH_J + 1.8e6),
                             ("2026-11-01T00:00..2026-11-01T01:00", 3.6e6), ("2026-09", 0.0)):
        found = asked(store, capsys, "--period", period, "--zone", "UTC", command="bill")
        assert found["jobs_j"] == pytest.approx(energy_j), period


@pytest.mark.parametrize("period", ["2026-13", "October", "2026-10-05T08:00", "2026-10..2026-09",
                                    "2026-02-30", "..", "99999", "2026-10-05T08:00.."])
def test_a_period_that_is_none_is_refused(store, capsys, period):
    assert "write" in refused(capsys, "account", "bill", "--store", store, "--period", period)


def test_a_bill_charges_joules_at_the_price_of_their_time(store, tmp_path, capsys):
    more(tmp_path, capsys, CROSSING)
    prices = tmp_path / "p.csv"
    prices.write_text("Datetime (UTC),Price (EUR/kWh)\n2026-10-01 00:00,0.1\n"
                      "2026-11-01 00:00,0.2\n2026-11-01 01:00,0.4\n2026-11-01 02:00,0.4\n")
    found = asked(store, capsys, "--period", "2026-Q4", "--price", prices, "--carbon", "300",
                  "--zone", "UTC", command="bill")
    bio = next(row for row in found["accounts"] if row["account"] == "bio")
    # 0.5 kWh at 0.1, 1 kWh at 0.2, 0.5 kWh at 0.4
    assert bio["money"] == pytest.approx(0.05 + 0.2 + 0.2)
    assert bio["carbon_g"] == pytest.approx(600)
    assert found["currency"] == "EUR"
    assert found["money"] == pytest.approx(0.45 + TRUTH_J / 3.6e6 * 0.1)
    with_pue = asked(store, capsys, "--period", "2026-Q4", "--price", prices, "--pue", "1.5",
                     "--zone", "UTC", command="bill")
    assert with_pue["money"] == pytest.approx(1.5 * found["money"])
    assert with_pue["overhead_j"] == pytest.approx(0.5 * found["jobs_j"])


def test_a_bill_without_meters_says_so(store, capsys):
    found = asked(store, capsys, "--period", "2026-10", command="bill")
    assert (found["metered_j"], found["idle_j"], found["residual"]) == (None, None, None)
    assert any("nothing was metered" in remark for remark in found["remarks"])


def test_a_bill_closes_to_the_meter(store, capsys):
    start_s = 1_791_194_400.0  # 2026-10-05T10:00 UTC
    with Store(store) as opened:
        opened.insert(rests, [
            {"cluster": "c", "entity": entity, "start_s": start_s, "end_s": start_s + 3600,
             "metered_j": metered_j, "covered_s": 3600.0, "filled_j": 0.0, "idle_j": idle_j,
             "unattributed_j": lost_j} for entity, metered_j, idle_j, lost_j in
            (("n1", 8e6, 1e6, 0.0), ("n2", 6.73e6, 1.5e6, 0.5e6), ("n2/gpu0", 1e6, 0.0, 0.0),
             ("feed", 20e6, 0.0, 0.0))])
    words = ("--period", "2026-10-05", "--zone", "UTC", "--meter")
    found = asked(store, capsys, *words, "feed", "--pue", "1.2", command="bill")
    assert (found["metered_j"], found["idle_j"], found["unattributed_j"]) == (20e6, 2.5e6, 0.5e6)
    assert found["overhead_j"] == pytest.approx(0.2 * 14.73e6)
    assert found["residual"] == pytest.approx((20e6 - 1.2 * 14.73e6) / 20e6)
    assert found["accounts"][0]["idle_share_j"] == 2.5e6
    said = ok(capsys, "account", "bill", "--store", store, *words, "feed")
    assert "meter 5.556 kWh (feed), residual 26.350%" in said
    assert columns(said, "account", "jobs", "energy", "coverage", "idle share") == [
        ("phys", "6", "3.258 kWh", "89.5%", "100.0%")]
    assert "no joules of a meter 'x'" in refused(capsys, "account", "bill", "--store", store,
                                                 *words, "x")
    half = asked(store, capsys, "--period", "2026-10-05T10:30..2026-10-05T12:00", "--zone", "UTC",
                 "--meter", "feed", command="bill")
    assert half["idle_j"] == 1.25e6


def test_a_job_is_shown_with_steps_nodes_and_power(store, tmp_path, capsys):
    found = asked(store, capsys, "400", command="job")
    (life,) = found["lives"]
    assert (life["source"], life["state"], life["coverage"]) == ("slurm steps", "NODE_FAIL", 1.0)
    assert {row["step"]: row["energy_j"] for row in life["steps"]} == {
        "batch": 1.5e6, "0": 0.8e6, "1": 1.6e6}
    assert {row["node"]: row["energy_j"] for row in life["nodes"]} == {"n1": 1.5e6, "n2": 2e6}
    assert sum((last - first) * watts for first, last, watts in life["power"]) == pytest.approx(
        3.5e6)
    shown = ok(capsys, "account", "job", "400", "--store", store, "--plot", tmp_path / "j.svg")
    assert "█" in shown
    assert "quality told by Slurm for steps" in shown
    assert columns(shown, "step", "energy", "source") == [
        ("0", "222.2 Wh", "slurm steps"), ("batch", "416.7 Wh", "slurm steps"),
        ("1", "444.4 Wh", "slurm steps")]
    assert (tmp_path / "j.svg").stat().st_size > 1000
    assert len(asked(store, capsys, "200", command="job")["lives"]) == 2
    assert "has no job 99" in refused(capsys, "account", "job", "99", "--store", store)


def test_python_gives_what_the_commands_print(dump, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wl.WattlineWarning)
        imported = wl.account_import(dump, store=str(tmp_path / "s.db"), zone="UTC")
        assert imported.energy_j == TRUTH_J
        shown = wl.account_show(str(tmp_path / "s.db"), by="node")
        assert shown.to_pandas()["energy_j"].sum() == pytest.approx(TRUTH_J)
        bill = wl.account_bill(str(tmp_path / "s.db"), "2026-10", price=0.3)
        assert bill.to_pandas()["money"].sum() == pytest.approx(TRUTH_J / 3.6e6 * 0.3)
        assert len(wl.account_job(400, str(tmp_path / "s.db")).to_pandas()) == 2


def test_a_store_that_is_not_there_is_not_made(tmp_path, capsys):
    for words in (("show", "--by", "user"), ("bill", "--period", "2026"), ("job", "1")):
        said = refused(capsys, "account", *words, "--store", tmp_path / "no.db")
        assert "there is no store" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["", "rubbish\n", "{", '{"jobs": 1}', "a|b\n1|2\n", HEAD[:-9],
                                  HEAD + "\n" + DUMP[0][:-30]])
def test_a_file_that_is_none_changes_nothing(store, tmp_path, capsys, text):
    before = asked(store, capsys, "--by", "user")
    bad = tmp_path / "bad"
    bad.write_text(text)
    refused(capsys, "account", "import", bad, "--store", store)
    refused(capsys, "account", "import", bad, "--store", tmp_path / "new.db")
    assert not (tmp_path / "new.db").exists()
    assert asked(store, capsys, "--by", "user") == before


def test_what_was_entered_before_a_bad_file_is_said(dump, tmp_path, capsys):
    (tmp_path / "bad").write_text("{")
    said = refused(capsys, "account", "import", dump, tmp_path / "bad", "--store",
                   tmp_path / "s.db")
    assert f"before it were entered: {dump}" in said


def test_hostile_names_are_one_line_each_and_change_no_joules(tmp_path, capsys):
    names = ["o'b\"r", "a,b", "x\0y", "<script>", "=1+1", "'); DROP TABLE measured_life; --",
             "\x1b[31m", "ü" * 300, "%s{0}", "\\"]
    more(tmp_path, capsys, *(line(str(number), User=name, energy=number + 1)
                             for number, name in enumerate(names)))
    found = asked(tmp_path / "s.db", capsys, "--by", "user")
    assert found["total_j"] == sum(range(1, len(names) + 1))
    assert {row["user"] for row in found["rows"]} >= {"o'b\"r", "a,b", "<script>", "=1+1", "x y"}
    shown = ok(capsys, "account", "show", "--store", tmp_path / "s.db", "--by", "user")
    assert len(shown.splitlines()) == len(names) + 3
    assert "\x1b" not in shown
    assert asked(tmp_path / "s.db", capsys, "--by", "user", "-u", "o'b\"r")["total_j"] == 1


def test_inserting_nothing_is_possible(tmp_path, capsys):
    more(tmp_path, capsys)
    assert asked(tmp_path / "s.db", capsys, "--period", "2026", command="bill")["accounts"] == []


def test_the_commands_of_the_page_work_one_after_the_other(tmp_path, capsys, monkeypatch):
    page = (Path(__file__).parents[3] / "docs" / "accounting.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sacct.txt").write_text("\n".join([HEAD, line("12345", Cluster="alpha",
                                                              energy=36e5)]) + "\n")
    commands = [shlex.split(each)[1:] for each in page.split("```")[1].strip().splitlines()]
    said = [ok(capsys, *words) for words in commands]
    assert len(said) == 5
    assert columns(said[1], "account", "jobs", "node hours", "energy", "share", "coverage") == [
        ("phys", "1", "1", "1 kWh", "100.0%", "100.0%")]
    assert "phys        1  1 kWh" in said[2]
    assert (tmp_path / "power.svg").is_file()


def test_a_price_table_of_another_time_and_a_zone_that_is_none_are_refused(store, tmp_path, capsys):
    words = ("account", "bill", "--store", store, "--period", "2026-10")
    prices = tmp_path / "p.csv"
    prices.write_text("Datetime (UTC),Price (EUR/kWh)\n2025-01-01 00:00,1\n2025-01-01 01:00,1\n")
    assert "has nothing of this period" in refused(capsys, *words, "--price", prices)
    prices.write_text("time_s,Price (EUR/kWh)\n0,1\n3600,1\n")
    assert "its times are no dates" in refused(capsys, *words, "--price", prices)
    assert "there is no zone 'Mars'" in refused(capsys, *words, "--zone", "Mars")
    assert "is below 1" in refused(capsys, *words, "--pue", "0.5")


def test_power_over_time_adds_up_nodes_and_keeps_gaps():
    rows = [(0.0, 10.0, 100.0), (0.0, 10.0, 50.0), (5.0, 10.0, 25.0), (20.0, 30.0, 0.0)]
    assert power_over_time(rows) == [(0.0, 5.0, 15.0), (5.0, 10.0, 20.0), (20.0, 30.0, 0.0)]
    assert sparkline([(0.0, 5.0, 10.0), (10.0, 20.0, 20.0)], width=4) == "▄ ██"


def test_watts_at_the_ends_of_a_gap_are_those_of_the_time_that_was_seen(tmp_path):
    (tmp_path / "dump.txt").write_text(
        "JobID|User|State|Start|End|NNodes|NodeList\n"
        "7|ann|COMPLETED|2026-10-05T10:00:00|2026-10-05T14:00:00|1|n1\n")
    begin_s = 1791194400  # at 10, and the meter is silent from 11:05 to 12:50
    samples = [f"{begin_s + 60 * minute},n1,200" for minute in range(240)
               if not 65 <= minute < 170]
    (tmp_path / "power.csv").write_text("\n".join(["time,node,watts", *samples, ""]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("dump.txt", "power.csv"):
            wl.account_import(tmp_path / name, store=tmp_path / "s.db", zone="UTC")
        [life] = wl.account_job(7, tmp_path / "s.db").lives
    assert 0.5 < life["coverage"] < 0.6
    assert {round(watts) for _, _, watts in life["power"]} == {200}
