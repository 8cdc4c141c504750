"""The lines of Slurm's configuration files: comments, continued lines, included files.

The rules are those of slurm.conf(5): `#` begins a comment unless a backslash stands before it, a
backslash at the end continues a line, `Include` reads another file, and a line is words of
`Key=Value` whose keys are the same in capitals and small letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wattline.model.errors import InputError
from wattline.model.reading import read_text
from wattline.model.units import parse_hosts

_INCLUDE = re.compile(r"include\s+(\S.*)", re.IGNORECASE)
MOST_BYTES = 64 * 2**20
MOST_INCLUDED = 16
"""Files in one another; sites have two or three levels."""
MOST_NAME = 255
"""Characters of a name; that of a host has at most so many."""

_WORD = re.compile(r'([^\s=]+?)\s*[+-]?=\s*("[^"]*"|\S+)\s*')


@dataclass(frozen=True)
class Line:
    """One logical line: its words by key in small letters, the first key telling what it is."""

    words: Mapping[str, str]
    where: str
    """File and line, as messages begin."""
    written: Mapping[str, str] = field(default_factory=dict, compare=False)
    """The same keys as the file writes them."""
    remarks: tuple[str, ...] = field(default=(), compare=False)
    """Keys that stand twice in it."""

    @property
    def kind(self) -> str:
        return next(iter(self.words))

    def get(self, *keys: str) -> str | None:
        """The value of the first of these keys that the line has."""
        return next((self.words[key] for key in keys if key in self.words), None)

    def hosts(self, key: str) -> tuple[str, ...]:
        """The names of a host list, none where the line has none."""
        return hosts_of(self.words.get(key, ""), self.where)


def read_lines(path: str | Path, cluster: str = "") -> list[Line]:
    """All lines of a file and of those that it includes; `%c` there is the cluster's name."""
    return list(_lines(Path(path), cluster, Path(path).parent, ()))


def site_text(path: str | Path) -> str:
    """The text of a file of `sacctmgr` or `scontrol`; one with NUL characters is damaged."""
    text = read_text(path, MOST_BYTES)
    if "\0" in text:
        raise InputError(f"{path}:{text.count(chr(10), 0, text.index(chr(0))) + 1}: has a NUL "
                         "character, which no text has: the file is damaged")
    return text


def included_names(text: str) -> tuple[str, ...]:
    """The files that a text says to include, with `%c` where the cluster's name belongs."""
    if "include" not in text.lower():  # a log of a million lines has none
        return ()
    found = (_INCLUDE.fullmatch(line) for _, line in _logical(text))
    return tuple(_name_in(each) for each in found if each)


def hosts_of(text: str, where: str) -> tuple[str, ...]:
    """The names of a host list; the error says where it stands."""
    if text in ("", "(null)"):
        return ()
    try:
        names = tuple(parse_hosts(text))
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    for name in names:
        refuse_name(name, where)
    return names


def refuse_name(name: str, where: str) -> None:
    """No name of a site has control characters, or fills a page."""
    if not name or len(name) > MOST_NAME or not name.isprintable():
        raise InputError(f"{where}: {name[:40]!r} is no name; names have 1 to {MOST_NAME} "
                         "characters that can be printed")


def number_of(text: str, what: str, where: str) -> int:
    """A whole number, with the suffixes K, M, G and T of 1024 that Slurm takes."""
    found = re.fullmatch(r"([0-9]{1,15})([KMGT]?)", text.strip(), re.IGNORECASE)
    if not found:
        raise InputError(f"{where}: {what} is '{text}', must be a whole number like 4 or 2K")
    power = " KMGT".index(found[2].upper() or " ")
    return int(found[1]) << 10 * power


def unused(keys: Sequence[str], of: str, where: str) -> list[str]:
    """That nothing is done with these keys, which may be misspelt."""
    more = f" and {len(keys) - 5} more" if len(keys) > 5 else ""
    return [f"{where}: nothing is done with {', '.join(keys[:5])}{more} of {of}"] if keys else []


def _lines(path: Path, cluster: str, folder: Path, within: tuple[Path, ...]) -> Iterator[Line]:
    """`folder` is that of the first file, beside which all included ones lie."""
    if path.resolve() in within or len(within) >= MOST_INCLUDED:
        raise InputError(f"{path}: is included by itself, or more than {MOST_INCLUDED} deep")
    for number, text in _logical(read_text(path, MOST_BYTES)):
        where = f"{path}:{number}"
        included = _INCLUDE.fullmatch(text)
        if included:
            name = _name_in(included).replace("%c", cluster)
            yield from _included(folder, name, cluster, (*within, path.resolve()), where)
            continue
        line = _line(text, where)
        cluster = line.get("clustername") or cluster
        yield line


def _name_in(included: re.Match[str]) -> str:
    return included[1].strip().strip('"')


def _included(folder: Path, name: str, cluster: str, within: tuple[Path, ...],
              where: str) -> Iterator[Line]:
    try:
        yield from _lines(folder / name, cluster, folder, within)
    except InputError as error:
        if "there is no such file" not in str(error) or str(error).startswith(f"{where}:"):
            raise
        raise InputError(f"{where}: includes {name}, which is not there; a name that "
                         "is no whole path begins in the folder of the first file") from None


def _logical(text: str) -> Iterator[tuple[int, str]]:
    """Lines without comments, continued ones as one, with the number that they begin at."""
    held, begun = "", 0
    for number, raw in enumerate(text.splitlines(), start=1):
        line = re.split(r"(?<!\\)#", raw, maxsplit=1)[0].rstrip()
        begun = begun or number
        if line.endswith("\\"):
            held += line[:-1]  # Slurm puts nothing between, so that a list may go on
            continue
        whole = (held + line).replace("\\#", "#").strip()
        if whole:
            yield begun, whole
        held, begun = "", 0
    if held.strip():
        yield begun, held.strip()


def _line(text: str, where: str) -> Line:
    """`Key=Value` and `Key="a value"` in a line; Slurm has += and -= too.

    Of a key that stands twice Slurm takes the latest value, but the first names what the line is.
    """
    words: dict[str, str] = {}
    written: dict[str, str] = {}
    remarks: list[str] = []
    place = 0
    while place < len(text):
        found = _WORD.match(text, place)
        if found is None:
            raise InputError(f"{where}: '{text[place:].strip()[:40]}' is not Key=Value")
        key = found[1].lower()
        if not key.isprintable():
            raise InputError(f"{where}: {found[1][:40]!r} is no key: the file is damaged")
        value = found[2].strip('"')
        if key in words:
            if key == next(iter(words)):
                raise InputError(f"{where}: {found[1]} stands twice in one line")
            remarks.append(f"{where}: {written[key]}={words[key]} and {found[1]}={value} stand in "
                           "one line: the last one counts, as in Slurm")
        words[key], written[key] = value, found[1]
        place = found.end()
    return Line(words, where, written, tuple(remarks))
