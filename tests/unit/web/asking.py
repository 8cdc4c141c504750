"""An application with a source that is never asked, and a client that speaks ASGI to it."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.testclient import TestClient

from wattline.model.errors import WattlineWarning
from wattline.web.installing import install_questions
from wattline.web.places import ServerPlaces
from wattline.web.problems import install_problems
from wattline.web.routes.now import me
from wattline.web.security.installing import install_security
from wattline.web.settings import Settings
from wattline.web.uploads.store import UploadLimits
from wattline.web.worker import process
from wattline.web.worker.pool import WorkLimits, _told

HOST = "http://127.0.0.1:8750"
TINY = {"trace": {"file": "bundled:tiny.swf"},
        "machine": {"nodes": 8, "node_idle_w": 100, "node_active_w": 300}}
CAPPED = {**TINY, "name": "capped", "policy": {"power": "dvfs"}, "power": {"cap": "70%"}}


def make_app(
    settings: Settings | None = None, work: WorkLimits | None = None,
    uploads: UploadLimits | None = None,
) -> FastAPI:
    app = FastAPI(openapi_url="/api/openapi.json")
    found = settings or Settings()
    install_problems(app, ServerPlaces())
    app.get("/api/me")(me)

    @app.post("/api/operator/apply")
    def apply() -> dict[str, bool]:
        return {"done": True}

    install_questions(app, found, work, uploads)
    install_security(app, found)
    return app


@contextmanager
def asked(
    settings: Settings | None = None, *, work: WorkLimits | None = None,
    uploads: UploadLimits | None = None, client: str = "127.0.0.1", base: str = HOST,
    here: bool = False,
) -> Iterator[TestClient]:
    app = make_app(settings or Settings(rated=False), work, uploads)
    if here:
        app.state.pool.ask = answered_here
    with TestClient(app, base_url=base, client=(client, 4242)) as found:
        found.app_made = app  # type: ignore[attr-defined]
        yield found


def answered_here(task: str, given: Any, **_: Any) -> Any:
    """Return what a worker would say, for tests of its words: to start one takes longer than to
    answer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WattlineWarning)
        told = process.answer(task, json.loads(json.dumps(given)))
    return _told(json.loads(json.dumps(told, allow_nan=False)), WorkLimits())


def token_file(folder: Path, **roles: str) -> tuple[Path, dict[str, str]]:
    """A file with a token per name, and the tokens."""
    from wattline.web.security.tokens import add_token

    path = folder / "tokens"
    return path, {name: add_token(path, name, role) for name, role in roles.items()}


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def error_of(answer: Any) -> str:
    found = answer.json()
    assert set(found) == {"error", "right"}
    assert "\n" not in found["error"]
    return str(found["error"])
