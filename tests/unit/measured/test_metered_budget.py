"""A budget beside metered joules: every period has what its meters saw, and no joule twice."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner

import wattline as wl
from wattline.cli.main import cli

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
FIRST = datetime(2026, 10, 5, tzinfo=UTC)
KWH = 3.6e6


def hourly(path, watts_by_node, hours=48):
    """Node series of so many hours from the first day on."""
    lines = ["time,node,power_w"]
    for hour in range(hours):
        when = (FIRST + timedelta(hours=hour)).isoformat()
        lines += [f"{when},{node},{watts}" for node, watts in watts_by_node.items()]
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def store(tmp_path):
    """Two nodes for two days, together 500 W, beneath a feed that sees 550 W."""
    url = tmp_path / "site.db"
    for name, watts in (("nodes", {"n1": 300, "n2": 200}), ("feed", {"feed:A": 550})):
        wl.account_import(hourly(tmp_path / f"{name}.csv", watts), store=url, zone="UTC")
    return url


def drawn(store, **more):
    given = {"energy": "10kWh", "period": "1d", "start": "2026-10-05", "zone": "UTC"}
    return wl.energy_metered(store, **(given | more))


@pytest.mark.parametrize(("meter", "watts"), [("", 500), ("feed:A", 550)])
@pytest.mark.parametrize("period", ["1d", "5h", "7d"])
def test_periods_add_up_to_what_the_meters_saw(store, meter, watts, period):
    found = drawn(store, meter=meter, period=period)
    assert sum(row.drawn_j for row in found.periods) == pytest.approx(48 * watts / 1000 * KWH)
    assert found.source == (meter or "the nodes' meters")
    for before, after in zip(found.periods, found.periods[1:], strict=False):
        assert before.end_s == after.start_s


def test_what_a_period_leaves_is_lost_or_carried_on_but_never_what_it_lacks(store):
    lost, kept = (drawn(store, energy="11kWh", period="12h", unspent=how).periods
                  for how in ("expire", "carry"))
    assert [row.left_j / KWH for row in lost] == pytest.approx([5, 5, 5, 5])
    assert [row.left_j / KWH for row in kept] == pytest.approx([5, 10, 15, 20])
    over = drawn(store, energy="5kWh", period="12h", unspent="carry")
    assert [row.left_j / KWH for row in over.periods] == pytest.approx([-1, -1, -1, -1])
    assert [row.period for row in over.over] == [1, 2, 3, 4]


def test_a_period_that_goes_on_says_how_much_of_it_was_seen(store):
    first, second, third = drawn(store, period="20h").periods
    assert (first.seen, second.seen) == (1.0, 1.0)
    assert third.seen == pytest.approx(8 / 20)


def test_a_period_without_readings_is_no_period_without_joules(store, tmp_path):
    assert drawn(store).remarks == ()
    before = drawn(store, start="2026-10-03", end="2026-10-07")
    assert [row.drawn_j > 0 for row in before.periods] == [False, False, True, True]
    assert "in 2 of 4 periods, which may have drawn more than is told: 1 (0%), 2 (0%)" in (
        before.remarks[0])
    wl.account_import(hourly(tmp_path / "more.csv", {"n3": 100}, hours=12), store=store, zone="UTC")
    assert "1 (83%), 2 (67%)" in drawn(store).remarks[0], "one of three nodes was seen for 12 h"


def test_without_meters_jobs_are_counted_and_that_is_said(tmp_path):
    dump = tmp_path / "sacct.txt"
    dump.write_text("JobID|State|Start|End|NNodes|NodeList|AllocTRES\n7|COMPLETED|"
                    "2026-10-05T23:00:00|2026-10-06T01:00:00|1|n1|energy=7200000\n")
    wl.account_import(dump, store=tmp_path / "site.db", zone="UTC")
    found = drawn(tmp_path / "site.db")
    assert [row.drawn_j for row in found.periods] == [3.6e6, 3.6e6]
    assert found.source == "jobs"
    assert "not what nodes drew without one" in found.remarks[0]


@pytest.mark.parametrize(("words", "said"), [
    (("--energy", "0", "--start", "2026-10-05"), "joules above 0"),
    (("--energy", "1kWh", "--start", "2027-01-01"), "no joules were measured after"),
    (("--energy", "1kWh", "--start", "then"), "is no date"),
    (("--energy", "1kWh", "--start", "2026-10-05", "--meter", "feed:B"), "meter 'feed:B'"),
    (("--energy", "1kWh", "--start", "2000-01-01", "--period", "1m"), "more than 10,000"),
])
def test_what_cannot_be_asked_is_refused_in_one_line(store, words, said):
    result = CliRunner().invoke(cli, ["energy", "metered", "--store", str(store), "--zone", "UTC",
                                      *words])
    assert said in str(result.exception)


def test_the_command_names_the_periods_that_drew_more(store):
    words = ["energy", "metered", "--store", str(store), "--energy", "10kWh", "--period", "1d",
             "--start", "2026-10-05", "--zone", "UTC"]
    said = CliRunner().invoke(cli, words, catch_exceptions=False).stdout
    assert "2026-10-05 00:00+00:00" in said
    found = json.loads(CliRunner().invoke(cli, [*words, "--json"]).stdout)
    assert found["over"] == [1, 2]
    assert found["excess_j"] == pytest.approx(4 * KWH)
