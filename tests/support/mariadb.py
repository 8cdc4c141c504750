"""A MariaDB server of its own for a test: in a temporary folder, on a socket, gone afterwards."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

DATABASE = "wattline"
START_S = 60.0


@contextmanager
def server() -> Iterator[str]:
    """The URL of an empty database; skips with the reason where MariaDB is not installed."""
    pymysql = pytest.importorskip("pymysql", reason="needs the Python package pymysql")
    programs = {name: _program(name) for name in ("mariadb-install-db", "mariadbd")}
    missing = [name for name, path in programs.items() if path is None]
    if missing:
        pytest.skip(f"needs the program {missing[0]} (Debian package mariadb-server-core)")
    # Not pytest's folder: the name of a socket may have 107 characters.
    with tempfile.TemporaryDirectory(prefix="mariadb") as name:
        folder = Path(name)
        socket = folder / "s"
        # Their own place for temporary tables: a server that starts removes those of others.
        user = [f"--user={_user()}", f"--tmpdir={folder}"]
        made = subprocess.run(
            [programs["mariadb-install-db"], "--no-defaults", f"--datadir={folder / 'data'}",
             "--auth-root-authentication-method=normal", "--skip-test-db", *user],
            capture_output=True, text=True, check=False,
        )
        assert made.returncode == 0, f"mariadb-install-db failed: {made.stderr.strip()[-200:]}"
        with (folder / "log").open("w") as log:
            process = subprocess.Popen(
                [programs["mariadbd"], "--no-defaults", *user, f"--datadir={folder / 'data'}",
                 f"--socket={socket}", f"--pid-file={folder / 'pid'}", "--skip-networking",
                 "--innodb-buffer-pool-size=16M", "--innodb-flush-log-at-trx-commit=0"],
                stdout=log, stderr=log,
            )
        try:
            _wait(process, socket, folder / "log")
            with pymysql.connect(unix_socket=str(socket), user="root") as connection:
                connection.cursor().execute(f"CREATE DATABASE {DATABASE}")
            yield f"mariadb+pymysql://root@localhost/{DATABASE}?unix_socket={socket}"
        finally:
            process.terminate()
            process.wait(timeout=30)


def _program(name: str) -> str | None:
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")


def _user() -> str:
    import getpass

    return getpass.getuser()


def _wait(process: subprocess.Popen[bytes], socket: Path, log: Path) -> None:
    import pymysql

    until_s = time.monotonic() + START_S
    while time.monotonic() < until_s:
        assert process.poll() is None, f"mariadbd did not start: {log.read_text()[-300:]}"
        try:
            pymysql.connect(unix_socket=str(socket), user="root").close()
        except pymysql.err.OperationalError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(f"mariadbd gave no answer in {START_S:.0f} s: {log.read_text()[-300:]}")
