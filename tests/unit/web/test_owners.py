"""An owner's view: the machine, and of jobs and joules the own ones."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.support.asking import Asking
from tests.support.demos import KeptDemo
from tests.unit.web.told_site import Site, job

from wattline.web.app import create_app
from wattline.web.owning import own_detail
from wattline.web.security.tokens import add_token
from wattline.web.settings import Settings
from wattline.web.sources.live import LiveSource
from wattline.web.sources.run_joules import NOBODY
from wattline.web.sources.shape import JobDetail, JobRow, Profile, Source

ROLES = (("ann", "owner"), ("vic", "viewer"), ("oda", "operator"))


def those(folder: Path, source: Source) -> dict[str, Asking]:
    """An owner, a viewer, an operator and a stranger, each asking the same server."""
    tokens = {name: add_token(folder / "tokens", name, role) for name, role in ROLES}
    app = create_app(source, Settings(tokens=folder / "tokens", rated=False))
    return {"": Asking(app), **{name: Asking(app, Authorization=f"Bearer {token}")
                                for name, token in tokens.items()}}


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Asking]:
    return those(tmp_path_factory.mktemp("people"), KeptDemo(speed=0.0, jobs=80))


def test_an_owner_sees_the_machine_and_the_own_jobs_alone(people: dict[str, Asking]) -> None:
    ann, vic = people["ann"], people["vic"]
    assert ann.get("/api/now")["power_w"] == vic.get("/api/now")["power_w"]
    everything = vic.get("/api/jobs", limit=1000)["jobs"]
    mine = [job for job in everything if job["user"] == "ann"]
    assert ann.get("/api/jobs", limit=1000)["jobs"] == mine
    assert ann.get("/api/jobs", user="ann", limit=1000)["jobs"] == mine
    others = ann.get("/api/jobs", user="bob")
    assert (others["total"], others["jobs"]) == (0, [])
    assert 0 < len(mine) < len(everything)
    other = next(job["id"] for job in everything if job["user"] != "ann")
    status, said = ann.refused(f"/api/jobs/{other}")
    assert (status, said) == (404, f"there is no job {other} of yours")
    assert ann.refused("/api/jobs/99999") == (404, said.replace(other, "99999"))
    assert "by now" in vic.refused("/api/jobs/99999")[1]
    assert ann.get(f"/api/jobs/{mine[0]['id']}")["job"] == mine[0]
    waiting = {job["user"] for job in vic.get("/api/queue", limit=1000)["jobs"]}
    assert {job["user"] for job in ann.get("/api/queue")["jobs"]} == waiting & {"ann"}


def test_an_owner_is_answered_by_account_too_and_of_own_jobs_alone(
    people: dict[str, Asking]
) -> None:
    ann, vic = people["ann"], people["vic"]
    mine = ann.get("/api/jobs", limit=1000)["jobs"]
    mine_j = sum(job["energy_j"] or 0.0 for job in mine)
    for by in ("user", "account"):
        table, bill = ann.get("/api/accounts", by=by), ann.get("/api/bill", by=by)
        assert table["by"] == bill["by"] == by
        names = {job[by] or NOBODY for job in mine}
        assert {row["name"] for row in table["rows"]} == names
        assert {line["name"] for line in bill["lines"]} <= names
        assert bill["total_j"] == pytest.approx(mine_j)
        assert sum(row["energy_j"] for row in table["rows"]) == pytest.approx(mine_j)
        assert sum(line["amount"] for line in bill["lines"]) == pytest.approx(bill["total_amount"])
        whole = vic.get("/api/bill", by=by)
        assert bill["total_amount"] < whole["total_amount"]
        assert bill["total_carbon_g"] < whole["total_carbon_g"]
        assert "it is your part of the machine's bill" in bill["assumptions"]
    by_account = ann.get("/api/accounts", by="account")
    assert all(row["fairshare"] is None for row in by_account["rows"])
    assert "your own jobs" in " ".join(by_account["assumptions"])
    assert "you see your own jobs" in by_account["missing"]["fairshare"]


@pytest.mark.parametrize("path", ["/api/budget", "/metrics"])
def test_what_is_of_the_whole_machine_alone_is_refused_to_an_owner_in_a_sentence(
    people: dict[str, Asking], path: str
) -> None:
    status, said = people["ann"].refused(path)
    assert status == 403
    assert "yours is the role owner" in said
    assert people["vic"].ask("GET", path).status_code == 200


def strings(found: Any) -> Iterator[str]:
    if isinstance(found, dict):
        for each in found.values():
            yield from strings(each)
    elif isinstance(found, list):
        for each in found:
            yield from strings(each)
    elif isinstance(found, str):
        yield found


@cache
def document() -> dict[str, Any]:
    """Of the API; it is the same over every source."""
    return create_app(KeptDemo(speed=0.0, jobs=80)).openapi()


def told(asking: Asking, own_job: str) -> Iterator[tuple[str, str]]:
    """Every text that a GET of the API's document answers, by its address."""
    assert asking.ask("GET", "/api/openapi.json").status_code == 200
    for path, methods in document()["paths"].items():
        if "get" not in methods or path == "/api/events":  # a stream, of the same bytes as now
            continue
        named = {each["name"] for each in methods["get"].get("parameters", ())}
        for query in ("?by=user", "?by=account") if "by" in named else ("",):
            answer = asking.ask("GET", path.format(job=own_job) + query)
            is_json = answer.headers["content-type"].startswith("application/json")
            for text in strings(json.loads(answer.text)) if is_json else [answer.text]:
                yield path, text


