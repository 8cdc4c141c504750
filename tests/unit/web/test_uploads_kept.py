"""Uploads: read strictly, limited in every direction, kept under names of the server's own."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.unit.web.asking import CAPPED, asked, bearer, error_of, token_file

from wattline.scenario.bundled_logs import bundled_logs
from wattline.web.problems import Refused
from wattline.web.settings import Settings
from wattline.web.uploads.store import UploadLimits, UploadStore, ending, safe_name
from wattline.web.worker.pool import WorkLimits

LOG = bundled_logs()["tiny.swf"].read_bytes()
LIMITS = UploadLimits(file_bytes=100_000, viewer_bytes=150_000, viewer_files=2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("uploads")


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[TestClient]:
    with asked(Settings(uploads=folder, rated=False), uploads=LIMITS,
               work=WorkLimits(file_bytes=2**20)) as found:
        yield found


@pytest.fixture
def client(served: TestClient) -> Iterator[TestClient]:
    """The server, without what the test before left."""
    yield served
    store = served.app_made.state.uploads  # type: ignore[attr-defined]
    for each in store.of("local"):
        store.remove(each.id)


def unread(client: TestClient) -> None:
    """Let nobody read what comes: these tests are about where it is kept."""
    pool = client.app_made.state.pool  # type: ignore[attr-defined]
    pool.ask = lambda *_, **__: {"jobs": 12, "remarks": []}


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_log_is_taken_asked_about_and_removed(client: TestClient, folder: Path) -> None:
    taken = client.post("/api/uploads?name=my%20log.swf.gz", content=gzip.compress(LOG))
    assert taken.status_code == 201, taken.text
    found = taken.json()
    assert found["jobs"] == 12
    assert found["name"] == "my-log.swf.gz"
    assert any("overrun rule" in line and "my-log" in line for line in found["remarks"])
    assert str(folder) not in taken.text
    assert [each["id"] for each in client.get("/api/uploads").json()] == [found["id"]]
    asked_about = {**CAPPED, "trace": {"file": found["file"]}}
    answer = client.post("/api/whatif", json=asked_about).json()
    same = client.post("/api/whatif", json=CAPPED).json()
    assert answer["variant"]["metrics"]["energy_j"] == same["variant"]["metrics"]["energy_j"]
    assert str(folder) not in str(answer)
    assert client.delete(f"/api/uploads/{found['id']}").json() == {"deleted": found["id"]}
    assert files(folder) == []
    gone = client.post("/api/whatif", json=asked_about)
    assert gone.status_code == 404
    assert "expired" in error_of(gone)


@pytest.mark.parametrize(("name", "content", "said"), [
    ("log.swf", b"", "empty"),
    ("log.swf", b"; only a header\n", "log.swf"),
    ("log.swf", b"\0" * 50, "binary"),
    ("log.swf.gz", gzip.compress(LOG)[:-20], "cut off"),
    ("log.swf.zst", b"\x28\xb5\x2f\xfd" + b"\0" * 40, "packed with zstd"),
    ("log.parquet", b"PAR1 but not really", "log.parquet"),
    ("log.json", b'{"jobs": ' + b"[" * 5000 + b"]" * 5000 + b"}", "log.json"),
])
def test_what_no_reader_takes_is_refused_and_not_kept(
    client: TestClient, folder: Path, name: str, content: bytes, said: str
) -> None:
    found = client.post(f"/api/uploads?name={name}", content=content)
    assert found.status_code == 422, found.text
    assert said in error_of(found)
    assert str(folder) not in found.text
    assert files(folder) == []


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress])
def test_a_small_file_that_unpacks_to_much_is_refused(
    client: TestClient, folder: Path, pack: object
) -> None:
    bomb = pack(LOG + b"\n" * 3_000_000)  # type: ignore[operator]
    assert len(bomb) < LIMITS.file_bytes
    found = client.post("/api/uploads?name=log.swf", content=bomb)
    assert found.status_code == 422
    assert error_of(found).endswith("MiB, unpacked, which is the limit")
    assert files(folder) == []


def test_a_large_file_is_refused_by_its_length_and_by_its_bytes(
    client: TestClient, folder: Path
) -> None:
    said = client.post("/api/uploads", content=b"x" * 100_001)
    assert said.status_code == 413

    def trickle() -> Iterator[bytes]:
        for _ in range(20):
            yield b"x" * 10_000

    streamed = client.post("/api/uploads", content=trickle())
    assert streamed.status_code == 413
    assert "MiB" in error_of(streamed)
    assert files(folder) == []


def test_a_viewer_has_a_quota_of_files_and_of_bytes(client: TestClient) -> None:
    wide = LOG + b"; " + b"x" * 80_000 + b"\n"
    first = client.post("/api/uploads", content=wide)
    assert first.status_code == 201, first.text
    assert client.post("/api/uploads", content=wide).status_code == 429  # bytes
    assert client.post("/api/uploads", content=LOG).status_code == 201
    found = client.post("/api/uploads", content=LOG)  # files
    assert found.status_code == 429
    assert "delete one" in found.json()["right"]


def test_what_is_still_coming_counts_too(tmp_path: Path) -> None:
    store = UploadStore(tmp_path / "up", LIMITS)
    with store.draft("ann", "a.swf", 10), store.draft("ann", "b.swf", 10):
        with pytest.raises(Refused, match="2 uploads"), store.draft("ann", "c.swf", 10):
            pass
        with store.draft("bob", "c.swf", 10) as (made, path):
            assert path.name == f"{made}.swf"
    with store.draft("ann", "c.swf", 10):
        pass  # those before are over, and nothing was kept of them


def test_an_upload_is_removed_by_its_owner_alone(tmp_path: Path) -> None:
    tokens, secret = token_file(tmp_path, ann="viewer", bob="viewer")
    with asked(Settings(tokens=tokens, uploads=tmp_path / "up")) as client:
        unread(client)
        made = client.post("/api/uploads", content=LOG, headers=bearer(secret["ann"])).json()["id"]
        other = client.delete(f"/api/uploads/{made}", headers=bearer(secret["bob"]))
        assert other.status_code == 404
        assert client.get("/api/uploads", headers=bearer(secret["bob"])).json() == []
        own = client.delete(f"/api/uploads/{made}", headers=bearer(secret["ann"]))
        assert own.status_code == 200


def test_uploads_expire_and_leftovers_are_swept(tmp_path: Path) -> None:
    store = UploadStore(tmp_path / "up", UploadLimits(kept_s=-1.0))
    with asked(Settings(uploads=tmp_path / "up", rated=False)) as client:
        unread(client)
        made = client.post("/api/uploads", content=LOG).json()["id"]
    again = UploadStore(tmp_path / "up")
    assert again.find(made).name == "log.swf"  # a restart keeps it
    (tmp_path / "up" / ("0" * 32 + ".swf")).write_bytes(b"half an upload")
    assert [each.id for each in UploadStore(tmp_path / "up").of("local")] == [made]
    assert not (tmp_path / "up" / ("0" * 32 + ".swf")).exists()
    store._held = dict(again._held)
    store.expire()
    assert files(tmp_path / "up") == []


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/cron.d/x", "..\\..\\x", "a\0b",
                                  "....//....//x", "~/.ssh/id", "%2e%2e%2fx"])
def test_the_name_of_a_file_reaches_no_path(
    client: TestClient, folder: Path, name: str
) -> None:
    found = client.post("/api/uploads", params={"name": name}, content=LOG)
    assert found.status_code == 201, found.text
    assert {path.parent for path in folder.rglob("*")} == {folder}
    assert all(len(each.split(".")[0]) == 32 for each in files(folder))
    assert not {"/", "\\", "\0"} & set(found.json()["name"])
    assert not safe_name(name).startswith(".")


def test_only_known_ends_of_names_are_taken_over() -> None:
    assert ending("LOG.SWF.GZ") == ".swf.gz"
    assert ending("x.sh") == ""
    assert ending("x.tar.xz") == ".xz"


@pytest.mark.parametrize("wanted", ["..%2f..%2fetc%2fpasswd", "x", "A" * 32, "0" * 33])
def test_an_id_is_32_hexadecimal_digits_and_nothing_else(client: TestClient, wanted: str) -> None:
    assert client.delete(f"/api/uploads/{wanted}").status_code in (404, 422)
