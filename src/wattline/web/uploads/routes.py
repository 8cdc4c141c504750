"""`/api/uploads`: the bytes of a job log in, an id out."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

from fastapi import Path as InPath
from fastapi import Query, Request
from starlette.concurrency import run_in_threadpool

from wattline.model.clock import now
from wattline.traces.column_map import built_in
from wattline.web.addresses import make_router
from wattline.web.asked import pool_of, uploads_of
from wattline.web.problems import Refused, documented
from wattline.web.security.person import person_of
from wattline.web.uploads.store import Upload, UploadStore, safe_name

router = make_router("/api/uploads", "uploads")
UploadId = Annotated[str, InPath(pattern="^[0-9a-f]{32}$")]
_BODY = {"requestBody": {"required": True, "content": {"application/octet-stream": {
    "schema": {"type": "string", "format": "binary"}}}}}


@router.post("", status_code=201, openapi_extra=_BODY,
             responses=documented(401, 403, 408, 413, 422, 429, 503))
async def post_upload(
    request: Request,
    name: Annotated[str, Query(max_length=200)] = "log.swf",
    map: Annotated[str | None, Query(max_length=60)] = None,
) -> dict[str, Any]:
    """Take a job log: SWF, sacct, CSV or Parquet, plain or packed by gz, xz or bz2.

    The body is the file itself. `name` tells its format as for `wattline simulate`, `map` is a
    column map of the package for tables.
    """
    if map is not None and map not in built_in():
        raise Refused(422, f"there is no column map '{map}'",
                      f"one of {', '.join(built_in())}")
    owner, store = person_of(request).key, uploads_of(request)
    with store.draft(owner, name, _declared(request, store)) as (made, path):
        size = await _receive(request, path, store)
        shown = safe_name(name)
        found = await run_in_threadpool(
            pool_of(request).ask, "upload", {"path": str(path), "name": shown, "map": map})
        upload = Upload(made, shown, owner, path, size, now().timestamp(), found)
        store.keep(upload)
    return upload.said()


@router.get("", responses=documented(401, 429))
def get_uploads(request: Request) -> list[dict[str, Any]]:
    """Your own uploads that are still here."""
    return [each.said() for each in uploads_of(request).of(person_of(request).key)]


@router.delete("/{wanted}", responses=documented(401, 403, 404, 422, 429))
def delete_upload(wanted: UploadId, request: Request) -> dict[str, Any]:
    """Remove one of your own."""
    store = uploads_of(request)
    if store.find(wanted).owner != person_of(request).key:
        raise Refused(404, "there is no such upload; it may have expired")
    store.remove(wanted)
    return {"deleted": wanted}


def _declared(request: Request, store: UploadStore) -> int:
    """How large the file will be; where nobody says so, as large as one may be."""
    text = request.headers.get("content-length", "")
    return int(text[:18]) if text.isascii() and text.isdigit() else store.limits.file_bytes


async def _receive(request: Request, path: Path, store: UploadStore) -> int:
    """Write the body down while it is counted; a sender that trickles is cut off."""
    size = 0
    try:
        async with asyncio.timeout(store.limits.receive_s):
            with path.open("xb") as file:
                async for chunk in request.stream():
                    size += len(chunk)
                    store.refuse_large(size)
                    file.write(chunk)
    except TimeoutError:
        raise Refused(408, f"the file did not come within {store.limits.receive_s:g} s") from None
    if not size:
        raise Refused(422, "the body is empty", "send the bytes of the log as the body")
    return size
