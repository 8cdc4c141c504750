"""The guard: who may come in, from where, how often and with how much."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from starlette.exceptions import HTTPException
from starlette.testclient import TestClient
from tests.unit.web.asking import HOST, TINY, asked, bearer, error_of, make_app, token_file

from wattline.model.errors import InputError
from wattline.web.problems import Refused
from wattline.web.security import guard, tokens
from wattline.web.security.exposure import HostNames, refuse_exposed, said_at_start
from wattline.web.security.guard import MOST_BODY_BYTES
from wattline.web.security.rates import Buckets, Rate
from wattline.web.security.sessions import COOKIE
from wattline.web.settings import Settings

LOCAL = Settings(rated=False)
SHARE = "/api/whatif/share"


def csrf(client: TestClient, **headers: str) -> str:
    return str(client.get("/api/me", headers=headers).json()["csrf"])


# Who ------------------------------------------------------------------------------------------


def test_on_loopback_without_tokens_the_local_user_may_operate_and_is_told() -> None:
    with asked(LOCAL) as client:
        me = client.get("/api/me").json()
        assert (me["role"], me["user"]) == ("operator", "local")
        assert client.post("/api/operator/apply").status_code == 200
    assert "may look and operate" in said_at_start(LOCAL)


def test_with_tokens_nobody_comes_in_without_one(tmp_path: Path) -> None:
    path, secret = token_file(tmp_path, ann="viewer", boss="operator", own="owner")
    with asked(Settings(tokens=path, rated=False)) as client:
        for given in ({}, bearer("wl_wrong"), bearer(""), {"Authorization": "Basic YTpi"},
                      {"X-Remote-User": "boss"}, {"Cookie": f"{COOKIE}=guessed"}):
            for ask in (client.get("/api/me", headers=given),
                        client.get("/api/openapi.json", headers=given),
                        client.post(SHARE, json=TINY, headers=given)):
                assert ask.status_code == 401
                assert ask.headers["WWW-Authenticate"] == "Bearer"
        for name, role in (("ann", "viewer"), ("boss", "operator"), ("own", "owner")):
            me = client.get("/api/me", headers=bearer(secret[name])).json()
            assert (me["user"], me["role"]) == (name, role)


def test_what_changes_the_machine_needs_the_operator(tmp_path: Path) -> None:
    path, secret = token_file(tmp_path, ann="viewer", own="owner", boss="operator")
    with asked(Settings(tokens=path, rated=False)) as client:
        for name, status in (("ann", 403), ("own", 403), ("boss", 200)):
            found = client.post("/api/operator/apply", headers=bearer(secret[name]))
            assert found.status_code == status


def test_the_file_holds_no_token_and_a_removed_one_is_shut_out_at_once(tmp_path: Path) -> None:
    path, secret = token_file(tmp_path, ann="viewer", bob="viewer")
    text = path.read_text()
    assert secret["ann"] not in text
    assert secret["ann"].removeprefix("wl_") not in text
    assert path.stat().st_mode & 0o777 == 0o600
    with asked(Settings(tokens=path, rated=False)) as client:
        assert client.get("/api/me", headers=bearer(secret["ann"])).status_code == 200
        login = client.post("/api/login", json={"token": secret["ann"]})
        assert client.get("/api/me").json()["user"] == "ann"
        assert login.status_code == 200
        tokens.remove_token(path, "ann")
        assert client.get("/api/me", headers=bearer(secret["ann"])).status_code == 401
        assert client.get("/api/me").status_code == 401  # and its session with it
        assert client.get("/api/me", headers=bearer(secret["bob"])).status_code == 200


def test_a_token_file_that_others_can_read_or_that_is_broken_is_refused(tmp_path: Path) -> None:
    path, _ = token_file(tmp_path, ann="viewer")
    path.chmod(0o644)
    with pytest.raises(InputError, match="chmod 600"):
        make_app(Settings(tokens=path))
    path.chmod(0o600)
    path.write_text('{"name": "ann", "role": "god", "sha256": "00"}\n')
    with pytest.raises(InputError, match="line 1"):
        make_app(Settings(tokens=path))
    for name, role, said in (("a b", "viewer", "name"), ("ann", "god", "no role")):
        with pytest.raises(InputError, match=said):
            tokens.add_token(tmp_path / "other", name, role)
    tokens.add_token(tmp_path / "other", "ann", "viewer")
    with pytest.raises(InputError, match="already"):
        tokens.add_token(tmp_path / "other", "ann", "viewer")


def test_tokens_are_compared_in_constant_time_all_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, secret = token_file(tmp_path, ann="viewer", bob="viewer", cat="viewer")
    compared: list[str] = []
    real = tokens.hmac.compare_digest

    def watched(one: str, other: str) -> bool:
        compared.append(one)
        return real(one, other)

    known = tokens.TokenFile(path)
    monkeypatch.setattr(tokens.hmac, "compare_digest", watched)
    found = known.find(secret["ann"])
    assert found is not None
    assert found.name == "ann"
    assert len(compared) == 3


def test_a_header_counts_from_the_named_proxy_alone() -> None:
    behind = Settings(proxy="10.0.0.5", operators=("boss",), rated=False)
    with asked(behind, client="10.0.0.5") as client:
        for user, role in (("boss", "operator"), ("ann", "owner")):
            me = client.get("/api/me", headers={"X-Remote-User": user}).json()
            assert (me["user"], me["role"]) == (user, role)
        assert client.get("/api/me").status_code == 401
        assert client.get("/api/me", headers={"X-Remote-User": "a b\tc"}).status_code == 401
    with asked(behind, client="10.0.0.6") as client:
        assert client.get("/api/me", headers={"X-Remote-User": "boss"}).status_code == 401
    with asked(LOCAL) as client:  # no proxy is named: the header means nothing
        assert client.get("/api/me", headers={"X-Remote-User": "boss"}).json()["user"] == "local"


# Sessions and foreign pages -------------------------------------------------------------------


def test_a_session_is_a_cookie_that_scripts_cannot_read(tmp_path: Path) -> None:
    path, secret = token_file(tmp_path, ann="viewer")
    with asked(Settings(tokens=path, rated=False)) as client:
        found = client.post("/api/login", json={"token": secret["ann"]})
        said = found.headers["Set-Cookie"]
        assert "HttpOnly" in said
        assert "SameSite=strict" in said
        assert "Secure" not in said  # on loopback without TLS it would never be sent
        assert secret["ann"] not in said
        me = client.get("/api/me").json()
        assert me["user"] == "ann"
        assert me["session"]  # which the page can end
        assert not client.get("/api/me", headers=bearer(secret["ann"])).json()["session"]
        assert me["csrf"] == found.json()["csrf"]
        assert client.post("/api/logout", headers={"X-CSRF-Token": me["csrf"]}).json() == {
            "ended": True}
        assert client.get("/api/me").status_code == 401
        assert client.post("/api/login", json={"token": "wl_no"}).status_code == 401


def test_over_tls_the_cookie_is_secure_and_browsers_are_told_to_stay(tmp_path: Path) -> None:
    path, secret = token_file(tmp_path, ann="viewer")
    settings = Settings(tokens=path, certificate=Path("c"), key=Path("k"), rated=False)
    with asked(settings) as client:
        found = client.post("/api/login", json={"token": secret["ann"]})
        assert "Secure" in found.headers["Set-Cookie"]
        assert "max-age" in found.headers["Strict-Transport-Security"]


def test_a_session_changes_nothing_without_its_token_against_foreign_pages(
    tmp_path: Path
) -> None:
    path, secret = token_file(tmp_path, ann="viewer", bob="viewer")
    with asked(Settings(tokens=path, rated=False)) as client:
        other = client.post("/api/login", json={"token": secret["bob"]}).json()["csrf"]
        client.cookies.clear()
        own = client.post("/api/login", json={"token": secret["ann"]}).json()["csrf"]
        for given in ({}, {"X-CSRF-Token": other}, {"X-CSRF-Token": "\u00e9"}):
            sent = {name: value.encode() for name, value in given.items()}
            found = client.post(SHARE, json=TINY, headers=sent)
            assert found.status_code == 403
            assert "GET /api/me" in found.json()["right"]
        assert client.post(SHARE, json=TINY, headers={"X-CSRF-Token": own}).status_code == 200
        assert client.delete("/api/uploads/" + "0" * 32).status_code == 403
        assert client.post(SHARE, json=TINY, headers=bearer(secret["ann"])).status_code == 200


@pytest.mark.parametrize("headers", [
    {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"}, {"Origin": "http://127.0.0.1:9999"},
])
def test_a_page_of_another_site_can_make_a_local_browser_do_nothing(
    headers: dict[str, str]
) -> None:
    with asked(LOCAL) as client:
        good = {"X-CSRF-Token": csrf(client)}
        for given in (headers, {**headers, **good}):
            found = client.post("/api/operator/apply", headers=given)
            assert found.status_code == 403
            assert client.post("/api/login", json={"token": "x"}, headers=given).status_code == 403


def test_a_browser_on_loopback_needs_the_token_and_a_program_does_not() -> None:
    with asked(LOCAL) as client:
        same = {"Origin": HOST, "Sec-Fetch-Site": "same-origin"}
        assert client.post(SHARE, json=TINY, headers=same).status_code == 403
        good = {**same, "X-CSRF-Token": csrf(client)}
        assert client.post(SHARE, json=TINY, headers=good).status_code == 200
        assert client.post(SHARE, json=TINY).status_code == 200


# Names and addresses --------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "10.0.0.1",
                                  "localhost:8750@evil.example", "local host", "[::2]"])
def test_a_name_that_is_not_ours_is_refused(host: str) -> None:
    with asked(LOCAL) as client:
        found = client.get("/api/me", headers={"Host": host})
        assert found.status_code == 421
        error_of(found)


def test_names_are_those_of_loopback_those_given_and_addresses_outside() -> None:
    local = HostNames(Settings())
    for good in ("localhost", "LOCALHOST:1", "127.0.0.1:8750", "[::1]:8750"):
        assert local.allows(good)
    outside = HostNames(Settings(host="0.0.0.0", names=("power.site.example",)))
    for good in ("power.site.example", "Power.Site.Example:443", "10.1.2.3", "[fe80::1]:1"):
        assert outside.allows(good)
    for bad in ("localhost", "evil.example", ""):
        assert not outside.allows(bad)


def test_two_host_headers_are_one_too_many() -> None:
    sent: list[Any] = []

    async def ask() -> None:
        async def send(message: Any) -> None:
            sent.append(message)

        async def receive() -> Any:
            return {"type": "http.request", "body": b""}

        app = make_app(LOCAL)
        scope = {"type": "http", "method": "GET", "path": "/api/me", "query_string": b"",
                 "headers": [(b"host", b"localhost"), (b"host", b"evil.example")],
                 "client": ("127.0.0.1", 1), "http_version": "1.1", "raw_path": b"/api/me"}
        await app(scope, receive, send)

    asyncio.run(ask())
    assert sent[0]["status"] == 421


@pytest.mark.parametrize(("settings", "said"), [
    (Settings(host="0.0.0.0"), "no TLS"),
    (Settings(host="10.0.0.7", tokens=Path("t")), "no TLS"),
    (Settings(host="power.site.example", certificate=Path("c"), key=Path("k")), "no tokens"),
    (Settings(host="::", certificate=Path("c"), tokens=Path("t")), "no TLS"),
    (Settings(host="0.0.0.0", proxy="proxy.site"), "give its address"),
    (Settings(operators=("ann",)), "ann is to be an operator"),
    (Settings(proxy="10.0.0.5", user_header=""), "name of a header"),
    (Settings(proxy="10.0.0.5", user_header="X: Y"), "name of a header"),
])
def test_it_refuses_to_start_where_it_would_be_exposed(settings: Settings, said: str) -> None:
    with pytest.raises(InputError, match=said) as refused:
        refuse_exposed(settings)
    assert "\n" not in str(refused.value)
    with pytest.raises(InputError):
        make_app(settings)


def test_it_starts_on_loopback_behind_a_proxy_or_with_tls_and_tokens() -> None:
    for host in ("127.0.0.1", "localhost", "::1", "127.8.8.8"):
        refuse_exposed(Settings(host=host))
    refuse_exposed(Settings(host="0.0.0.0", proxy="10.0.0.5"))
    refuse_exposed(Settings(host="0.0.0.0", certificate=Path("c"), key=Path("k"),
                            tokens=Path("t")))


def test_without_tls_only_the_proxy_and_this_machine_are_answered(tmp_path: Path) -> None:
    """A token that a stranger on the network sends in clear text must not even be looked at."""
    path, secret = token_file(tmp_path, ann="viewer")
    clear = Settings(host="0.0.0.0", proxy="10.9.9.9", tokens=path, rated=False)
    assert "elsewhere are refused" in said_at_start(clear)
    base = "http://192.168.7.7:8750"
    for peer, passes in (("192.168.7.8", False), ("unknown", False), ("10.9.9.9", True),
                         ("::ffff:10.9.9.9", True), ("127.0.0.1", True), ("::1", True)):
        with asked(clear, client=peer, base=base) as client:
            answers = (client.get("/api/me", headers=bearer(secret["ann"])),
                       client.post("/api/login", json={"token": secret["ann"]}))
            assert [each.status_code for each in answers] == ([200, 200] if passes else [403, 403])
            if not passes:
                assert "without TLS" in error_of(answers[0])
                assert "set-cookie" not in answers[1].headers
    sealed = Settings(host="0.0.0.0", proxy="10.9.9.9", tokens=path, rated=False,
                      certificate=Path("c"), key=Path("k"))
    with asked(sealed, client="192.168.7.8", base=base) as client:
        assert client.get("/api/me", headers=bearer(secret["ann"])).status_code == 200


# How much and how often -----------------------------------------------------------------------


def test_every_answer_tells_the_browser_what_a_page_may_do() -> None:
    with asked(LOCAL) as client:
        for answer in (client.get("/api/me"), client.get("/nothing"), client.post("/api/whatif"),
                       client.get("/api/me", headers={"Host": "evil.example"})):
            rules = answer.headers["Content-Security-Policy"]
            assert "default-src 'none'" in rules
            assert "frame-ancestors 'none'" in rules
            assert "unsafe" not in rules
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert answer.headers["X-Frame-Options"] == "DENY"
            assert answer.headers["Referrer-Policy"] == "no-referrer"
            assert "Access-Control-Allow-Origin" not in answer.headers
        assert client.get("/api/me").headers["Cache-Control"] == "no-store"


def test_a_body_that_is_too_large_is_refused_by_its_length_and_by_its_bytes() -> None:
    with asked(LOCAL) as client:
        huge = b'{"name": "' + b"x" * MOST_BODY_BYTES + b'"}'
        assert client.post("/api/whatif", content=huge).status_code == 413

        def pieces() -> Any:
            for _ in range(20):
                yield b" " * (MOST_BODY_BYTES // 10)

        streamed = client.post("/api/whatif", content=pieces(),
                               headers={"Content-Type": "application/json"})
        assert streamed.status_code == 413
        error_of(streamed)
        assert client.get("/api/me?x=" + "y" * 9000).status_code == 414


def test_a_body_that_never_comes_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """But whether the client of a stream goes away is waited for as long as it takes."""
    monkeypatch.setattr(guard, "RECEIVE_S", 0.05)

    async def never() -> Any:
        await asyncio.sleep(60)

    async def late() -> Any:
        await asyncio.sleep(0.2)
        return {"type": "http.disconnect"}

    with pytest.raises(Refused, match="100 bytes"):  # nor one that is too long by its own word
        guard._limited(never, {"content-length": "101"}, 100)

    async def listen() -> Any:
        waiting = guard._limited(never, {}, 100)
        with pytest.raises(HTTPException, match="408"):
            await waiting()
        pieces = iter([{"type": "http.request", "body": b"x", "more_body": False}])

        async def receive() -> Any:
            return next(pieces, None) or await late()

        stream = guard._limited(receive, {}, 100)
        await stream()
        return await stream()

    assert asyncio.run(listen())["type"] == "http.disconnect"


def test_a_bucket_lets_a_burst_by_and_then_a_rate() -> None:
    now_s = [0.0]
    bucket = Buckets(Rate(burst=3, per_s=2), lambda: now_s[0])
    assert [bucket.wait_s("a") for _ in range(5)] == [0, 0, 0, 1, 1]
    assert bucket.wait_s("b") == 0  # another client has its own
    now_s[0] = 1.0
    assert [bucket.wait_s("a") for _ in range(3)] == [0, 0, 1]


def test_who_asks_too_often_is_told_when_to_come_again(tmp_path: Path) -> None:
    path, secret = token_file(tmp_path, ann="viewer", bob="viewer")
    with asked(Settings(tokens=path)) as client:
        answers = [client.post("/api/plan/procure", json={}, headers=bearer(secret["ann"]))
                   for _ in range(60)]
        refused = [each for each in answers if each.status_code == 429]
        assert refused
        assert answers[0].status_code == 422
        assert int(refused[0].headers["Retry-After"]) >= 1
        other = client.post("/api/plan/procure", json={}, headers=bearer(secret["bob"]))
        assert other.status_code == 422


def test_tokens_cannot_be_tried_out(tmp_path: Path) -> None:
    path, secret = token_file(tmp_path, ann="viewer")
    with asked(Settings(tokens=path)) as client:
        for ask in (lambda: client.post("/api/login", json={"token": "wl_guess"}),
                    lambda: client.get("/api/me", headers=bearer("wl_guess"))):
            assert 429 in [ask().status_code for _ in range(10)]
        assert client.get("/api/me", headers=bearer(secret["ann"])).status_code == 200


def test_a_web_socket_is_shut_at_once() -> None:
    with asked(LOCAL) as client, pytest.raises(Exception), client.websocket_connect("/api/x"):  # noqa: B017, PT011
        pass
