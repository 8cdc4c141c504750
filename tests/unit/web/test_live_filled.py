"""The live pages' racks, feeds, shares, configurations and prices, and why not."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.asking import Asking
from tests.unit.web.told_site import SITE, Site, asking, made

from wattline.advice.job_options import JobOption
from wattline.advice.measured import account_import
from wattline.controller.configuration import read_configuration
from wattline.controller.showing import read_machine
from wattline.model.errors import InputError
from wattline.web.app import create_app
from wattline.web.sources.live import LiveSource
from wattline.web.sources.live_alternatives import _option
from wattline.web.sources.live_basis import energy_parts, no_range, other_figures

pytestmark = pytest.mark.waits

PARTS = """racks = [{ name = "r1", nodes = "n[1,3]" }, { name = "r2", nodes = "n2" }]
feeds = [{ name = "A", nodes = "n[1-2]", limit_w = 500 }, { name = "B", nodes = "n[3-4]" }]
"""
DUMP = """JobID|JobName|User|Account|State|Submit|Start|End|NNodes|NodeList|AllocTRES
5|cfd|ann|physics|COMPLETED|{day}T09:00:00|{day}T10:00:00|{day}T11:00:00|1|n1|energy=720000
6|cfd|ann|physics|COMPLETED|{day}T09:00:00|{day}T11:00:00|{day}T11:30:00|2|n[3-4]|energy=900000
""".replace("{day}", "2026-10-05")


def with_ledger(source: LiveSource, folder: Path, dump: str = DUMP) -> Asking:
    (folder / "dump.txt").write_text(dump)
    account_import(folder / "dump.txt", store=folder / "ledger.db", zone="UTC")
    source.ledger.store = str(folder / "ledger.db")
    return Asking(create_app(source))


def test_racks_and_feeds_of_the_sites_file_have_their_watts(site: Site) -> None:
    site.file.write_text(SITE + PARTS)
    site.controller.cycle()
    live = asking(site)
    now = live.get("/api/now")
    assert [(part["name"], part["power_w"], part["cap_w"]) for part in now["by"]["feed"]] == [
        ("A", 600, 500), ("B", 180, None)]
    assert [(part["name"], part["power_w"]) for part in now["by"]["rack"]] == [
        ("r1", 390), ("r2", 300)]
    assert now["missing"] == {}
    assert "feed A draws 600 W, 100 W above what it may carry" in [
        alarm["text"] for alarm in now["alarms"]]
    racks = live.get("/api/racks")
    assert (racks["name"], racks["nodes"]) == (["r1", "r2", "(no rack)"], [2, 1, 1])
    # Rack by rack, so that the nodes of a rack are a page.
    assert live.get("/api/nodes")["names"] == ["n1", "n3", "n2", "n4"]
    assert live.get("/api/nodes", offset=2, limit=1)["job"] == ["7"]
    assert 'wattline_part_power_cap_watts{kind="feed",name="A"} 500.0' in live.ask(
        "GET", "/metrics").text


def test_what_the_site_does_not_say_is_said_to_be_missing(site: Site) -> None:
    site.controller.cycle()
    live = asking(site)
    missing = live.get("/api/now")["missing"]
    assert sorted(missing) == ["feed", "rack"]
    assert "racks = [" in missing["rack"]
    accounts = live.get("/api/accounts")["missing"]
    assert "[broker]" in accounts["energy_j"]
    assert "energy-share" in accounts["fairshare"]
    assert "--price" in accounts["cost"]
    job = live.get("/api/jobs/7")
    assert job["alternatives"] == []
    assert "ledger" in job["missing"]["alternatives"]
    assert "budget" in live.get("/api/budget")["assumptions"][0]


@pytest.mark.parametrize(("wrong", "said"), [
    ('racks = [{ name = "r1", nodes = "n9" }]', "n9 is none of the site's nodes"),
    ('racks = [{ name = "r1", nodes = "n1" }, { name = "r2", nodes = "n1" }]', "n1 is named twice"),
    ('feeds = [{ name = "A", nodes = "n1" }, { name = "A", nodes = "n2" }]', "A is named twice"),
    ('feeds = [{ name = "A", nodes = "n1", limit_w = 0 }]', "limit_w"),
])
def test_racks_and_feeds_that_cannot_be_are_refused(
    tmp_path: Path, wrong: str, said: str
) -> None:
    (tmp_path / "site.toml").write_text(SITE + wrong)
    with pytest.raises(InputError, match=said):
        read_configuration(tmp_path / "site.toml")


def test_the_course_is_there_for_a_server_that_is_started_later(site: Site) -> None:
    site.controller.cycle()
    found = asking(site).get("/api/history")
    assert found["power_w"] == [780]
    assert found["queued"] == [2]


def test_earlier_jobs_of_the_ledger_are_alternatives(
    site: Site, tmp_path: Path
) -> None:
    site.controller.cycle()
    live = with_ledger(LiveSource(site.file), tmp_path)
    found = live.get("/api/jobs/8")
    assert [(each["nodes"], each["time_s"], each["energy_j"], each["basis"])
            for each in found["alternatives"]] == [
        (1, 3600, 720000, "measured, 1 earlier job"), (2, 1800, 900000, "measured, 1 earlier job")]
    assert "alternatives" not in found["missing"]
    assert {each["range_means"] for each in found["alternatives"]} == {""}  # of one job each
    over = live.get("/api/jobs/5")["alternatives"]
    assert [(each["nodes"], each["chosen"]) for each in over] == [(1, True), (2, False)]
    assert "has no earlier job" in live.get("/api/jobs/9")["missing"]["alternatives"]


def test_several_earlier_jobs_have_a_range(site: Site, tmp_path: Path) -> None:
    site.controller.cycle()
    live = with_ledger(LiveSource(site.file), tmp_path, DUMP + DUMP.splitlines()[1].replace(
        "5|", "4|", 1).replace("11:00:00|1", "10:40:00|1").replace("720000", "500000") + "\n")
    first = live.get("/api/jobs/8")["alternatives"][0]
    assert (first["time_s"], first["time_range_s"]) == (3000, [2400, 3600])
    assert (first["energy_j"], first["energy_range_j"]) == (610000, [500000, 720000])
    assert first["range_means"] == "lowest and highest of them"


def test_claims_have_their_deviation_as_a_range() -> None:
    known = JobOption(100.0, 5000.0, "claimed", "a store", nodes=2, time_error=0.1, runs=3)
    shown = _option(known)
    assert shown.time_range_s == pytest.approx((90.0, 110.0))
    assert shown.energy_range_j is None
    assert shown.range_means == "one standard deviation"
    wild = _option(replace(known, time_error=1.5, energy_error=0.2))
    assert wild.time_range_s == (0.0, 250.0)
    assert wild.energy_range_j == pytest.approx((4000.0, 6000.0))
    assert _option(replace(known, time_error=math.nan)).range_means == ""


def test_joules_are_parts_that_are_read_told_or_filled_in() -> None:
    life = {"energy_j": 1000.0, "filled_j": 250.0, "source": "series",
            "sources": {"series": 1000.0, "slurm": 1100.0, "slurm steps": 0.0}}
    assert [(part.how, part.share) for part in energy_parts(life)] == [
        ("measured", 0.75), ("filled", 0.25)]
    other, = other_figures(life)
    assert (other.source, other.energy_j) == ("Slurm, of the job", 1100.0)
    assert no_range(life) == {}
    told = {**life, "source": "slurm", "filled_j": 0.0, "sources": {"slurm": 1000.0}}
    assert [(part.how, part.share) for part in energy_parts(told)] == [("told", 1.0)]
    assert "one source alone" in no_range(told)["energy_range"]
    assert energy_parts({**life, "energy_j": None}) == energy_parts(None) == []
    assert no_range({**life, "energy_j": None}) == no_range(None) == {}


def test_a_job_of_the_ledger_says_how_its_joules_are_known(site: Site, tmp_path: Path) -> None:
    site.controller.cycle()
    found = with_ledger(LiveSource(site.file), tmp_path).get("/api/jobs/5")
    assert [(part["how"], part["share"]) for part in found["energy_parts"]] == [("told", 1.0)]
    assert found["other_figures"] == []
    assert "energy_range" in found["missing"]


def test_a_table_of_prices_charges_joules_by_their_hour(
    site: Site, tmp_path: Path
) -> None:
    site.controller.cycle()
    (tmp_path / "prices.csv").write_text(
        "Datetime (UTC),Price (EUR/kWh)\n2026-10-05T10:00:00,1\n2026-10-05T11:00:00,3\n"
        "2026-10-05T12:00:00,2\n")
    source = LiveSource(site.file, price=str(tmp_path / "prices.csv"))
    live = with_ledger(source, tmp_path)
    assert live.get("/api/jobs/5")["cost"] == {"amount": pytest.approx(0.2), "currency": "EUR"}
    assert live.get("/api/jobs/6")["cost"]["amount"] == pytest.approx(0.75)
    row, = live.get("/api/accounts")["rows"]
    assert row["cost"]["amount"] == pytest.approx(0.95)
    said = " ".join(live.get("/api/about")["assumptions"])
    assert "prices.csv are those of their dates" in said
    assert "after the last row" in said


def test_fair_share_is_that_by_which_the_queue_is_ordered(tmp_path: Path) -> None:
    (tmp_path / "shares.toml").write_text("".join(
        f'[[account]]\nname = "{name}"\nshare = {share}\nparent = "{parent}"\n' for
        name, share, parent in (("physics", 1, ""), ("ann", 0.5, "physics"),
                                ("bob", 0.5, "physics"))))
    shared = made(tmp_path, '[policy]\norder = { name = "energy-share", shares = "'
                  f'{tmp_path}/shares.toml" }}\n')
    shared.controller.cycle()
    shared.controller.listeners[0].monotonic = lambda: time.monotonic() + 10  # type: ignore
    shared.controller.cycle()
    factors = (read_machine(tmp_path / "desk") or {})["fairshare"]
    # ann has drawn all of it, and bob, who drew nothing, stands in the same account.
    assert (factors["ann"], factors["bob"]) == (0.25, 0.5)
    live = with_ledger(LiveSource(shared.file), tmp_path)
    row, = live.get("/api/accounts", by="user")["rows"]
    assert (row["name"], row["fairshare"]) == ("ann", factors["ann"])
    assert "fairshare" not in live.get("/api/accounts")["missing"]
