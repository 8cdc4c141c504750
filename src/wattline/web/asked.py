"""What a request is asked of: the source and the beat of its application."""

from __future__ import annotations

from typing import cast

from starlette.requests import Request

from wattline.web.beat import Beat
from wattline.web.settings import Settings
from wattline.web.sources.shape import Source


def source_of(request: Request) -> Source:
    return cast(Source, request.app.state.source)


def beat_of(request: Request) -> Beat:
    return cast(Beat, request.app.state.beat)


def settings_of(request: Request) -> Settings:
    return cast(Settings, request.app.state.settings)