def tells_of(text: str, jobs: set[str], users: set[str]) -> bool:
    """Return whether a text is or names one of them; "7 nodes" is no job 7."""
    named = {part for whole in re.findall(r"[Jj]obs? ([\d,_]+)", text) for part in whole.split(",")}
    parts = set(text.split(",")) if re.fullmatch(r"[\d,_]+", text) else set()
    return bool((named | parts) & jobs) or any(
        re.search(rf"\b{re.escape(user)}\b", text) for user in users)


def test_no_address_tells_an_owner_of_jobs_or_users_that_are_not_the_own(
    people: dict[str, Asking]
) -> None:
    ann, vic, oda = people["ann"], people["vic"], people["oda"]
    wanted = {"action": "reserve", "value": {"watts": 5000, "duration_s": 60, "name": "night"}}
    shown = oda.post("/api/operator/preview", wanted).json()["confirm"]
    assert oda.post("/api/operator/apply", {**wanted, "confirm": shown}).status_code == 200
    every = vic.get("/api/jobs", limit=1000)["jobs"]
    jobs = {each["id"] for each in every if each["user"] != "ann"}
    users = {each["user"] for each in every if each["user"]} - {"ann"} | {"oda"}
    mine = next(each["id"] for each in every if each["user"] == "ann")
    found = {(path, text) for path, text in told(ann, mine) if tells_of(text, jobs, users)}
    assert found == set()
    seen_by_all = {path for path, text in told(vic, mine) if tells_of(text, jobs, users)}
    assert {"/api/now", "/api/nodes", "/api/jobs", "/api/accounts"} <= seen_by_all
    orders = [each["text"] for each in ann.get("/api/now")["decisions"] if each["job"] is None]
    assert any("5 kW reserved" in text for text in orders)


def test_what_a_job_waits_for_is_said_without_the_number_of_anybody_elses() -> None:
    row = JobRow("8", "ann", None, None, "PENDING", 1, 0.0, None, None, 1.0, None, None, None,
                 None, why="job 7 comes before it")
    found = JobDetail(row, Profile([], []), None, None, None, None, [], "", [],
                      "Job 7_1 is the first of 3 before it, job 12 the last.", [])
    source = SimpleNamespace(users=lambda jobs: {"7": "bob", "7_1": "bob", "12": "ann"})
    owned = own_detail(source, found, "ann")  # type: ignore[arg-type]
    assert owned.explanation == "Another job is the first of 3 before it, job 12 the last."
    assert owned.job.why == "another job comes before it"


def test_of_a_live_machine_an_owner_learns_no_number_of_anybody_elses_job(site: Site) -> None:
    site.slurm.jobs["7"] = job("7", 2, state="RUNNING", start_s=1.0, node_list=("n1", "n2"),
                               user="bob")
    site.slurm.jobs["9"] = job("9", 1)
    with site.going():
        people = those(site.file.parent, LiveSource(site.file))
        every = people["vic"].get("/api/jobs", limit=100)["jobs"]
        assert {each["id"]: each["user"] for each in every} == {"7": "bob", "8": "ann", "9": "ann"}
        for mine in ("8", "9"):
            found = {(path, text) for path, text in told(people["ann"], mine)
                     if tells_of(text, {"7"}, {"bob"})}
            assert found == set()
        assert "7" in people["vic"].get("/api/nodes")["job"]
        assert people["ann"].get("/api/nodes")["job"] == [None] * 4


def test_only_operators_order_and_nobody_comes_without_a_token(people: dict[str, Asking]) -> None:
    wanted = {"action": "set_cap", "value": 60_000}
    assert people[""].refused("/api/now")[0] == 401
    mode = {"action": "set_mode", "value": {"mode": "guard"}}
    before = people["vic"].get("/api/now")["cap_w"]
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
    assert people["vic"].get("/api/now")["cap_w"] == before
