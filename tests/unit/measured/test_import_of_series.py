"""`account import` of what meters told: whose joules they are, and what had to be mended."""

import json
from itertools import permutations

import pytest
from tests.support.commands import call, ok, refused
from tests.support.measured import rows_of
from tests.unit.measured.test_from_sacct import HEAD, line

import wattline as wl
from wattline.account.store import Store

T0 = 1_791_194_400  # 2026-10-05T10:00 UTC
JOBS = [line("1", nodes="n1", tres="cpu=8,gres/gpu=1"), line("2", nodes="n2", Account="bio"),
        line("3", nodes="n3", energy=5)]


def power(*rows):
    return "\n".join(["time,node,watts", *(f"{time},{node},{watts}" for time, node, watts in rows),
                      ""])


def steady(node, watts, first=0, last=120):
    """A sample each minute, from one minute after ten to another."""
    return [(T0 + 60 * minute, node, watts) for minute in range(first, last)]


FILES = {
    "jobs": "\n".join([HEAD, *JOBS, ""]),
    "n1": power(*steady("n1", 100)),
    "n2": power(*steady("n2", 200, last=45)),
    "feed": power(*steady("feed:A", 500)),
}


@pytest.fixture
def imported(tmp_path, capsys):
    def enter(*names, store="s.db", **texts):
        for name, text in {**FILES, **texts}.items():
            (tmp_path / name).write_text(text)
        status, out, err = call(capsys, "account", "import", *(tmp_path / name for name in names),
                                "--store", tmp_path / store, "--zone", "UTC", "--cluster", "c",
                                "--json")
        assert status == 0, err
        return json.loads(out)

    return enter


def test_series_alone_say_which_jobs_they_touched_and_what_nobody_held(imported, tmp_path, capsys):
    imported("jobs")
    found = imported("n1", "n2")
    assert (found["jobs"], found["lives"], found["new"]) == (2, 2, 0)
    assert found["energy_j"] == 100 * 3600 + 200 * 2700
    assert found["coverage"] == pytest.approx((3600 + 2700) / 7200)
    assert (found["rows"], found["samples"], found["new_samples"]) == (2, 165, 165)
    assert (found["metered_j"], found["idle_j"], found["unattributed_j"]) == (
        100 * 7200 + 200 * 2700, 100 * 3600, 0)
    again = imported("n1", "n2")
    assert again["new_samples"] == 0
    assert {**again, "new_samples": 165, "files": 0} == {**found, "files": 0}
    table = ok(capsys, "account", "import", tmp_path / "n1", "--store", tmp_path / "s.db",
               "--cluster", "c")
    assert "of it idle, held by no job  100 Wh" in table


def test_series_before_their_jobs_are_nobodys_until_these_come(imported):
    before = imported("n1")
    assert (before["jobs"], before["coverage"], before["idle_j"]) == (0, None, 100 * 7200)
    after = imported("jobs")
    assert (after["jobs"], after["energy_j"]) == (3, 100 * 3600 + 5)


@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.long)])
def test_jobs_and_series_in_any_order_give_the_same_rows_and_bills(
    imported, tmp_path, capsys, every
):
    seen = set()
    for number, order in enumerate([*permutations(FILES)][::every]):
        store = tmp_path / f"{number}.db"
        for name in (*order, order[0]):
            imported(name, store=store.name)
        said = [ok(capsys, "account", *words, "--store", store, "--zone", "UTC", "--json")
                for words in (("show", "--by", "node"), ("bill", "--period", "2026-10"))]
        with Store(store) as opened:
            seen.add((str(rows_of(opened)), *said))
    assert len(seen) == 1


def test_what_was_mended_and_assumed_of_series_is_said(imported, tmp_path, capsys):
    imported("jobs")
    wrong = power(*steady("n1", 100), (T0, "n1", 120), (T0 + 60, "n2", -5), *steady("n2", 7, 2),
                  (T0 + 30, "n1", 2e5))
    gpus = "time,node,gpu,watts\n" + "".join(f"{T0 + 60 * at},n1,0,50\n" for at in range(60))
    found = imported("wrong", "gpus", "feed", wrong=wrong, gpus=gpus)
    assert found["mended"] == {"two values at one instant, the larger kept": 1,
                               "impossible values, taken as empty": 1}
    said = " ".join(found["remarks"])
    assert "n1: 1 readings that no hardware could draw" in said
    assert "which GPUs 1 jobs held is not told" in said
    assert "meters above nodes: feed:A" in said
    table = ok(capsys, "account", "import", tmp_path / "wrong", "--store", tmp_path / "new.db")
    assert "mended    impossible values, taken as empty" in table
    with pytest.warns(wl.WattlineWarning, match="no hardware could draw"):
        told = wl.account_import(tmp_path / "wrong", store=tmp_path / "py.db", cluster="c")
    assert told.mended == {"impossible values, taken as empty": 1,
                           "two values at one instant, the larger kept": 1}


