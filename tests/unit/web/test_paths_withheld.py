"""Whatever goes wrong on the server, nobody who looks is told where its files lie."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.support.asking import Asking
from tests.support.thinned import mostly
from tests.unit.web.told_site import Site, made

from wattline.controller.speaking import live_order
from wattline.web.app import create_app
from wattline.web.places import WITHHELD, ServerPlaces
from wattline.web.settings import Settings
from wattline.web.sources import live, live_jobs
from wattline.web.sources.live import LiveSource
from wattline.web.sources.shape import Act

ELSEWHERE = "/srv/secret place/squeue"
A_PATH = re.compile(r"(?<![\w.:/<])/(?!api/|metrics\b)\w")
ORDERS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("set_cap", {"watts": 700}), ("reserve", {"watts": 100, "duration_s": 60}),
    ("unreserve", {"name": "noon"}), ("set_mode", {"mode": "guard"}))


def without_status(site: Site, source: LiveSource) -> None:
    (source.folder / "status.json").unlink()


def with_another_file(site: Site, source: LiveSource) -> None:
    (source.folder / "status.json").write_text("oops")


def with_a_folder_for_a_file(site: Site, source: LiveSource) -> None:
    without_status(site, source)
    (source.folder / "status.json").mkdir()


def with_a_dead_controller(site: Site, source: LiveSource) -> None:
    _change(source, pid=2**30)


def without_a_desk(site: Site, source: LiveSource) -> None:
    shutil.rmtree(source.folder / "orders")


def without_a_site(site: Site, source: LiveSource) -> None:
    site.file.unlink()


def with_another_site(site: Site, source: LiveSource) -> None:
    site.file.write_text("nodes = 4\n")


def with_no_ledger_in_its_place(site: Site, source: LiveSource) -> None:
    source.ledger.store = str(source.folder / "ledger.db")
    Path(source.ledger.store).write_text("no database")


def with_slurm_away(site: Site, source: LiveSource) -> None:
    _change(source, slurm_answers=False, last_error_s=1.0,
            last_error=f"'{ELSEWHERE}' failed, see {source.folder}/a.log")


def with_a_remark(site: Site, source: LiveSource) -> None:
    machine = source.folder / "machine.json"
    said = json.loads(machine.read_text())
    said["decisions"].append({"time_s": 1.0, "text": f"{source.folder}/x is full", "job": None})
    machine.write_text(json.dumps(said))


def _change(source: LiveSource, **fields: Any) -> None:
    status = source.folder / "status.json"
    status.write_text(json.dumps(json.loads(status.read_text()) | fields))


WRONG = (without_status, with_another_file, with_a_folder_for_a_file, with_a_dead_controller,
         without_a_desk, without_a_site, with_another_site, with_no_ledger_in_its_place,
         with_slurm_away, with_a_remark)


@pytest.fixture
def blank(tmp_path: Path) -> Path:
    """A folder of which the name has a blank, after which no path seems to go on."""
    found = tmp_path / "a site"
    found.mkdir()
    return found


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "live_order", partial(live_order, within_s=0.05))
    monkeypatch.setattr(live_jobs, "EXPLAIN_S", 0.05)


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Every address of a live machine. All of its applications have the same, and a second goes
    into the document that names them."""
    folder = tmp_path_factory.mktemp("addresses")
    app = create_app(LiveSource(made(folder).file), Settings(journal=folder / "actions.jsonl"))
    about = {"now", "jobs", "accounts", "operator", "metrics"}
    return [path.format(job=job) for path, methods in app.openapi()["paths"].items()
            if set(methods.get("get", {}).get("tags", [])) & about and path != "/api/events"
            for job in (("7", "8", "99") if "{job}" in path else ("",))]


@pytest.mark.parametrize("wrong", mostly(WRONG, (
    without_status, with_a_folder_for_a_file, with_a_dead_controller, without_a_desk,
    # The others are further forms of a file of the site that cannot be read.
    with_no_ledger_in_its_place, with_slurm_away, with_a_remark), pytest.mark.long))
def test_no_answer_about_a_live_machine_names_a_path(
    wrong: Callable[[Site, LiveSource], None], blank: Path, addresses: list[str]
) -> None:
    site = made(blank)
    site.controller.cycle()
    source = LiveSource(site.file)
    app = create_app(source, Settings(journal=blank / "actions.jsonl"))
    wrong(site, source)
    said = _all_said(app, addresses)
    assert [text for text in said if "a site" in text or "secret" in text] == []
    errors = [json.loads(text)["error"] for text in said if text.startswith('{"error":')]
    assert [error for error in errors if A_PATH.search(error)] == []
    assert errors  # an order of a controller that does not answer, if nothing else
    assert [error for error in errors if "mistake of its own" in error] == []


def test_what_the_controller_refuses_is_said_without_its_files(
    blank: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = made(blank, f'cap_file = "{blank}/the cap.txt"\n')
    app = create_app(LiveSource(site.file), Settings(journal=blank / "actions.jsonl"))
    monkeypatch.setattr(live, "live_order", live_order)
    with site.going():
        refused = _applied(Asking(app), app, *ORDERS[0])
    assert refused.status_code == 422
    said = "the cap follows the file of the site: write it there"
    assert refused.json()["error"] == said
    assert said in Asking(app).ask("GET", "/api/operator/journal").text


def _all_said(app: Any, addresses: list[str]) -> list[str]:
    """Return what every address of the machine answers, every order, and the stream of events."""
    asking = Asking(app)
    said = [asking.ask("GET", path).text for path in addresses]
    for action, value in ORDERS:
        said.append(asking.post("/api/operator/preview", {"action": action, "value": value}).text)
        said.append(_applied(asking, app, action, value).text)
    said.append(asking.ask("GET", "/api/operator/journal").text)
    said.append(asyncio.run(app.state.beat._event(app.state.beat.now())).decode())
    return said


def _applied(asking: Asking, app: Any, action: str, value: dict[str, Any]) -> Any:
    """Applied without a preview, which may have refused it already."""
    confirm = app.state.confirmations.make(Act(action, value), "local")
    return asking.post("/api/operator/apply", {"action": action, "value": value,
                                               "confirm": confirm})


@pytest.mark.parametrize(("said", "told"), [
    ("no controller runs in /run/w: start it", f"no controller runs in {WITHHELD}: start it"),
    ("'/run/my folder/x' is broken", f"'{WITHHELD}' is broken"),
    ("the store sqlite:////var/l.db refused", f"the store {WITHHELD} refused"),
    ("the store postgresql://w@db/ledger refused", f"the store {WITHHELD} refused"),
    ("/x y/site.toml: cap: must be above 0", "the site's file: cap: must be above 0"),
    ("/api/jobs lists them, at 3 W/node and 24/7", "/api/jobs lists them, at 3 W/node and 24/7"),
    ("see https://slurm.schedmd.com/sbatch.html", "see https://slurm.schedmd.com/sbatch.html"),
])
def test_a_sentence_loses_its_paths_alone(said: str, told: str) -> None:
    places = ServerPlaces({"/x y/site.toml": "the site's file"})
    assert places.withheld(said) == told
