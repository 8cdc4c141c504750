"""The compositions, kept in a file, that between them have every pair of choices.

To find them takes as long as to prove them, so they are found once, by
`WATTLINE_PLAIN=1 python -m tests.support.composed`. Nothing is lost where the file is old: a pair
that no composition has stands by itself, and a composition that is refused is split into its pairs.
"""

from __future__ import annotations

from pathlib import Path

from tests.support.choices import CASES
from tests.support.packing import Bundle, Cases, pack
from tests.support.proving import pairs

FILE = Path(__file__).with_name("compositions.txt")
BETWEEN = " with "


def bundles() -> list[Bundle]:
    """Every pair, each in one bundle; those that are refused, or new, are bundles of their own."""
    left = dict.fromkeys(pairs())
    found = []
    for cases in kept():
        served = tuple(pair for pair in left if set(pair) <= set(cases))
        for pair in served:
            del left[pair]
        if served:
            found.append(Bundle(cases, served))
    return found + [Bundle(pair, (pair,)) for pair in left]


def kept() -> list[Cases]:
    """Return those of the file whose choices there still are."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    found = [tuple(line.split(BETWEEN)) for line in lines]
    return [cases for cases in found if set(cases) <= set(CASES)]


def main() -> None:
    from tests.support.checked import joins, possible

    names = pairs()
    reasons = dict(zip(names, possible(names), strict=True))
    packed = pack([pair for pair in names if not reasons[pair]], joins)
    lines = [BETWEEN.join(bundle.cases) + "\n" for bundle in packed if len(bundle.cases) > 2]
    FILE.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
