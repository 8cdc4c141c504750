"""Uploaded logs in a folder of the server's own: generated names, a quota, an end.

Nothing of a request reaches the file system but the bytes: the name of a file here is an id that
the server drew, and the end of a name out of a short list.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from wattline.model.clock import now
from wattline.web.problems import Refused

ID = re.compile(r"[0-9a-f]{32}")
KINDS = (".swf", ".csv", ".json", ".parquet", ".txt")
PACKED = (".gz", ".xz", ".bz2")
MIB = 2**20


@dataclass(frozen=True)
class UploadLimits:
    """What one may bring, and for how long it stays."""

    file_bytes: int = 64 * MIB
    viewer_bytes: int = 256 * MIB
    viewer_files: int = 8
    all_bytes: int = 4096 * MIB
    receive_s: float = 120.0
    kept_s: float = 24 * 3600.0

    def said(self) -> dict[str, float]:
        return {"upload_bytes": self.file_bytes, "upload_files": self.viewer_files,
                "upload_kept_s": self.kept_s}


@dataclass(frozen=True)
class Upload:
    """A log that was taken."""

    id: str
    name: str
    """What its owner calls the file; never used as a path."""
    owner: str
    path: Path
    bytes: int
    time_s: float
    """When it came, in Unix time."""
    found: dict[str, Any] = field(default_factory=dict)
    """Jobs, sizes and remarks, as the reader told them."""

    def said(self) -> dict[str, Any]:
        return {"id": self.id, "file": f"upload:{self.id}", "name": self.name,
                "bytes": self.bytes, **self.found}


def safe_name(name: str) -> str:
    """A file's name to show and to write down: its last part, in plain letters."""
    last = re.split(r"[/\\\0]", name)[-1]
    return re.sub(r"[^A-Za-z0-9._-]+", "-", last).lstrip(".-")[:80] or "log.swf"


def ending(name: str) -> str:
    """The end of a name by which readers tell formats, out of those that there are."""
    lower = name.lower()
    packed = next((end for end in PACKED if lower.endswith(end)), "")
    kind = next((end for end in KINDS if lower.removesuffix(packed).endswith(end)), "")
    return kind + packed


class UploadStore:
    """The folder."""

    def __init__(self, folder: Path | None = None, limits: UploadLimits | None = None) -> None:
        self.limits = limits or UploadLimits()
        self._own = None if folder is not None else tempfile.TemporaryDirectory(
            prefix="wattline-uploads-", ignore_cleanup_errors=True)
        self.folder = Path(self._own.name) if self._own is not None else Path(folder or ".")
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._lock = threading.Lock()
        self._coming: dict[str, tuple[str, int]] = {}
        self._held = self._read_all()

    @contextmanager
    def draft(self, owner: str, name: str, size: int) -> Iterator[tuple[str, Path]]:
        """An id and a place for bytes that are coming; nothing is left of them if they fail.

        What comes counts like what is there, so that nobody passes a quota by hurrying.
        """
        made = secrets.token_hex(16)
        self.expire()
        with self._lock:
            self._admit(owner, size)
            self._coming[made] = (owner, size)
        path = self.folder / f"{made}{ending(name)}"
        try:
            yield made, path
        except BaseException:  # also where the sender goes away
            path.unlink(missing_ok=True)
            raise
        finally:
            with self._lock:
                self._coming.pop(made, None)

    def refuse_large(self, size: int) -> None:
        if size > self.limits.file_bytes:
            raise Refused(413, f"the file has more than {self.limits.file_bytes // MIB} MiB, which "
                          "is the limit of an upload", "pack it (gz, xz), or take a part of it")

    def _admit(self, owner: str, size: int) -> None:
        """Refuse what would pass the quota of its owner, or fill the folder."""
        limits = self.limits
        self.refuse_large(size)
        there = [(each.owner, each.bytes) for each in self._held.values()]
        there += self._coming.values()
        own = [length for whose, length in there if whose == owner]
        if len(own) >= limits.viewer_files or sum(own) + size > limits.viewer_bytes:
            raise Refused(429, f"you have {len(own)} uploads here, and up to "
                          f"{limits.viewer_files} files of {limits.viewer_bytes // MIB} MiB "
                          "together are kept for you", "delete one (DELETE /api/uploads/ID)",
                          {"Retry-After": "60"})
        if sum(length for _, length in there) + size > limits.all_bytes:
            raise Refused(503, "the server has no room for further uploads", "come again later",
                          {"Retry-After": "600"})

    def keep(self, upload: Upload) -> None:
        """Remember an upload whose file is complete and was read."""
        text = json.dumps({**asdict(upload), "path": upload.path.name})
        with self._lock:
            note = self.folder / f"{upload.id}.note"
            draft = note.with_suffix(".draft")
            draft.write_text(text, encoding="ascii")
            os.replace(draft, note)
            self._held[upload.id] = upload

    def find(self, wanted: str) -> Upload:
        self.expire()
        with self._lock:
            found = self._held.get(wanted)
        if found is None:
            raise Refused(404, "there is no such upload; it may have expired",
                          "upload the log again")
        return found

    def of(self, owner: str) -> list[Upload]:
        self.expire()
        with self._lock:
            return [each for each in self._held.values() if each.owner == owner]

    def remove(self, wanted: str) -> None:
        with self._lock:
            found = self._held.pop(wanted, None)
        if found is not None:
            found.path.unlink(missing_ok=True)
            (self.folder / f"{found.id}.note").unlink(missing_ok=True)

    def expire(self) -> None:
        """Remove what has been here for long enough."""
        end_s = now().timestamp() - self.limits.kept_s
        with self._lock:
            old = [each.id for each in self._held.values() if each.time_s < end_s]
        for each in old:
            self.remove(each)

    def close(self) -> None:
        if self._own is not None:
            self._own.cleanup()

    def _read_all(self) -> dict[str, Upload]:
        """What an earlier server left; files that no note belongs to are removed."""
        found: dict[str, Upload] = {}
        for note in self.folder.glob("*.note"):
            try:
                fields = json.loads(note.read_text(encoding="ascii"))
                path = self.folder / Path(str(fields["path"])).name
                if ID.fullmatch(str(fields["id"])) and path.is_file():
                    found[fields["id"]] = Upload(**{**fields, "path": path})
            except (OSError, ValueError, TypeError, KeyError):
                continue
        known = {each.path.name for each in found.values()} | {f"{each}.note" for each in found}
        for path in self.folder.iterdir():
            if ID.match(path.name) and path.name not in known:
                path.unlink(missing_ok=True)
        return found
