"""A book of claims: looked up, chosen from, verified and corrected by every run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from wattline.physics.claims import estimate
from wattline.physics.claims.claim import Claim, ClaimSetting
from wattline.physics.claims.objective import ChosenClaim, Objective, choose

WINDOW = 20
"""A claim is the mean of its last runs, so many at most: an application may change."""


@dataclass(frozen=True)
class Measured:
    """What a run of an application was measured to need."""

    application: str
    node_class: str
    setting: ClaimSetting
    time_s: float
    energy_j: float
    run_id: str = ""
    """What tells this run from others with the same figures, where somebody knows."""


@dataclass(frozen=True)
class ClaimVerification:
    """A claim beside the run that it predicted; errors are relative and signed."""

    claim: Claim | None
    """What was claimed before the run; None where nothing was known."""
    measured: Measured
    corrected: Claim
    time_error: float
    energy_error: float


class ClaimBook:
    """Claims by application, class and setting. A book is not changed: `record` makes a new one."""

    def __init__(self, claims: Iterable[Claim] = ()) -> None:
        self._claims: dict[tuple[str, str, ClaimSetting], Claim] = {}
        for claim in claims:
            self._claims[claim.key] = claim

    def __iter__(self) -> Iterator[Claim]:
        return iter(self._claims.values())

    def __len__(self) -> int:
        return len(self._claims)

    @property
    def applications(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(claim.application for claim in self))

    def of(self, application: str, nodes: int | None = None) -> list[Claim]:
        """The measured claims of an application, for a number of nodes or for all."""
        return [
            claim for claim in self
            if claim.application == application and nodes in (None, claim.setting.nodes)
        ]

    def find(self, application: str, node_class: str, setting: ClaimSetting) -> Claim | None:
        return self._claims.get((application, node_class, setting))

    def candidates(
        self, application: str, classes: Iterable[str], nodes: int = 1, *, unknown: bool = True
    ) -> list[Claim]:
        """What is known, scaled from other node counts or estimated, on each of these classes.

        Measured claims come before scaled ones, and those before estimates from similar
        applications; a class that has measured claims gets nothing else.
        """
        found: list[Claim] = []
        for node_class in dict.fromkeys(classes):
            known = [c for c in self.of(application, nodes) if c.node_class == node_class]
            if not known:
                known = estimate.scaled(self.of(application), node_class, nodes)
            if not known and unknown:
                known = estimate.from_similar(list(self), application, node_class, nodes)
            found.extend(known)
        return found

    def choose(
        self, application: str, objective: Objective, free: Mapping[str, int], nodes: int = 1
    ) -> ChosenClaim | None:
        """The best class and setting among the free nodes."""
        return choose(self.candidates(application, free, nodes), objective.among(self), free)

    def record(self, runs: Iterable[Measured]) -> tuple[ClaimBook, list[ClaimVerification]]:
        """Verify claims against runs, one after the other, and correct them by each."""
        book = ClaimBook(self)
        found = []
        for run in runs:
            before = book.find(run.application, run.node_class, run.setting)
            guess = before or _guess(book, run)
            corrected = _corrected(before, run, guess)
            book._claims[corrected.key] = corrected
            found.append(
                ClaimVerification(
                    guess, run, corrected,
                    _off(run.time_s, guess.time_s) if guess else math.nan,
                    _off(run.energy_j, guess.energy_j) if guess else math.nan,
                )
            )
        return book, found


def _guess(book: ClaimBook, run: Measured) -> Claim | None:
    """What would have been predicted for something never run in this way."""
    close = book.candidates(run.application, [run.node_class], run.setting.nodes)
    same = [claim for claim in close if claim.setting == run.setting]
    likely = same or close
    return likely[0] if likely else None


def _corrected(before: Claim | None, run: Measured, guess: Claim | None) -> Claim:
    if before is None:
        fresh = Claim(run.application, run.node_class, run.setting, run.time_s, run.energy_j)
        return fresh if guess is None else _judged(fresh, run, guess, 0)
    weight = 1.0 / min(before.runs + 1, WINDOW)
    moved = replace(
        before,
        time_s=before.time_s + weight * (run.time_s - before.time_s),
        energy_j=before.energy_j + weight * (run.energy_j - before.energy_j),
        runs=before.runs + 1,
    )
    return _judged(moved, run, before, before.predictions)


def _judged(claim: Claim, run: Measured, guess: Claim, predictions: int) -> Claim:
    """Note how far the prediction was off, in the mean over the last ones."""
    weight = 1.0 / min(predictions + 1, WINDOW)

    def mean(old: float, off: float) -> float:
        if predictions == 0 or math.isnan(old):
            return abs(off)
        return math.sqrt((1 - weight) * old**2 + weight * off**2)

    return replace(
        claim,
        time_error=mean(guess.time_error, _off(run.time_s, guess.time_s)),
        energy_error=mean(guess.energy_error, _off(run.energy_j, guess.energy_j)),
        predictions=predictions + 1,
    )


def _off(measured: float, claimed: float) -> float:
    return (measured - claimed) / claimed
