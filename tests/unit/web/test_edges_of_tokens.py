"""Token files by their mode, sessions by their age, clients behind a proxy, roles by their rank."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.unit.web.asking import asked, bearer, token_file

from wattline.model.errors import InputError
from wattline.web.owning import own_now
from wattline.web.problems import Refused
from wattline.web.security import guard, tokens
from wattline.web.security import sessions as sessions_module
from wattline.web.security.local_user import local_user
from wattline.web.security.person import Role
from wattline.web.security.rates import Buckets, Rate
from wattline.web.security.sessions import MOST_SESSIONS, Sessions
from wattline.web.security.tokens import Token, read_tokens
from wattline.web.settings import Settings
from wattline.web.uploads.store import Upload, UploadLimits, UploadStore

TWELVE_HOURS_S = 43_200.0
ANN = Token("ann", Role.VIEWER, "0" * 64, "")


class Clock:
    now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(sessions_module, "time", SimpleNamespace(monotonic=made))
    return made


@pytest.mark.parametrize("mode", [0o640, 0o620, 0o610, 0o604, 0o602, 0o601, 0o644, 0o660])
def test_a_token_file_is_refused_whoever_else_may_read_write_or_enter_it(
    tmp_path: Path, mode: int
) -> None:
    """The group (640, as many files have it) is others too."""
    path, _ = token_file(tmp_path, ann="viewer")
    path.chmod(mode)
    with pytest.raises(InputError, match=rf"mode {mode:o}\); chmod 600"):
        read_tokens(path)


@pytest.mark.parametrize("mode", [0o600, 0o400, 0o700])
def test_a_token_file_of_its_owner_alone_is_read(tmp_path: Path, mode: int) -> None:
    path, _ = token_file(tmp_path, ann="viewer", own="owner", boss="operator")
    path.chmod(mode)
    assert [(each.name, each.role) for each in read_tokens(path)] == [
        ("ann", Role.VIEWER), ("own", Role.OWNER), ("boss", Role.OPERATOR)]


def test_a_file_that_others_may_read_from_now_on_lets_nobody_in(tmp_path: Path) -> None:
    path, secret = token_file(tmp_path, ann="viewer")
    with asked(Settings(tokens=path, rated=False)) as client:
        assert client.get("/api/me", headers=bearer(secret["ann"])).status_code == 200
        text = path.read_text()
        path.unlink()
        path.write_text(text)
        path.chmod(0o640)
        assert client.get("/api/me", headers=bearer(secret["ann"])).status_code == 401


def test_a_session_lasts_twelve_hours_and_no_second_longer(clock: Clock) -> None:
    sessions = Sessions()
    made = sessions.begin(ANN)
    clock.now_s += TWELVE_HOURS_S - 1.0
    found = sessions.find(made)
    assert found is not None
    assert found.token == ANN
    clock.now_s += 2.0
    assert sessions.find(made) is None
    clock.now_s -= 2.0  # it is gone, and not only too old
    assert sessions.find(made) is None


def test_a_browser_has_to_log_in_again_after_twelve_hours(
    tmp_path: Path, clock: Clock
) -> None:
    path, secret = token_file(tmp_path, ann="viewer")
    with asked(Settings(tokens=path, rated=False)) as client:
        assert client.post("/api/login", json={"token": secret["ann"]}).status_code == 200
        clock.now_s += TWELVE_HOURS_S - 60.0
        assert client.get("/api/me").json()["user"] == "ann"
        clock.now_s += 120.0
        assert client.get("/api/me").status_code == 401


def test_the_oldest_session_goes_where_there_are_too_many(clock: Clock) -> None:
    sessions = Sessions()
    made = [sessions.begin(ANN) for _ in range(MOST_SESSIONS + 1)]
    assert sessions.find(made[0]) is None
    assert sessions.find(made[1]) is not None
    assert sessions.find(made[-1]) is not None


def test_a_session_ends_with_its_token_also_where_another_has_its_name(tmp_path: Path) -> None:
    """The new `ann` may be somebody else, and may have another role."""
    path, secret = token_file(tmp_path, ann="operator")
    with asked(Settings(tokens=path, rated=False)) as client:
        assert client.post("/api/login", json={"token": secret["ann"]}).status_code == 200
        assert client.get("/api/me").json()["role"] == "operator"
        tokens.remove_token(path, "ann")
        other = tokens.add_token(path, "ann", "viewer")
        assert client.get("/api/me").status_code == 401
        me = client.get("/api/me", headers=bearer(other)).json()
        assert (me["user"], me["role"]) == ("ann", "viewer")


def test_a_session_and_its_token_have_one_role(tmp_path: Path) -> None:
    path, secret = token_file(tmp_path, ann="viewer", boss="operator")
    with asked(Settings(tokens=path, rated=False)) as client:
        for name, status in (("ann", 403), ("boss", 200)):
            client.cookies.clear()
            own = client.post("/api/login", json={"token": secret[name]}).json()["csrf"]
            found = client.post("/api/operator/apply", headers={"X-CSRF-Token": own})
            assert found.status_code == status


# Clients behind a proxy -----------------------------------------------------------------------


def tried_in(client: TestClient, forwarded: str) -> int:
    return client.post("/api/login", json={"token": "wl_guess"},
                       headers={"X-Forwarded-For": forwarded}).status_code


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six may try at once; meanwhile no bucket fills."""
    monkeypatch.setattr(guard, "LOGGING_IN", Rate(6, 1e-9))


