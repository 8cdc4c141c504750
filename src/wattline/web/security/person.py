"""Who asks, and what that person may see and do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from wattline.web.problems import Refused


class Role(IntEnum):
    """What somebody may see and do."""

    OWNER = 1
    """Sees the machine, and of jobs and accounts those of its own user."""
    VIEWER = 2
    """Sees the machine and all jobs."""
    OPERATOR = 3
    """May also change the machine: cap, reservations, mode."""

    @property
    def word(self) -> str:
        return self.name.lower()


ROLES = tuple(role.word for role in Role)


@dataclass(frozen=True)
class Person:
    """Somebody whom the server knows."""

    user: str
    role: Role
    how: str
    """`token`, `session`, `proxy` or `local`: the last three come with every request of a browser,
    whoever made it ask."""
    key: str
    """For quotas and rates: one person, or one address where nobody logs in."""

    @property
    def ambient(self) -> bool:
        """Whether a browser says who it is by itself, so that a foreign page could use it."""
        return self.how != "token"


def person_of(request: Any) -> Person:
    """Who made a request; refused where the guard let nobody in."""
    found = request.scope.get("wattline.person")
    if not isinstance(found, Person):
        raise Refused(401, "say who you are", "Authorization: Bearer TOKEN, or POST /api/login",
                      {"WWW-Authenticate": "Bearer"})
    return found


def require(request: Any, role: Role) -> Person:
    """The person, who must have this role."""
    person = person_of(request)
    if person.role < role:
        raise Refused(403, f"this needs the role {role.word}, and yours is {person.role.word}")
    return person
