"""Reading of the tables that commands print."""

from __future__ import annotations

import re
from collections.abc import Iterator


def tables(output: str) -> Iterator[list[list[str]]]:
    """Each table of an output as rows of cells, the headings first.

    A line of dashes stands below the headings and says how wide each column is; a table ends with
    the line that has text between its columns, or with an empty one.
    """
    lines = output.splitlines()
    for at, line in enumerate(lines):
        if at and re.fullmatch(r"-+(  -+)*", line):
            spans = [match.span() for match in re.finditer("-+", line)]
            ends = [begin for begin, _ in spans[1:]]
            rows = [lines[at - 1]]
            for row in lines[at + 1:]:
                if not row or any(row[end - 2:end].strip() for end in ends):
                    break
                rows.append(row)
            yield [[row[begin:end].strip() for begin, end in spans[:-1]]
                   + [row[spans[-1][0]:].strip()] for row in rows]


def columns(output: str, *headings: str) -> list[tuple[str, ...]]:
    """Cells below these headings, row by row, of the first printed table that has them all.

    A heading that stands above several columns may be given as often, and means them in turn.
    """
    for heads, *rows in tables(output):
        left, places = list(enumerate(heads)), []
        for heading in headings:
            found = next((each for each in left if each[1] == heading), None)
            if found is None:
                break
            left.remove(found)
            places.append(found[0])
        else:
            return [tuple(row[place] for place in places) for row in rows]
    raise AssertionError(f"no printed table has the columns {headings}:\n{output}")
