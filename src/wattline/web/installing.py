"""What-if, plans and uploads on an application: one pool of workers for all three."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI

from wattline.web.plan.routes import plan_router
from wattline.web.settings import Settings
from wattline.web.uploads.routes import uploads_router
from wattline.web.uploads.store import UploadLimits, UploadStore
from wattline.web.whatif.routes import warm_up, whatif_router
from wattline.web.worker.pool import WorkerPool, WorkLimits


def install_questions(
    app: FastAPI, settings: Settings, work: WorkLimits | None = None,
    uploads: UploadLimits | None = None,
) -> None:
    """Add the routes; workers start with the first question, or with the server to be warm."""
    pool, store = WorkerPool(work), UploadStore(settings.uploads, uploads)
    app.state.pool, app.state.uploads = pool, store
    for router in (whatif_router(pool, store), uploads_router(pool, store), plan_router(pool)):
        app.include_router(router)
    before = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(running: Any) -> AsyncIterator[Any]:
        async with before(running) as state:
            if settings.warm:
                warm_up(pool)
            try:
                yield state
            finally:
                pool.close()
                store.close()

    app.router.lifespan_context = lifespan