def test_meters_and_jobs_under_two_names_of_a_cluster_are_said(imported, tmp_path, capsys):
    imported("jobs")
    _, _, err = call(capsys, "account", "import", tmp_path / "n1", "--store", tmp_path / "s.db")
    assert "the meters of cluster '' have no jobs there, and jobs are of 'c'" in err
    (tmp_path / "unnamed").write_text((tmp_path / "jobs").read_text().replace("|c|", "||"))
    _, _, err = call(capsys, "account", "import", tmp_path / "unnamed", "--store",
                     tmp_path / "s.db")
    assert "have no jobs there" not in err


VIEWS = """
[views.power]
keys = [{name = "power_w"}]
entities = [{name = "room"}, {name = "A", type = "pdu", parent = "room"},
            {name = "n[1-3]", type = "node", parent = "A"}]
[views.half]
bounds = [{used = "power_w", limit = "limit_w", share = "share"}]
keys = [{name = "power_w"}, {name = "limit_w"}, {name = "share"}]
entities = [{name = "feed:A"}, {name = "n1", type = "node", parent = "feed:A", share = 0.5}]
"""


def bill(tmp_path, capsys, *words):
    return call(capsys, "account", "bill", "--store", tmp_path / "s.db", "--period", "2026-10",
                "--zone", "UTC", *words)


def test_a_feed_closes_a_bill_only_where_it_is_named(imported, tmp_path, capsys):
    imported("jobs", "n1", "feed", "pdu", pdu=power(*steady("pdu:7", 10)))
    nodes = json.loads(bill(tmp_path, capsys, "--json")[1])
    assert (nodes["metered_j"], nodes["residual"]) == (100 * 7200, pytest.approx(-5 / 720000))
    assert any("not in this bill: feed:A, pdu:7;" in remark for remark in nodes["remarks"])
    # Job 3 runs on a node without a meter.
    assert any("no meter of their nodes: 1;" in remark for remark in nodes["remarks"])
    both = json.loads(bill(tmp_path, capsys, "--meter", "feed:A,pdu:7", "--json")[1])
    assert both["metered_j"] == 510 * 7200
    assert not any("not in this bill" in remark for remark in both["remarks"])


def test_views_show_what_was_assigned_beneath_each_meter(imported, tmp_path, capsys):
    imported("jobs", "n1", "n2", "feed", "pdu", pdu=power(*steady("pdu:7", 10)))
    (tmp_path / "views.toml").write_text(VIEWS)
    _, out, err = bill(tmp_path, capsys, "--views", tmp_path / "views.toml", "--json")
    power_row, half = json.loads(out)["views"]
    assigned_j = 100 * 7200 + 200 * 2700 + 5
    assert (power_row["entity"], power_row["nodes"], power_row["unmetered_nodes"]) == (
        "feed:A", 3, 1)
    assert (power_row["metered_j"], power_row["assigned_j"]) == (500 * 7200, assigned_j)
    assert power_row["difference_j"] == 500 * 7200 - assigned_j
    assert half["assigned_j"] == 0.5 * 100 * 7200
    assert "no view has pdu:7" in err
    assert "without a meter of their own: 1" in err
    assert "power  feed:A      3  1 kWh    100.0%    350 Wh" in bill(
        tmp_path, capsys, "--views", tmp_path / "views.toml")[1]


def test_a_node_without_a_meter_is_one_however_many_entities_have_it(imported, tmp_path, capsys):
    imported("jobs", "n1", "feed")
    (tmp_path / "views.toml").write_text(VIEWS.replace('"A", type', '"feed:A", type').replace(
        '{name = "n[1-3]", type = "node", parent = "A"}',
        '{name = "B", parent = "feed:A"}, {name = "n[1-3]", type = "node", parent = "B"}'))
    imported("more", more=power(*steady("pdu:B", 300)))
    _, _, err = bill(tmp_path, capsys, "--views", tmp_path / "views.toml")
    assert "without a meter of their own: 2;" in err
    words = ("--views", tmp_path / "views.toml", "--meter", "pdu:B,feed:A")
    status, _, err = bill(tmp_path, capsys, *words)
    assert status == 2
    assert "pdu:B lies beneath feed:A in view 'power'" in err
    assert "whether one lies beneath another is not known" in bill(
        tmp_path, capsys, "--meter", "pdu:B,feed:A")[2]


