"""Where a set-up of the evaluation can be read in two ways, and which of them is taken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product
from typing import Literal

from wattline.model.errors import InputError

CHOICES: dict[str, tuple[object, ...]] = {
    "fill": (False, True), "request": ("packed", "recorded"), "power": ("all", "pkg"),
    "holds": ("draw", "share"), "backfill": ("watts", "nodes"),
}


@dataclass(frozen=True)
class SetUp:
    """Five choices; the first of each is how this study was run first."""

    fill: bool = False
    """Whether node counts that were not measured are filled in by a model of each table, so that
    users can ask for 15 of them, as in section 5.4, instead of three."""
    request: Literal["packed", "recorded"] = "packed"
    """The time that users ask for: that of all cores without a cap and up to a fifth more (the
    example of 5.2.4), or that of a random row of the table (the words of 5.5)."""
    power: Literal["all", "pkg"] = "all"
    """Of packages and memory, or of packages alone, which is all that chapter 5 measured."""
    holds: Literal["draw", "share"] = "draw"
    """What a running job takes from the available power: what it draws (the words of 5.1), or its
    share of the bound (the formula there)."""
    backfill: Literal["watts", "nodes"] = "watts"
    """Whether the reservation of the first waiting job is of nodes and watts, or of nodes alone
    ("basic node-level backfilling", 5.2)."""

    def __post_init__(self) -> None:
        for name, known in CHOICES.items():
            if getattr(self, name) not in known:
                raise InputError(f"{name} is '{getattr(self, name)}', must be one of: "
                                 + ", ".join(map(str, known)))

    def as_dict(self) -> dict[str, object]:
        return asdict(self)

    @property
    def label(self) -> str:
        """What is other than usual, in a few words."""
        words = {"fill": "filled", "request": "recorded times", "power": "packages alone",
                 "holds": "shares held", "backfill": "nodes planned alone"}
        said = [word for name, word in words.items() if getattr(self, name) != CHOICES[name][0]]
        return ", ".join(said) or "as usual"


USUAL = SetUp()


def all_set_ups(with_pkg: bool = True) -> Iterator[SetUp]:
    """Every combination; without packages alone where the tables do not have them."""
    for values in product(*CHOICES.values()):
        made = SetUp(**dict(zip(CHOICES, values, strict=True)))  # type: ignore[arg-type]
        if with_pkg or made.power == "all":
            yield made
