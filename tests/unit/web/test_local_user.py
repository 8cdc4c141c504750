"""The user of this machine who asks, over real connections; and what that allows on a live
machine."""

from __future__ import annotations

import os
import pwd
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wattline.model.errors import InputError
from wattline.web.security.exposure import refuse_exposed, said_at_start
from wattline.web.security.identity import Identity
from wattline.web.security.local_user import local_user
from wattline.web.security.person import Role
from wattline.web.settings import Settings

ME = pwd.getpwuid(os.getuid()).pw_name


@pytest.fixture(params=[("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6)])
def ends(request: pytest.FixtureRequest) -> Iterator[tuple[socket.socket, socket.socket]]:
    address, family = request.param
    try:
        listener = socket.create_server((address, 0), family=family)
    except OSError:
        pytest.skip(f"this machine has no {address}")
    with listener, socket.create_connection(listener.getsockname()[:2]) as client:
        accepted, _ = listener.accept()
        with accepted:
            yield client, accepted


def scope_of(accepted: socket.socket) -> dict[str, Any]:
    return {"client": accepted.getpeername()[:2], "server": accepted.getsockname()[:2]}


def test_the_user_is_the_owner_of_the_other_end(
    ends: tuple[socket.socket, socket.socket]
) -> None:
    assert local_user(scope_of(ends[1])) == ME


def test_a_connection_that_was_closed_is_nobodys(
    ends: tuple[socket.socket, socket.socket]
) -> None:
    """The kernel shows it as owned by user 0."""
    scope = scope_of(ends[1])
    ends[0].close()
    assert local_user(scope) is None


def test_what_cannot_be_read_is_nobody(tmp_path: Path) -> None:
    scope = {"client": ("127.0.0.1", 1), "server": ("127.0.0.1", 2)}
    assert local_user(scope, (tmp_path / "none",)) is None
    assert local_user({"client": None, "server": None}) is None


@pytest.mark.parametrize(("operators", "role", "user"), [
    ((), Role.VIEWER, "local"), ((ME,), Role.OPERATOR, ME), (("another",), Role.VIEWER, ME)])
def test_a_live_machine_is_operated_by_who_is_named(
    ends: tuple[socket.socket, socket.socket], operators: tuple[str, ...], role: Role, user: str
) -> None:
    settings = Settings(real=True, operators=operators)
    refuse_exposed(settings)
    person = Identity(settings).find(scope_of(ends[1]), {})
    assert person is not None
    assert (person.role, person.user, person.how) == (role, user, "local")
    assert ("nobody may operate" in said_at_start(settings)) == (not operators)


def test_what_is_simulated_is_operated_by_all_of_this_machine() -> None:
    person = Identity(Settings()).find({"client": ("127.0.0.1", 5), "server": None}, {})
    assert person is not None
    assert (person.role, person.user) == (Role.OPERATOR, "local")


@pytest.mark.parametrize("settings", [
    Settings(operators=("ann",)), Settings(real=True, operators=("ann",), tokens=Path("tokens"))])
def test_operators_are_named_where_users_are_known(settings: Settings) -> None:
    with pytest.raises(InputError, match="ann is to be an operator"):
        refuse_exposed(settings)
