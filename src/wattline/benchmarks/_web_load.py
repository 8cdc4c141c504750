"""Who asks the server without a browser: live pages, the first questions of one, what-ifs."""

from __future__ import annotations

import asyncio
import gzip
import json
import time
from itertools import pairwise
from typing import Any
from urllib.request import Request, urlopen

from wattline.benchmarks._web_server import cpu_s

LATE_S = 0.5
"""A beat that comes later than this after it was due counts as missed."""
BESIDE_A_BEAT = ("/api/nodes?limit=2000", "/api/queue")
EVERY_BEATS = 3
"""So often the live page asks for these."""
WARM_CAPS = ("70%peak", "60%peak", "65%peak")


def viewers(url: str, pid: int, count: int, seconds: float) -> dict[str, Any]:
    """Open so many live pages and count the beats that each got.

    Each asks for nodes and queue as often as the page does; an answer that is refused counts.
    """
    before_s = cpu_s(pid)
    started = time.monotonic()
    pages = asyncio.run(_watch(url, count, seconds))
    took_s = time.monotonic() - started
    used_s = cpu_s(pid) - before_s
    arrivals = [times for times, _ in pages]
    gaps = [later - earlier for times in arrivals
            for earlier, later in pairwise(times[1:])]
    statuses = [status for _, answers in pages for status in answers]
    missed = sum(gap > 1.0 + LATE_S for gap in gaps)
    return {"viewers": count, "seconds": took_s, "beats": len(gaps), "missed": missed,
            "least_beats_of_a_viewer": min(map(len, arrivals)),
            "longest_gap_s": max(gaps, default=0.0), "asked": len(statuses),
            "refused": sum(status != b"200" for status in statuses),
            "server_cpu_share": used_s / took_s}


async def _watch(url: str, count: int, seconds: float) -> list[tuple[list[float], list[bytes]]]:
    until = time.monotonic() + seconds + 1.0
    return list(await asyncio.gather(*(_viewer(url, until) for _ in range(count))))


async def _viewer(url: str, until: float) -> tuple[list[float], list[bytes]]:
    """When beats came, and the statuses of what was asked at each of them."""
    host, port = url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=2**20)
    asking = await asyncio.open_connection(host, int(port), limit=2**20)
    writer.write(_get("/api/events", host, port))
    times: list[float] = []
    statuses: list[bytes] = []
    try:
        while time.monotonic() < until:
            line = await asyncio.wait_for(reader.readline(), until - time.monotonic() + 0.1)
            if line.startswith(b"data: "):
                times.append(time.monotonic())
                for path in () if len(times) % EVERY_BEATS else BESIDE_A_BEAT:
                    statuses.append(await _status(*asking, _get(path, host, port)))
    except TimeoutError:
        pass
    writer.close()
    asking[1].close()
    return times, statuses


def _get(path: str, host: str, port: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode()


async def _status(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes
) -> bytes:
    """Of one answer, which is read to its end."""
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(line.partition(b":")[2] for line in head.split(b"\r\n")
                  if line.lower().startswith(b"content-length:"))
    await reader.readexactly(int(length))
    return head.split(b" ", 2)[1]


def first_answers(url: str, nodes: int) -> dict[str, float]:
    """Milliseconds of what the first page asks for, of a machine of so many nodes."""
    found = {f"{path.partition('?')[0].strip('/')}_ms": _asked_ms(url, path) for path in (
        "/", "/api/me", "/api/about", "/api/now", "/api/history?points=800",
        f"/api/nodes?limit={nodes}", "/api/racks", "/api/queue", "/api/jobs")}
    page = found.pop("_ms")
    return {"page_ms": page, **found, "sum_ms": page + sum(found.values())}


def whatif(url: str, pid: int) -> dict[str, Any]:
    """Seconds of a what-if of four months on 49,152 nodes: the first, and another cap when warm.

    `share` is the last question as a link has it.
    """
    with urlopen(f"{url}/api/whatif/choices", timeout=60) as answer:
        scenarios = json.load(answer)["scenarios"]
    capped = next(each for each in scenarios if "cap" in each.get("power", {}))
    first_s, _ = _answered(url, capped, "80%peak")
    before_s = cpu_s(pid)
    warm = [_answered(url, capped, cap) for cap in WARM_CAPS]
    return {"jobs": warm[0][1]["variant"]["metrics"]["jobs"]["total"], "first_s": first_s,
            "warm_s": sorted(took_s for took_s, _ in warm)[len(warm) // 2],
            "warm_server_cpu_s": (cpu_s(pid) - before_s) / len(warm),
            "share": warm[-1][1]["share"]}


def _answered(url: str, scenario: dict[str, Any], cap: str) -> tuple[float, Any]:
    started = time.monotonic()
    found = _posted(f"{url}/api/whatif", {**scenario, "power": {**scenario["power"], "cap": cap}})
    return time.monotonic() - started, found


def javascript() -> dict[str, int]:
    """Bytes of the scripts of the pages, as they are and compressed."""
    from wattline.web.app import STATIC

    files = sorted((STATIC / "app").rglob("*.js"))
    whole = b"".join(file.read_bytes() for file in files)
    return {"files": len(files), "bytes": len(whole),
            "gzip_bytes": sum(len(gzip.compress(file.read_bytes(), 9)) for file in files)}


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
