"""Files that the user names: what is no file, what has no end, what unpacks without end."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import random
import threading
from pathlib import Path

import pytest

from wattline.model.errors import InputError
from wattline.model.reading import (
    LIMIT_VARIABLE,
    is_file,
    parse_toml,
    read_file,
    read_text,
    read_toml,
    read_unpacked,
)

MIB = 2**20
PACKERS = {"gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress}


@pytest.mark.parametrize(("name", "message"), [
    ("/dev/zero", "is a device"), ("/dev/null", "is a device"), ("/tmp", "is a folder"),
    ("nowhere", "no such file"), ("a\0b", "no file has such a name"), ("x" * 5000, "too long"),
])
def test_what_is_no_file_is_refused_in_one_line(name: str, message: str) -> None:
    for read in (read_file, read_unpacked, read_text, read_toml):
        with pytest.raises(InputError, match=message) as error:
            read(name)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000, "nowhere"])
def test_names_that_no_file_can_have_are_no_file(name: str) -> None:
    assert not is_file(name)


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert read_file(pipe) == b""


def test_a_pipe_is_read_to_its_end() -> None:
    content = b"".join(b"%d 2 3\n" % n for n in range(100_000))
    sent = gzip.compress(content)
    reads, writes = os.pipe()

    def send() -> None:
        with os.fdopen(writes, "wb") as pipe:
            pipe.write(sent)

    writer = threading.Thread(target=send)
    writer.start()
    assert read_unpacked(f"/dev/fd/{reads}") == (content, True)
    writer.join()
    os.close(reads)


@pytest.mark.parametrize("kind", PACKERS)
def test_members_one_after_the_other_are_one_content(kind: str, tmp_path: Path) -> None:
    parts = [bytes([65 + n]) * (n * MIB // 2) for n in range(6)]
    path = tmp_path / "log"
    padding = b"\0" * 8 if kind == "gz" else b""
    path.write_bytes(b"".join(PACKERS[kind](part) for part in parts) + padding)
    assert read_unpacked(path) == (b"".join(parts), True)


@pytest.mark.parametrize("kind", PACKERS)
def test_packed_data_that_is_cut_off_or_damaged_is_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "log"
    whole = PACKERS[kind](random.Random(1).randbytes(MIB + 9000))  # more than is read at a time
    for broken in (whole[: len(whole) // 2], whole[:-4], whole + whole[:20],
                   whole[:40] + b"?" * 40 + whole[80:]):
        path.write_bytes(broken)
        with pytest.raises(InputError, match=r"cut off|damaged"):
            read_unpacked(path)


@pytest.mark.parametrize("kind", [*PACKERS, ""])
def test_the_limit_holds_for_what_is_unpacked(
        kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack = PACKERS.get(kind, lambda data: data)
    path = tmp_path / "log"
    path.write_bytes(pack(b" " * 4 * MIB))
    monkeypatch.setenv(LIMIT_VARIABLE, str(4 / 1024))
    assert len(read_unpacked(path)[0]) == 4 * MIB
    path.write_bytes(pack(b" " * (4 * MIB + 1)))
    with pytest.raises(InputError, match=f"more than 4 MiB.*{LIMIT_VARIABLE}"):
        read_unpacked(path)
    monkeypatch.setenv(LIMIT_VARIABLE, "1")
    assert len(read_unpacked(path)[0]) == 4 * MIB + 1


@pytest.mark.parametrize("text", ["much", "0", "-1", "nan", "inf"])
def test_a_limit_that_is_none_is_named(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, text)
    with pytest.raises(InputError, match=LIMIT_VARIABLE):
        read_file(__file__)


@pytest.mark.parametrize("text", [
    "a = " + "[" * 5000, "a = " + "{b=" * 3000, "a = " + "[" * 200 + "]" * 200,
    ".".join("a" * 5000) + " = 1", "a = " + "9" * 5000, "[a", "a = 1\na = 2",
])
def test_toml_that_is_none_or_lies_too_deep_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"case: (not a TOML file|tables or lists lie)") as error:
        parse_toml(text, "case")
    assert len(str(error.value)) < 300


def test_toml_as_people_write_it_is_read() -> None:
    assert parse_toml("[a.b]\nc = [[1, {d = 2}]]", "case") == {"a": {"b": {"c": [[1, {"d": 2}]]}}}


@pytest.mark.parametrize(("name", "begins"), [
    ("zstd", b"\x28\xb5\x2f\xfd"), ("zip", b"PK\x03\x04"), ("7z", b"7z\xbc\xaf\x27\x1c")])
def test_a_packing_that_is_not_read_is_named(name: str, begins: bytes, tmp_path: Path) -> None:
    (tmp_path / "log.swf").write_bytes(begins + b" " * 100)
    with pytest.raises(InputError, match=f"packed with {name}.*gzip, xz or bzip2"):
        read_unpacked(tmp_path / "log.swf")
