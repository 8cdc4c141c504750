"""Prices with dates beside a log with dates: accounts, budgets and pages go by the dates of both.

The log's second 0 is on 4 March 2025 at 8:00, its first submission an hour later. Each of two jobs
draws 100 W above the idle 100 W of its node for an hour: one from 9:00, one from 11:00.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.asking import Asking

import wattline as wl
from wattline.cli.main import cli
from wattline.model.errors import InputError
from wattline.web.app import create_app
from wattline.web.sources.run_folder import open_run_folder

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")

HEAD = "Datetime (UTC),Price (EUR/kWh)\n"
DAYS = "2025-03-01T00:00:00,7\n2025-03-04T09:00:00,1\n2025-03-04T11:00:00,3\n"
"""Of the first hour 1, of the other 3; 7 whoever takes the first row for the beginning."""
TWO_YEARS_EARLIER = "2023-03-04T00:00:00,1\n2023-03-04T02:00:00,3\n2023-03-04T04:00:00,5\n"
KWH = 0.2
"""Of each job."""
AT_8 = 1741075200


def write_log(path: Path, unix_start: int | None = AT_8, clock_s: int = 0) -> Path:
    header = "" if unix_start is None else f"; UnixStartTime: {unix_start}\n"
    path.write_text(header + "".join(
        f"{number} {clock_s + submit_s} -1 3600 1 -1 -1 1 3600 -1 1 1 1 1 1 1 -1 -1\n"
        for number, submit_s in ((1, 3600), (2, 10800))))
    return path


def write_prices(path: Path, rows: str = DAYS) -> str:
    path.write_text(HEAD + rows)
    return str(path)


def folder_of(log: Path) -> Path:
    machine = wl.Machine(nodes=1, node_idle_w=100, node_active_w=200)
    return wl.simulate(log, machine=machine).save(log.with_suffix(""))


@pytest.mark.parametrize(("unix_start", "clock_s"), [(AT_8, 0), (None, AT_8)])
def test_a_run_is_charged_by_the_dates_of_its_log(
    tmp_path: Path, unix_start: int | None, clock_s: int
) -> None:
    folder = folder_of(write_log(tmp_path / "log.swf", unix_start, clock_s))
    found = wl.account_run(folder, price=write_prices(tmp_path / "p.csv"))
    assert found.cost == pytest.approx(KWH * 1 + KWH * 3)
    assert found.price_notes[0].endswith("the first submission is at 2025-03-04T09:00:00")


def test_who_is_asked_for_does_not_move_the_table(tmp_path: Path) -> None:
    folder = folder_of(write_log(tmp_path / "log.swf", None))
    prices = write_prices(tmp_path / "p.csv", TWO_YEARS_EARLIER)
    found = wl.account_run(folder, price=prices, jobs=[2])
    assert found.cost == pytest.approx(KWH * 3)


@pytest.mark.parametrize(("unix_start", "said"), [
    (AT_8, "has no time in common with the log (2025-03-04T09:00:00 to 2025-03-04T11:00:00): its "),
    (None, "has dates and the log has none: its "),
    (0, "has dates and the log has none: its "),
])
def test_other_dates_begin_with_the_first_submission(
    tmp_path: Path, unix_start: int | None, said: str
) -> None:
    folder = folder_of(write_log(tmp_path / "log.swf", unix_start))
    prices = write_prices(tmp_path / "p.csv", TWO_YEARS_EARLIER)
    found = wl.account_run(folder, price=prices)
    assert found.cost == pytest.approx(KWH * 1 + KWH * 3)
    assert said + "first row (2023-03-04T00:00:00) is taken for the first submission; " \
        "--price-start DATE says otherwise" in found.price_notes[0]
    told = wl.account_run(folder, price=prices, price_start="2023-03-04T02:00:00")
    assert told.cost == pytest.approx(KWH * 3 + KWH * 5)
    assert not any("first row" in note for note in told.price_notes)


def test_the_last_row_of_a_table_holds_as_long_as_the_one_before(tmp_path: Path) -> None:
    """The log begins an hour after the last row, or half an hour: only then it is in the table."""
    folder = folder_of(write_log(tmp_path / "log.swf"))
    for rows, by_dates in (("2025-03-04T07:00:00,1\n2025-03-04T08:00:00,3\n", False),
                           ("2025-03-04T07:30:00,1\n2025-03-04T08:30:00,3\n", True)):
        found = wl.account_run(folder, price=write_prices(tmp_path / "p.csv", rows))
        assert ("no time in common" not in found.price_notes[0]) == by_dates
        if by_dates:
            assert found.cost == pytest.approx(KWH * 3 * 2)
            assert "its last value stands for the rest" in "".join(found.price_notes)


def test_a_table_that_begins_within_the_log_is_refused(tmp_path: Path) -> None:
    folder = folder_of(write_log(tmp_path / "log.swf"))
    late = write_prices(tmp_path / "p.csv", "2025-03-04T10:00:00,1\n2025-03-04T11:00:00,3\n")
    with pytest.raises(InputError, match=r"begins at 2025-03-04T10:00:00, after .* price_start"):
        wl.account_run(folder, price=late)
    with pytest.raises(InputError, match=r"after the beginning of .*; add what holds before$"):
        open_run_folder(folder, price=late)


def test_a_ledger_keeps_the_dates_of_a_log(tmp_path: Path) -> None:
    """Also of runs that were entered before, unless somebody said another date."""
    from wattline.account.ledger import Ledger
    from wattline.account.store import Store

    folder, store = folder_of(write_log(tmp_path / "log.swf")), f"sqlite:///{tmp_path / 'a.db'}"
    prices = write_prices(tmp_path / "p.csv")
    assert wl.account_run(folder, store=store).run["epoch_s"] == AT_8
    with Store(store) as opened:
        Ledger(opened).set_epoch("log", 0.0)  # as earlier versions entered it
    assert wl.account_run(folder, store=store).run["epoch_s"] == AT_8
    assert wl.account_run(None, store=store, price=prices).cost == pytest.approx(KWH * 4)
    assert wl.account_run(folder, store=store, epoch_s=AT_8 + 7200).run["epoch_s"] == AT_8 + 7200
    moved = wl.account_run(folder, store=store, price=prices)
    assert moved.cost == pytest.approx(KWH * 3 + KWH * 3)


def test_an_epoch_gives_a_log_without_dates_its_own(tmp_path: Path) -> None:
    folder = folder_of(write_log(tmp_path / "log.swf", None))
    found = wl.account_run(folder, epoch_s=AT_8, price=write_prices(tmp_path / "p.csv"))
    assert found.cost == pytest.approx(KWH * 4)


def test_a_trial_of_a_budget_goes_by_the_dates_of_its_log(tmp_path: Path) -> None:
    log, prices = write_log(tmp_path / "log.swf"), write_prices(tmp_path / "p.csv")
    machine = wl.Machine(nodes=1, node_idle_w=100, node_active_w=200)
    asked = {"machine": machine, "period": "3h", "price": prices}
    for given in (log, wl.read(log)):
        found = wl.try_budget("2kWh", trace=given, **asked)
        # From 9:00 to 12:00: 2 hours at 1, of which one with a job, and one at 3 with a job.
        assert found.runs["no limit"]["cost"] == pytest.approx(0.2 + 0.1 + 0.2 * 3)
        assert any("the first submission is at 2025-03-04T09:00:00" in line
                   for line in found.remarks)
    told = wl.try_budget("2kWh", trace=log, start="2025-03-01T00:00:00", **asked)
    assert told.runs["no limit"]["cost"] == pytest.approx(7 * 0.5)


def test_a_plan_says_where_its_table_begins(tmp_path: Path) -> None:
    machine = wl.Machine(nodes=1, node_idle_w=100, node_active_w=200)
    prices = write_prices(tmp_path / "p.csv")
    plan = wl.plan_energy("4kWh", machine=machine, period="1d", price=prices)
    assert any("first row is taken for the beginning" in line for line in plan.remarks)
    told = wl.plan_energy("4kWh", machine=machine, period="1d", price=prices, start="2025-03-02")
    assert told.remarks == ()


@pytest.mark.parametrize(("rows", "amount", "said"), [
    (DAYS, KWH * 4, "the first submission is at 2025-03-04T09:00:00"),
    (TWO_YEARS_EARLIER, KWH * 4, "(2023-03-04T00:00:00) is taken for the first submission"),
])
def test_pages_of_a_run_go_by_the_dates_of_its_log(
    tmp_path: Path, rows: str, amount: float, said: str
) -> None:
    folder = folder_of(write_log(tmp_path / "log.swf"))
    source = open_run_folder(folder, price=write_prices(tmp_path / "p.csv", rows))
    app = Asking(create_app(source))
    *of_jobs, idle = app.get("/api/bill")["lines"]
    assert idle["name"] == "idle nodes"
    assert sum(line["amount"] for line in of_jobs) == pytest.approx(amount)
    assert any(said in line for line in app.get("/api/about")["assumptions"])


def test_the_command_prints_the_dates_of_the_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = folder_of(write_log(tmp_path / "log.swf"))
    cli(["account", str(folder), "-X", "--json"], standalone_mode=False)
    first = json.loads(capsys.readouterr().out)["jobs"][0]
    assert first["time"]["start"] == AT_8 + 3600
