"""Which rows of a look are others than those of the look before.

A row that is printed as before is the same object. So rows are compared by what they are, without a
look into them: of thousands of jobs a few change between two looks, several times per second.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wattline.live.slurm.reading import SlurmJob


class RowsSeen:
    """The rows of the last look: kept, as another would be taken for one that is no more."""

    def __init__(self) -> None:
        self._rows: Sequence[SlurmJob] = ()
        self._labels: dict[int, str] = {}
        """By the identity of each row."""
        self._again: set[int] = set()

    def look(self, rows: Sequence[SlurmJob], again: Iterable[SlurmJob | None]
             ) -> tuple[list[SlurmJob], list[str]]:
        """Rows that are new, or are to be looked at whatever they are; labels that are gone."""
        now = set(map(id, rows))
        wanted = now.difference(self._labels).union(self._again, map(id, again))
        found = [row for row in rows if id(row) in wanted]
        gone = [self._labels.pop(each) for each in self._labels.keys() - now]
        self._labels |= {id(row): row.label for row in found}
        self._rows = rows
        return found, gone

    def look_again(self, rows: Iterable[SlurmJob]) -> None:
        """These, at the next look too, though they may be as they are now."""
        self._again = set(map(id, rows))
