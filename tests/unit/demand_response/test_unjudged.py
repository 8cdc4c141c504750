"""Nothing is called met without a job to judge."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner
from tests.unit.demand_response.test_settling import SHORT

import wattline as wl
from wattline.cli.main import cli
from wattline.demand_response.building import case_of
from wattline.demand_response.checking import summary
from wattline.demand_response.jointly import Together, joint_bill, unused_of
from wattline.demand_response.reading import contract_of, read_contract
from wattline.demand_response.run import run_contract
from wattline.grid.market import Bid
from wattline.grid.qos import met_as_judged
from wattline.grid.sites import JointBid, Option

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
NOBODY = ["regulate", "--workload", "W4", "--servers", "10", "--duration", "1s", "--bid",
          "2200,400", "--warmup", "5min", "--seed", "3"]


def test_without_jobs_a_contract_is_neither_kept_nor_broken() -> None:
    figures = json.loads(CliRunner().invoke(cli, [*NOBODY, "--json"]).stdout)
    assert (figures["constraints_met"], figures["violations"]) == (None, [])
    assert {each["jobs"] for each in figures["qos"].values()} == {0}
    for each in figures["qos"].values():
        assert (each["met"], each["mean"], each["violation_share"]) == (None, None, None)
    words = CliRunner().invoke(cli, NOBODY).stdout
    assert "all constraints met" not in words
    assert " yes" not in words
    assert "there is no quality of service to judge" in words


def test_a_type_without_jobs_is_not_called_met_beside_one_that_is() -> None:
    rare = SHORT["types"][0] | {"name": "rare", "nodes": 9, "time_s_min": 86400.0,
                                "time_s_max": 90000.0}
    found = wl.regulate(**SHORT | {"types": [*SHORT["types"], rare], "utilisation": 0.3, "seed": 1})
    assert found.figures["qos"]["rare"]["met"] is None
    assert found.figures["qos"]["one"]["met"] in (True, False)
    assert found.figures["constraints_met"] in (True, False)


def test_a_violation_counts_also_where_no_job_was_judged() -> None:
    run = run_contract(case_of(read_contract(None, SHORT)), Bid(1500.0, 200.0))
    none = [replace(each, jobs=0) for each in run.quality]
    assert met_as_judged(("tracking",), none) is False
    assert met_as_judged((), none) is None
    assert met_as_judged((), run.quality) is True


def test_other_hours_without_jobs_are_counted_apart() -> None:
    run = run_contract(case_of(read_contract(None, SHORT)), Bid(1500.0, 200.0))
    kept = replace(run, quality=tuple(replace(each, violation_share=0.0) for each in run.quality),
                   settlement=replace(run.settlement, tracking=replace(
                       run.settlement.tracking, exceed_share=0.0, short_share=0.0)))
    empty = replace(kept, quality=tuple(replace(each, jobs=0) for each in kept.quality))
    found = summary([kept, empty])
    assert (found.hours, found.met, found.unjudged) == (2, 2, 1)


def test_sites_that_stay_out_do_not_decide_whether_a_joint_bid_is_kept() -> None:
    cases = {name: case_of(read_contract(None, SHORT | {"seed": seed}))
             for name, seed in (("north", 1), ("south", 2))}
    runs = {"north": run_contract(cases["north"], Bid(1500.0, 200.0)),
            "south": run_contract(cases["south"], None)}
    runs["north"] = replace(runs["north"], quality=tuple(
        replace(each, violation_share=0.0) for each in runs["north"].quality))
    runs["south"] = replace(runs["south"], quality=tuple(
        replace(each, violation_share=1.0) for each in runs["south"].quality))
    parts = {"north": Option(1500.0, 200.0, 0.0), "south": Option(1200.0, 0.0, 0.0)}
    joint = JointBid(parts, 1500.0, 200.0, 0.0, "")
    bill = joint_bill(cases["north"], joint, runs)
    assert bill is not None
    assert Together(joint, {}, runs, bill).constraints_met is bill.tracking.met


def test_what_a_joint_bid_takes_from_the_first_site_is_said_of_the_others() -> None:
    first, other = (contract_of(read_contract(None, {"workload": "W4"} | fields)) for fields in (
        {"rounds": 50}, {"rounds": 50, "programme": "fcr", "hold": 0.5, "forecast": 3}))
    assert unused_of(other, first) == ["programme", "forecast", "hold"]