def test_a_feed_with_data_for_half_the_time_has_no_residual(imported, tmp_path, capsys):
    """Two hours at 100 W; the feed was seen for the first of them."""
    imported("n1", "half", half=power(*steady("feed:A", 100, last=60)))
    found = json.loads(bill(tmp_path, capsys, "--meter", "feed:A", "--json")[1])
    assert (found["metered_j"], found["residual"]) == (100 * 3600, None)
    assert any("feed:A has data for 50.0% of the time" in line for line in found["remarks"])
    (tmp_path / "views.toml").write_text(VIEWS)
    _, out, err = bill(tmp_path, capsys, "--views", tmp_path / "views.toml", "--json")
    row = json.loads(out)["views"][0]
    assert (row["coverage"], row["residual"]) == (0.5, None)
    assert "feed:A has data for 50.0%" in err
    imported("rest", rest=power(*steady("feed:A", 100, first=60)))
    found = json.loads(bill(tmp_path, capsys, "--meter", "feed:A", "--json")[1])
    assert found["residual"] == 0


def test_a_month_that_ends_at_half_past_is_cut_there(imported, tmp_path, capsys):
    """In Kolkata October ends at 18:30 UTC: 1000 W before it, 200 W after it, a job over both."""
    first = 1_793_469_600  # 2026-10-31T18:00 UTC
    rows = [(first + 60 * at, "n1", 1000 if at < 30 else 200) for at in range(60)]
    job = "\n".join([HEAD, line("9", nodes="n1", Start=first, End=first + 3600), ""])
    imported("job", "power", job=job, power=power(*rows))

    def told_j(period):
        words = ("account", "bill", "--store", tmp_path / "s.db", "--period", period, "--zone",
                 "Asia/Kolkata", "--json")
        found = json.loads(call(capsys, *words)[1])
        assert any("taken as even within an hour" in line for line in found["remarks"])
        return found["jobs_j"], found["metered_j"]

    assert told_j("2026-10") == (1_800_000, 1_800_000)
    assert told_j("2026-11") == (360_000, 360_000)


def test_prices_per_quarter_are_those_of_the_power_in_it(imported, tmp_path, capsys):
    """4 kW in the first quarter of the hour, at 1 EUR; nothing in the others, at 0 EUR."""
    imported("jobs", "quarter", quarter=power(*steady("n1", 4000, last=15),
                                              *steady("n1", 0, first=15, last=60)))
    days = [f"2026-10-{day:02}T{hour:02}:{15 * at:02}:00Z,{1.0 if at == 0 else 0.0}"
            for day in range(1, 32) for hour in range(24) for at in range(4)]
    (tmp_path / "prices.csv").write_text("\n".join(["Datetime (UTC),Price (EUR/kWh)", *days, ""]))
    found = json.loads(bill(tmp_path, capsys, "--price", tmp_path / "prices.csv", "--json")[1])
    assert found["money"] == pytest.approx(1.0, abs=1e-5)


def test_meters_that_slurm_contradicts_are_said_in_import_bill_and_job(imported, tmp_path, capsys):
    """A counter's reading of 65535 W among 100 W; Slurm told 360 kJ."""
    told = "\n".join([HEAD, line("1", nodes="n1", tres="energy=360000"), ""])
    odd = power(*steady("n1", 100), (T0 + 60 * 30, "n1", 65_535))
    found = imported("told", "odd", told=told, odd=odd)
    assert found["apart"] == 1
    table = ok(capsys, "account", "import", tmp_path / "odd", "--store", tmp_path / "s.db",
               "--cluster", "c")
    assert "jobs far from Slurm's own joules" in table
    said = (" ".join(found["remarks"]), bill(tmp_path, capsys)[2],
            call(capsys, "account", "job", "1", "--store", tmp_path / "s.db")[2])
    for each in said:
        assert "differ by more than 20%: 1; most job 1, measured 1.191 kWh, told 100 Wh" in each
        assert "10 times those before and after them, with 1.092 kWh" in each
    agreeing = told.replace("360000", "4286100")
    assert imported("told", "odd", told=agreeing, odd=odd, store="t.db")["apart"] == 0


def test_a_series_without_a_node_is_refused_with_its_file(imported, tmp_path, capsys):
    imported("jobs", "n1")
    before = bill(tmp_path, capsys, "--json")
    (tmp_path / "bad").write_text(power((T0, "", 5), (T0 + 60, "", 5)))
    said = refused(capsys, "account", "import", tmp_path / "bad", "--store", tmp_path / "s.db")
    assert f"{tmp_path / 'bad'}: a series needs the name of the node" in said
    assert bill(tmp_path, capsys, "--json") == before


def test_hostile_names_of_nodes_are_kept_or_refused_in_one_line(imported, tmp_path, capsys):
    odd = ["=1+1", "<script>", "'; DROP TABLE measured_rest; --", "%s{0}"]
    found = imported("odd", odd=power(*(row for name in odd for row in steady(name, 10, last=3))))
    assert found["metered_j"] == 4 * 10 * 180
    for name in ('"a\n\x1b[31mb"', "\u202ex", "n" * 300):
        (tmp_path / "bad").write_text(power(*steady(name, 10, last=3)))
        assert "cannot be printed" in refused(capsys, "account", "import", tmp_path / "bad",
                                              "--store", tmp_path / "s.db")
    assert "meter 2 Wh" in bill(tmp_path, capsys)[1]
