"""The names that an object file (ELF, 64 bits, little-endian) leaves to others."""

from __future__ import annotations

import struct

_MAGIC = b"\x7fELF\x02\x01"
_SECTIONS = struct.Struct("<40xQ10xHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_SYMBOL_TABLE = 2


def undefined(code: bytes) -> set[str] | None:
    """What it calls and does not have; None where it is no such file."""
    if not code.startswith(_MAGIC):
        return None
    start, size, count, _ = _SECTIONS.unpack_from(code)
    sections = [_SECTION.unpack_from(code, start + size * each) for each in range(count)]
    names = set()
    for _, kind, _, _, offset, length, link, _, _, step in sections:
        if kind != _SYMBOL_TABLE:
            continue
        texts = sections[link][4]
        for place in range(offset, offset + length, step):
            name, _, _, section, _, _ = _SYMBOL.unpack_from(code, place)
            if section == 0 and name:
                begin = texts + name
                names.add(code[begin : code.index(b"\0", begin)].decode())
    return names
