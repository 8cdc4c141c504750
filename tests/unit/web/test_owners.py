"""What an owner sees: the machine, and of jobs and joules the own ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.asking import Asking

from wattline.web.app import create_app
from wattline.web.security.tokens import add_token
from wattline.web.settings import Settings
from wattline.web.sources.demo import DemoSource


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Asking]:
    file: Path = tmp_path_factory.mktemp("people") / "tokens"
    tokens = {name: add_token(file, name, role) for name, role in (
        ("ann", "owner"), ("vic", "viewer"), ("oda", "operator"))}
    app = create_app(DemoSource(speed=0.0, jobs=150), Settings(tokens=file))
    return {"": Asking(app), **{name: Asking(app, Authorization=f"Bearer {token}")
                                for name, token in tokens.items()}}


def test_an_owner_sees_the_machine_and_the_own_jobs_alone(people: dict[str, Asking]) -> None:
    ann, vic = people["ann"], people["vic"]
    assert ann.get("/api/now")["power_w"] == vic.get("/api/now")["power_w"]
    everything = vic.get("/api/jobs", limit=1000)["jobs"]
    mine = [job for job in everything if job["user"] == "ann"]
    assert ann.get("/api/jobs", limit=1000)["jobs"] == mine
    assert ann.get("/api/jobs", user="bob", limit=1000)["jobs"] == mine
    assert 0 < len(mine) < len(everything)
    other = next(job["id"] for job in everything if job["user"] != "ann")
    status, said = ann.refused(f"/api/jobs/{other}")
    assert (status, said) == (404, f"there is no job {other} of yours")
    assert ann.refused("/api/jobs/99999") == (404, said.replace(other, "99999"))
    assert "by now" in vic.refused("/api/jobs/99999")[1]
    assert ann.get(f"/api/jobs/{mine[0]['id']}")["job"] == mine[0]
    assert [row["name"] for row in ann.get("/api/accounts", by="account")["rows"]] == ["ann"]
    assert [line["name"] for line in ann.get("/api/bill", by="account")["lines"]] == ["ann"]
    bill, whole = ann.get("/api/bill"), vic.get("/api/bill", by="user")
    mine_j = sum(job["energy_j"] or 0.0 for job in mine)
    assert bill["total_j"] == bill["lines"][0]["energy_j"] == pytest.approx(mine_j)
    assert bill["total_amount"] == bill["lines"][0]["amount"] < whole["total_amount"]
    assert bill["total_carbon_g"] == bill["lines"][0]["carbon_g"] < whole["total_carbon_g"]
    waiting = {job["user"] for job in vic.get("/api/queue", limit=1000)["jobs"]}
    assert {job["user"] for job in ann.get("/api/queue")["jobs"]} == waiting & {"ann"}
    assert ann.refused("/metrics")[0] == 403


def test_only_operators_order_and_nobody_comes_without_a_token(people: dict[str, Asking]) -> None:
    wanted = {"action": "set_cap", "value": 60_000}
    assert people[""].refused("/api/now")[0] == 401
    mode = {"action": "set_mode", "value": {"mode": "guard"}}
    for name in ("ann", "vic"):
        assert people[name].post("/api/operator/preview", wanted).status_code == 403
        assert people[name].post("/api/operator/preview", mode).status_code == 403
        assert people[name].post("/api/operator/apply",
                                 {**mode, "confirm": "1.2.3"}).status_code == 403
    shown = people["oda"].post("/api/operator/preview", wanted)
    assert shown.status_code == 200
    stolen = people["vic"].post("/api/operator/apply",
                                {**wanted, "confirm": shown.json()["confirm"]})
    assert stolen.status_code == 403
    assert people["vic"].get("/api/now")["cap_w"] == 70_000
