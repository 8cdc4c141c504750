"""A PostgreSQL server of its own for a test: in a temporary folder, on a socket, then gone."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

START_S = 60.0


@contextmanager
def server() -> Iterator[str]:
    """The URL of an empty database; skips with the reason where PostgreSQL is not installed."""
    pytest.importorskip("psycopg", reason="needs the Python package psycopg")
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"))  # where Debian keeps them
    found = {name: shutil.which(name, path=":".join([os.environ.get("PATH", ""),
                                                     *map(str, folders)]))
             for name in ("initdb", "postgres")}
    missing = [name for name, path in found.items() if path is None]
    if missing:
        pytest.skip(f"needs the program {missing[0]} (Debian package postgresql)")
    with tempfile.TemporaryDirectory(prefix="pg") as name:
        folder = Path(name)
        owner = _not_root(folder)
        subprocess.run(
            [found["initdb"], "-D", folder / "data", "-U", "wattline", "-A", "trust", "-E", "UTF8",
             "--no-sync"], check=True, capture_output=True, cwd=folder, **owner)
        with (folder / "log").open("w") as log:
            process = subprocess.Popen(
                [found["postgres"], "-D", folder / "data", "-k", folder, "-c",
                 "listen_addresses=", "-c", "fsync=off", "-c", "shared_buffers=16MB"],
                stdout=log, stderr=log, cwd=folder, **owner)
        try:
            _wait(process, folder)
            yield f"postgresql+psycopg://wattline@/postgres?host={folder}"
        finally:
            process.terminate()
            process.wait(timeout=30)


def _not_root(folder: Path) -> dict[str, Any]:
    """PostgreSQL does not run as root: then as the user that its package made, or as nobody."""
    if os.getuid() != 0:
        return {}
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = known.get("postgres") or known["nobody"]
    os.chown(folder, entry.pw_uid, entry.pw_gid)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def _wait(process: subprocess.Popen[bytes], folder: Path) -> None:
    import psycopg

    until_s = time.monotonic() + START_S
    while time.monotonic() < until_s:
        assert process.poll() is None, f"no server: {(folder / 'log').read_text()[-300:]}"
        try:
            psycopg.connect(host=str(folder), user="wattline", dbname="postgres").close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(f"no answer in {START_S:.0f} s: {(folder / 'log').read_text()[-300:]}")
