"""A real Prometheus server on loopback, with samples that were backfilled or that it scrapes."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

READY_S = 60.0


@contextmanager
def server(openmetrics: str) -> Iterator[str]:
    """The address of a server that has these samples; skips where Debian's package is not."""
    if not (shutil.which("prometheus") and shutil.which("promtool")):
        pytest.skip("no prometheus and promtool here; Debian's package prometheus has them")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "samples.txt").write_text(openmetrics)
        (place / "none.yml").write_text("")
        subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics",
                        place / "samples.txt", place / "data"], check=True, capture_output=True)
        with _started(place, "none.yml") as url:
            yield url


@contextmanager
def scraping(target: str) -> Iterator[str]:
    """The address of a server that scrapes `/metrics` of a host and port each second."""
    if not shutil.which("prometheus"):
        pytest.skip("no prometheus here; Debian's package prometheus has it")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "scrape.yml").write_text(
            "scrape_configs:\n  - job_name: wattline\n    scrape_interval: 1s\n"
            f"    static_configs:\n      - targets: ['{target}']\n")
        with _started(place, "scrape.yml") as url:
            yield url


@contextmanager
def _started(place: Path, config: str) -> Iterator[str]:
    address = f"127.0.0.1:{_free_port()}"
    with (place / "log").open("w") as log:
        process = subprocess.Popen(
            ["prometheus", f"--config.file={place / config}",
             f"--storage.tsdb.path={place / 'data'}", "--storage.tsdb.retention.time=100y",
             f"--web.listen-address={address}"], stdout=log, stderr=log)
        try:
            _wait(process, f"http://{address}", place / "log")
            yield f"http://{address}"
        finally:
            process.terminate()
            process.wait(30)


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    until = time.monotonic() + READY_S
    while time.monotonic() < until:
        assert process.poll() is None, log.read_text()
        try:
            urlopen(f"{url}/-/ready", timeout=5).close()
        except (URLError, OSError):
            time.sleep(0.1)
        else:
            return
    raise AssertionError(log.read_text())


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
