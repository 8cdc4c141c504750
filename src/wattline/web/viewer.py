"""Who asks: put into a request's scope by `web.security`, read by the routes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from starlette.requests import Request

SCOPE = "wattline.viewer"
Role = Literal["viewer", "owner", "operator"]


@dataclass(frozen=True)
class Viewer:
    role: Role = "viewer"
    user: str = ""
    csrf: str = ""
    session: bool = False
    """Whether a login made it, which can be ended."""

    @property
    def only_own(self) -> str | None:
        """The user whose jobs alone are shown; None for who sees all."""
        return self.user if self.role == "owner" else None


def viewer_of(request: Request) -> Viewer:
    found = request.scope.get(SCOPE)
    return found if isinstance(found, Viewer) else Viewer()