@pytest.mark.usefixtures("still")
def test_behind_a_proxy_the_address_that_the_proxy_saw_is_the_client(tmp_path: Path) -> None:
    """The part before it in the header was written by the client itself: a new name for each
    request would else pass every limit."""
    path, _ = token_file(tmp_path, ann="viewer")
    behind = Settings(proxy="10.0.0.5", tokens=path)
    with asked(behind, client="10.0.0.5") as client:
        found = [tried_in(client, f"192.0.2.{number}, 198.51.100.7") for number in range(8)]
        assert 429 not in found[:3]
        assert found[-1] == 429
        assert tried_in(client, "198.51.100.8") == 401  # another client has its own
        assert tried_in(client, "198.51.100.7, 198.51.100.9") == 401


@pytest.mark.usefixtures("still")
def test_without_a_proxy_the_header_of_addresses_means_nothing(tmp_path: Path) -> None:
    path, _ = token_file(tmp_path, ann="viewer")
    with asked(Settings(tokens=path)) as client:
        found = [tried_in(client, f"198.51.100.{number}") for number in range(8)]
        assert found[-1] == 429


def test_who_may_do_more_has_the_higher_rank() -> None:
    """The guard compares roles, and a file or a page names them by their words."""
    assert Role.OWNER < Role.VIEWER < Role.OPERATOR
    assert [role.word for role in sorted(Role)] == ["owner", "viewer", "operator"]


def test_a_token_has_256_random_bits_and_its_file_none_of_them(tmp_path: Path) -> None:
    path, secret = token_file(tmp_path, **{f"user{n}": "viewer" for n in range(20)})
    assert len(set(secret.values())) == 20
    for made in secret.values():
        assert re.fullmatch(r"wl_[A-Za-z0-9_-]{43}", made)  # 32 bytes
        assert made[3:] not in path.read_text()


# What a request may say, and who is told what -------------------------------------------------


def test_a_request_that_says_its_length_in_two_ways_is_refused() -> None:
    """A proxy before this server may end the request elsewhere than it does."""
    with asked(Settings(rated=False)) as client:
        found = client.post("/api/whatif", content=b"{}", headers={"Transfer-Encoding": "chunked"})
        assert found.status_code == 400
        assert "length twice" in found.json()["error"]


@pytest.mark.parametrize(("peer", "said", "secure"), [
    ("10.0.0.5", "https", True), ("10.0.0.5", "http", False), ("127.0.0.1", "https", False)])
