"""Putting the guard before an application."""

from __future__ import annotations

from fastapi import FastAPI

from wattline.web.addresses import add_routes
from wattline.web.security.exposure import refuse_exposed
from wattline.web.security.guard import Guard
from wattline.web.security.identity import Identity
from wattline.web.security.routes import router
from wattline.web.settings import Settings


def install_security(app: FastAPI, settings: Settings) -> None:
    """Refuse what is exposed, and let nobody by who may not come."""
    refuse_exposed(settings)
    identity = Identity(settings)
    app.state.identity = identity
    add_routes(app, router)
    app.add_middleware(Guard, settings=settings, identity=identity)
