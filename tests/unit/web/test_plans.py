"""POST /api/plan/...: what Python answers, as arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.unit.web.asking import asked, error_of

import wattline as wl
from wattline.web.plan import bidding
from wattline.web.plan.bodies import BidAsked

PURCHASE = {"budget_power_w": "7200W", "node_power_w_max": 380, "node_power_w_min": 180,
            "speed_ratio": "27%", "cost_ratio": 1.6, "scaling": "SPhot"}


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with asked(here=True) as found:
        yield found


def answered(client: TestClient, plan: str, **given: Any) -> Any:
    found = client.post(f"/api/plan/{plan}", json=given)
    assert found.status_code == 200, found.text
    return found.json()


def test_a_configuration_space_has_every_configuration_and_the_best(client: TestClient) -> None:
    found = answered(client, "configure", application="BT-MZ", power_w="3500W")
    told = wl.configure("BT-MZ", 3500.0)
    space = found["space"]
    assert len(space["time_s"]) == len(space["nodes"]) == len(told.table)
    assert found["best"] == told.best.as_dict() | {"basis": "predicted"}
    fitting = [time_s for time_s, fits in zip(space["time_s"], space["fits"], strict=True) if fits]
    assert min(fitting) == told.best.time_s
    assert space["energy_j"][3] == pytest.approx(space["time_s"][3] * space["power_w"][3])


def test_a_purchase_breaks_even_where_python_says(client: TestClient) -> None:
    found = answered(client, "procure", **PURCHASE)
    told = wl.procure("7200W", node_power_max="380W", node_power_min="180W", speed_ratio="27%",
                      cost_ratio=1.6, scaling="SPhot")
    assert found["break_even"] == told.break_even
    assert [each["parameter"] for each in found["sweeps"]] == ["cost_ratio", "power_w",
                                                               "speed_ratio"]
    assert all(len(each["value"]) == len(each["s_ovp"]) for each in found["sweeps"])
    line = answered(client, "procure", **{**PURCHASE, "scaling": [-1.114475, 73.07425]})
    assert line["s_ovp"] == found["s_ovp"]


def test_a_purchase_says_what_it_takes_for_granted(client: TestClient) -> None:
    line = " ".join(answered(client, "procure", **PURCHASE)["assumptions"])
    assert "7.2 kW" in line
    assert "1.6 older ones" in line
    assert "-1.114 n + 73.07 s, believed from 1 to 48 nodes" in line
    assert "27% less time" in line
    times = answered(client, "procure", **{**PURCHASE, "scaling": None, "application": "BT-MZ",
                                           "cost_ratio": 1.2, "base_power_w": "145W"})
    assert "straight line" not in " ".join(times["assumptions"])


def test_a_placement_says_what_it_takes_for_granted(client: TestClient) -> None:
    jobs = [{"nodes": 3, "tasks_per_node": 4}, {"nodes": 2}]
    found = answered(client, "placement", jobs=jobs, seed=7, routing="minimal")
    said = " ".join(found["assumptions"])
    assert "2 or 4 tasks on each node" in said
    assert "seed 7" in said
    assert "'minimal'" in said
    assert "a node's link 8, links between routers local 8, global 8" in said
    assert "simulation of every packet" in said


def test_a_plan_is_computed_once(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    first = answered(client, "procure", **PURCHASE)
    pool = client.app_made.state.pool  # type: ignore[attr-defined]
    monkeypatch.setattr(pool, "ask", None)
    assert answered(client, "procure", **PURCHASE) == first


def test_a_bid_is_the_cheapest_of_the_grid_that_is_feasible(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    real = bidding.contract_scenario
    short = {"duration": "2min", "warmup": "0s"}  # an hour takes plain kernels a minute
    monkeypatch.setattr(bidding, "contract_scenario",
                        lambda given, fields, bid: real(given, {**fields, **short}, bid))
    asked_for = BidAsked(workload="W4", servers=20, hours=1, averages=3, reserves=2, level="loose",
                         energy_price=0.2)
    found = bidding.bid_surface(asked_for.fields())
    surface = found["surface"]
    assert len(surface["cost"]) == 6
    good = [cost for cost, fits in zip(surface["cost"], surface["feasible"], strict=True) if fits]
    assert (found["cost"] == min(good)) if found["participates"] else not good
    assert any("6 bids tried on 1 hour" in line for line in found["remarks"])
    searched = bidding.bid_surface({**asked_for.fields(), "method": "range"})
    assert len(searched["surface"]["cost"]) <= 1
    assert not any("0.2" in line for line in found["assumptions"])


def test_jobs_are_placed_next_to_each_other_by_the_simple_placement(client: TestClient) -> None:
    jobs = [{"name": "a", "nodes": 3, "pattern": "halo2d", "count": 2}, {"nodes": 2}]
    found = answered(client, "placement", machine="dragonfly-272", placement="simple", jobs=jobs)
    assert [(job["name"], job["nodes"]) for job in found["jobs"]] == [
        ("a.1", [0, 1, 2]), ("a.2", [3, 4, 5]), ("job2", [6, 7])]
    assert all(job["time_s"] > 0 for job in found["jobs"])
    nodes = answered(client, "nodes", machine="dragonfly-272", size=4, busy="[0-5]")
    assert nodes["host_list"] == "[8-11]"


@pytest.mark.parametrize(("plan", "given", "said"), [
    ("configure", {"application": "nosuch", "power_w": 3500}, "nosuch"),
    ("configure", {"application": "../../etc/passwd", "power_w": 3500}, "application"),
    ("configure", {"application": "BT-MZ", "power_w": 1}, "below the smallest"),
    ("configure", {"application": "BT-MZ", "power_w": 3500, "table": "/etc/passwd"}, "table"),
    ("configure", {"application": "BT-MZ", "power_w": True}, "power_w"),
    ("procure", {**PURCHASE, "cost_ratio": None}, "cost_ratio"),
    ("procure", {**PURCHASE, "scaling": "../../x"}, "scaling"),
    ("procure", {**PURCHASE, "scaling": None, "application": "nosuch"}, "nosuch"),
    ("bid", {"servers": 10**6}, "servers"),
    ("bid", {"workload": "log.swf"}, "log.swf"),
    ("placement", {"jobs": []}, "jobs"),
    ("placement", {"machine": "examples", "jobs": [{"nodes": 1}]}, "machine"),
    ("placement", {"jobs": [{"nodes": 4, "matrix": "/etc/passwd"}]}, "matrix"),
    ("placement", {"jobs": [{"nodes": 4096, "count": 64}]}, "tasks"),
    ("placement", {"placement": "nosuch", "jobs": [{"nodes": 1}]}, "nosuch"),
    ("nodes", {"size": 4, "machine": "pyproject.toml"}, "machine"),
    ("nodes", {"size": 4, "counters": "/etc/passwd"}, "counters"),
])
def test_a_mistake_is_one_sentence_and_no_file_is_named(
    client: TestClient, plan: str, given: dict[str, Any], said: str
) -> None:
    found = client.post(f"/api/plan/{plan}", json=given)
    assert found.status_code in (404, 422), found.text
    assert said in error_of(found)
    assert "/tmp" not in found.text


def test_choices_name_what_can_be_planned(client: TestClient) -> None:
    found = client.get("/api/plan/choices").json()
    assert "BT-MZ" in found["applications"]
    assert "W4" in found["workloads"]
    assert "SPhot" in found["scalings"]
    assert "dragonfly-272" in found["machines"]
    assert "level-spread" in {each["name"] for each in found["placements"]}
