"""What a request is asked of: source, beat, workers and uploads of its application."""

from __future__ import annotations

from typing import cast

from starlette.requests import Request

from wattline.web.beat import Beat
from wattline.web.security.identity import Identity
from wattline.web.settings import Settings
from wattline.web.sources.shape import Source
from wattline.web.uploads.store import UploadStore
from wattline.web.worker.kept import AnswersKept
from wattline.web.worker.pool import WorkerPool


def source_of(request: Request) -> Source:
    return cast(Source, request.app.state.source)


def beat_of(request: Request) -> Beat:
    return cast(Beat, request.app.state.beat)


def settings_of(request: Request) -> Settings:
    return cast(Settings, request.app.state.settings)


def pool_of(request: Request) -> WorkerPool:
    return cast(WorkerPool, request.app.state.pool)


def uploads_of(request: Request) -> UploadStore:
    return cast(UploadStore, request.app.state.uploads)


def answers_of(request: Request) -> AnswersKept:
    """To what-ifs."""
    return cast(AnswersKept, request.app.state.answers)


def plans_of(request: Request) -> AnswersKept:
    return cast(AnswersKept, request.app.state.plans)


def identity_of(request: Request) -> Identity:
    return cast(Identity, request.app.state.identity)
