"""The application: pages, and the API that everything on them comes from."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

from fastapi import FastAPI
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles

from wattline.web.act_journal import ActJournal
from wattline.web.addresses import add_routes
from wattline.web.beat import Beat
from wattline.web.confirming import Confirmations
from wattline.web.installing import install_questions
from wattline.web.places import ServerPlaces
from wattline.web.problems import install_problems
from wattline.web.routes import accounts, jobs, metrics, now, operator
from wattline.web.security.installing import install_security
from wattline.web.settings import Settings
from wattline.web.sources.shape import Source

STATIC = Path(__file__).parent / "static"
ROUTES = (now, jobs, accounts, operator, metrics)


def create_app(source: Source, settings: Settings | None = None) -> FastAPI:
    """An ASGI application over a source."""
    app = FastAPI(title="Wattline", version=version("wattline"), openapi_url="/api/openapi.json",
                  docs_url=None, redoc_url=None,
                  description="Power, jobs and joules of a machine. Times are seconds since the "
                              "source's start, units stand last in each name.")
    app.state.source = source
    app.state.settings = settings or Settings()
    app.state.places = getattr(source, "places", ServerPlaces())
    app.state.beat = Beat(source, app.state.settings.beat_s, app.state.places)
    app.state.confirmations = Confirmations()
    app.state.journal = ActJournal(app.state.settings.journal)
    install_problems(app, app.state.places)
    add_routes(app, *(subject.router for subject in ROUTES))
    install_questions(app, app.state.settings)
    _add_pages(app)
    install_security(app, app.state.settings)
    return app


def _add_pages(app: FastAPI) -> None:
    page = STATIC / "app" / "index.html"

    @app.get("/", include_in_schema=False)
    def start() -> Response:
        return FileResponse(page) if page.is_file() else RedirectResponse("/api/openapi.json")

    app.mount("/app", StaticFiles(directory=STATIC / "app", check_dir=False, html=True))
