"""What-if, plans and uploads on an application: one pool of workers for all three."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI

from wattline.web.addresses import add_routes
from wattline.web.plan import routes as plan
from wattline.web.settings import Settings
from wattline.web.uploads import routes as uploading
from wattline.web.uploads.store import UploadLimits, UploadStore
from wattline.web.whatif import routes as whatif
from wattline.web.worker.kept import AnswersKept
from wattline.web.worker.pool import WorkerPool, WorkLimits


def install_questions(
    app: FastAPI, settings: Settings, work: WorkLimits | None = None,
    uploads: UploadLimits | None = None,
) -> None:
    """Add the routes; workers start with the first question, or with the server to be warm."""
    pool, store = WorkerPool(work), UploadStore(settings.uploads, uploads)
    app.state.pool, app.state.uploads = pool, store
    app.state.answers, app.state.plans = AnswersKept(), AnswersKept()
    add_routes(app, whatif.router, uploading.router, plan.router)
    before = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(running: Any) -> AsyncIterator[Any]:
        async with before(running) as state:
            if settings.warm:
                whatif.warm_up(pool)
            try:
                yield state
            finally:
                pool.close()
                store.close()

    app.router.lifespan_context = lifespan
