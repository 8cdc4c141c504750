"""Readings on disk, the newest so many: a file of fixed size that is written round and round.

A reading is there before it is sent and stays until its place is needed, so that a lost message, a
broker that was away or a killed agent costs none. The size is taken when the file is made: a disk
that fills up later does no harm. A page in front holds what goes on over a restart.
"""

from __future__ import annotations

import json
import os
import secrets
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wattline.live.transport.messages import LARGEST_READING_BYTES
from wattline.model.errors import WattlineError

_PAGE_BYTES = 4096
_LENGTH = struct.Struct("<H")
_NUMBER = struct.Struct("<Q")
_SLOT_BYTES = _LENGTH.size + LARGEST_READING_BYTES


class Spool:
    """Numbered readings, packed; number n lies in slot n modulo the number of slots."""

    def __init__(self, file: Path, slots: int) -> None:
        self._slots = slots
        size = _PAGE_BYTES + slots * _SLOT_BYTES
        try:
            self._file = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            if os.fstat(self._file).st_size != size:  # new, or made with another number of slots
                os.ftruncate(self._file, 0)
                os.posix_fallocate(self._file, 0, size)
        except OSError as error:
            raise WattlineError(f"{file} cannot be made: {error.strerror}") from None
        page = self._read_page()
        self.life: int = page.get("life") or secrets.randbits(63)
        self.noted: dict[str, Any] = page.get("noted", {})
        """What was noted last, also by an earlier process."""
        if "life" not in page:
            self.note({})
        numbers = self._numbers()
        self.next: int = max(numbers, default=0) + 1
        self.oldest: int = min(numbers, default=1)

    def keep(self, packed: bytes) -> None:
        """Take the reading of number `next`, which is written in one go."""
        slot = self.next % self._slots
        os.pwrite(self._file, _LENGTH.pack(len(packed)) + packed, self._place(slot))
        self.next += 1
        self.oldest = max(self.oldest, self.next - self._slots)

    def between(self, first: int, last: int) -> Sequence[bytes]:
        """Those from first to last that are still there."""
        numbers = range(max(first, self.oldest), min(last, self.next - 1) + 1)
        return [packed for number in numbers
                if (packed := self._slot(number % self._slots)) and _number(packed) == number]

    def note(self, noted: dict[str, Any]) -> None:
        """Keep this for the next process, in one write."""
        self.noted = noted
        text = json.dumps({"life": self.life, "noted": noted}).encode().ljust(_PAGE_BYTES)
        if len(text) <= _PAGE_BYTES:
            os.pwrite(self._file, text, 0)

    def close(self) -> None:
        os.close(self._file)

    def _read_page(self) -> dict[str, Any]:
        try:
            found = json.loads(os.pread(self._file, _PAGE_BYTES, 0))
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    def _numbers(self) -> list[int]:
        """Of the slots that are filled, each in its place."""
        packed = (self._slot(slot) for slot in range(self._slots))
        found = [(slot, _number(each)) for slot, each in enumerate(packed) if each]
        return [number for slot, number in found if number % self._slots == slot]

    def _slot(self, slot: int) -> bytes:
        data = os.pread(self._file, _SLOT_BYTES, self._place(slot))
        (length,) = _LENGTH.unpack_from(data)
        return data[_LENGTH.size:_LENGTH.size + length]

    def _place(self, slot: int) -> int:
        return _PAGE_BYTES + slot * _SLOT_BYTES


def _number(packed: bytes) -> int:
    return int(_NUMBER.unpack_from(packed)[0])