def test_a_cookie_is_secure_where_the_proxy_itself_says_that_it_came_by_tls(
    tmp_path: Path, peer: str, said: str, secure: bool
) -> None:
    path, secret = token_file(tmp_path, ann="viewer")
    behind = Settings(host="0.0.0.0", proxy="10.0.0.5", tokens=path, rated=False)
    with asked(behind, client=peer, base="http://10.0.0.1:8750") as client:
        found = client.post("/api/login", json={"token": secret["ann"]},
                            headers={"X-Forwarded-Proto": said})
        assert found.status_code == 200
        assert ("Secure" in found.headers["Set-Cookie"]) is secure


def test_a_bucket_that_nobody_used_for_long_holds_a_burst_and_no_more() -> None:
    now_s = [0.0]
    bucket = Buckets(Rate(burst=3, per_s=2), lambda: now_s[0])
    assert bucket.wait_s("a") == 0
    now_s[0] = 1000.0
    assert [bucket.wait_s("a") for _ in range(4)] == [0, 0, 0, 1]


@dataclass(frozen=True)
class Said:
    text: str
    job: str | None = None
    who: str | None = "boss"


@dataclass(frozen=True)
class Shown:
    decisions: list[Said]
    alarms: list[Said]


class OneEach:
    """Job 1 is ann's, and job 2 bob's."""

    @staticmethod
    def users(jobs: Collection[str]) -> dict[str, str | None]:
        return {job: {"1": "ann", "2": "bob"}.get(job) for job in jobs}


def test_an_owner_hears_of_no_decision_that_names_a_job_of_somebody_else() -> None:
    shown = Shown([Said("the cap is 900 W"), Said("job 1 starts", "1"), Said("job 2 starts", "2"),
                   Said("job 1 waits for job 2", "1"), Said("room was made for job 2")],
                  [Said("job 2 is above its power; job 1 is not")])
    found: Any = own_now(OneEach(), shown, "ann")  # type: ignore[arg-type]
    assert [(each.text, each.who) for each in found.decisions] == [
        ("the cap is 900 W", None), ("job 1 starts", None)]
    assert [each.text for each in found.alarms] == ["another job is above its power; job 1 is not"]


def test_uploads_lie_in_a_folder_of_the_server_alone_and_an_old_one_is_not_found(
    tmp_path: Path
) -> None:
    before = os.umask(0)
    try:
        store = UploadStore(tmp_path / "up", UploadLimits(kept_s=60.0))
    finally:
        os.umask(before)
    assert (tmp_path / "up").stat().st_mode & 0o777 == 0o700
    now_s = datetime.now(UTC).timestamp()
    for name, age_s in (("0" * 32, 50.0), ("1" * 32, 70.0)):
        path = tmp_path / "up" / f"{name}.swf"
        path.write_text("log")
        store.keep(Upload(name, "log.swf", "ann", path, 3, now_s - age_s))
    assert store.find("0" * 32).name == "log.swf"
    with pytest.raises(Refused, match="may have expired"):
        store.find("1" * 32)
    assert not (tmp_path / "up" / f"{'1' * 32}.swf").exists()


def test_a_socket_that_its_process_has_closed_is_nobody_s(tmp_path: Path) -> None:
    """The kernel's table as it is in the order of this machine's bytes: 127.0.0.1 to itself, of
    user 0; with inode 0 the socket is closed, and its user is no user."""
    address = "0100007F" if sys.byteorder == "little" else "7F000001"
    scope = {"client": ("127.0.0.1", 0x1000), "server": ("127.0.0.1", 0x2000)}
    for inode, user in (("4711", "root"), ("0", None)):
        (tmp_path / "tcp").write_text(
            "sl local rem st tx rx tr tm ret uid timeout inode\n"
            f"0: {address}:1000 {address}:2000 01 0:0 0:0 0 0 0 {inode}\n")
        assert local_user(scope, (tmp_path / "tcp",)) == user
