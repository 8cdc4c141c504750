"""The server in a process of its own on one core, and who asks it in this one."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

VIEWERS = 200
SECONDS = 30
NODES = 5000
LATE_S = 0.5
"""A beat that comes later than this after it was due counts as missed."""
READY_S = 180.0


def viewers(count: int = VIEWERS, seconds: float = SECONDS) -> dict[str, Any]:
    """Open so many live pages and count the beats that each got."""
    with _server() as (url, process):
        before_s = _cpu_s(process.pid)
        started = time.monotonic()
        arrivals = asyncio.run(_watch(url, count, seconds))
        took_s = time.monotonic() - started
        used_s = _cpu_s(process.pid) - before_s
    gaps = [later - earlier for times in arrivals
            for earlier, later in pairwise(times[1:])]
    missed = sum(gap > 1.0 + LATE_S for gap in gaps)
    return {"viewers": count, "seconds": took_s, "beats": len(gaps), "missed_share":
            missed / max(len(gaps), 1), "least_beats_of_a_viewer": min(map(len, arrivals)),
            "longest_gap_s": max(gaps, default=0.0), "server_cpu_share": used_s / took_s}


async def _watch(url: str, count: int, seconds: float) -> list[list[float]]:
    until = time.monotonic() + seconds + 1.0
    return list(await asyncio.gather(*(_viewer(url, until) for _ in range(count))))


async def _viewer(url: str, until: float) -> list[float]:
    host, port = url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=2**20)
    writer.write(f"GET /api/events HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
    times: list[float] = []
    try:
        while time.monotonic() < until:
            line = await asyncio.wait_for(reader.readline(), until - time.monotonic() + 0.1)
            if line.startswith(b"data: "):
                times.append(time.monotonic())
    except TimeoutError:
        pass
    writer.close()
    return times


def first_answers(nodes: int = NODES) -> dict[str, float]:
    """Milliseconds of what the first page asks for, of a machine of so many nodes."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        _write_run(run, nodes)
        with _server("--run", str(run), "--speed", "60", "--at", "12h") as (url, _):
            found = {f"{path.partition('?')[0].strip('/')}_ms": _asked_ms(url, path) for path in (
                "/", "/api/me", "/api/about", "/api/now", "/api/history?points=800",
                f"/api/nodes?limit={nodes}", "/api/racks", "/api/queue", "/api/jobs")}
    page = found.pop("_ms")
    return {"page_ms": page, **found, "sum_ms": page + sum(found.values())}


def whatif() -> dict[str, Any]:
    """Seconds of a what-if of four months on 49,152 nodes: the first, and another cap when warm.

    Kernels are compiled before: a request may not take as long as that can.
    """
    from wattline.scenario.api import simulate

    for name in ("main-capped", "main-uncapped"):
        simulate(f"bundled:{name}")
    times = []
    with _server() as (url, _):
        with urlopen(f"{url}/api/whatif/choices", timeout=60) as answer:
            scenarios = json.load(answer)["scenarios"]
        capped = next(each for each in scenarios if "cap" in each.get("power", {}))
        for cap in (0.8, 0.7, 0.6, 0.65):
            started = time.monotonic()
            asked = {**capped, "power": {**capped["power"], "cap": cap}}
            found = _posted(f"{url}/api/whatif", asked)
            times.append(time.monotonic() - started)
    return {"jobs": found["variant"]["metrics"]["jobs"], "first_s": times[0],
            "warm_s": sorted(times[1:])[1]}


def javascript() -> dict[str, int | None]:
    """Bytes of the scripts of the pages, as they are and compressed."""
    from wattline.web.app import STATIC

    files = sorted((STATIC / "app").rglob("*.js"))
    whole = b"".join(file.read_bytes() for file in files)
    return {"files": len(files), "bytes": len(whole),
            "gzip_bytes": sum(len(gzip.compress(file.read_bytes(), 9)) for file in files)}


@contextmanager
def _server(*options: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """`wattline serve` on one core."""
    core = min(os.sched_getaffinity(0))
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "wattline", "serve", "--port", "0", "--no-warm", *options],
            stdout=log, stderr=log, text=True)
        os.sched_setaffinity(process.pid, {core})
        try:
            yield _address(process, log), process
        finally:
            process.terminate()
            process.wait(20)


def _address(process: subprocess.Popen[str], log: Any) -> str:
    until = time.monotonic() + READY_S
    while time.monotonic() < until:
        log.seek(0)
        text = log.read()
        found = [line.split()[1] for line in text.splitlines() if line.startswith("wattline: http")]
        if found:
            url = str(found[0]).rstrip("/")
            urlopen(f"{url}/api/me", timeout=READY_S).close()
            return url
        if process.poll() is not None:
            break
        time.sleep(0.1)
    raise RuntimeError(f"the server did not start: {text}")


def _asked_ms(url: str, path: str) -> float:
    started = time.monotonic()
    with urlopen(url + path, timeout=60) as answer:
        answer.read()
    return (time.monotonic() - started) * 1e3


def _posted(url: str, said: Any) -> Any:
    body = json.dumps(said).encode()
    asked = Request(url, body, {"Content-Type": "application/json"})
    with urlopen(asked, timeout=300) as answer:
        return json.load(answer)


def _cpu_s(pid: int) -> float:
    """Processor seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _write_run(folder: Path, nodes: int) -> None:
    from wattline.analysis import rundir
    from wattline.scenario.api import simulate
    from wattline.scenario.objects import Machine
    from wattline.traces import generate

    machine = Machine(nodes=nodes, nodes_per_rack=50, node_idle_w=90, node_active_w=300)
    trace = generate("lublin", seed=1, jobs=5000, nodes=nodes)
    rundir.write(simulate(trace, machine=machine, placement="first-fit"), folder)
