"""What "best" means: energy, time, or time x energy^weight; and how a choice is made."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from wattline.model.errors import InputError
from wattline.physics.claims.claim import Claim

UNVERIFIED_ERROR = 0.15
"""Relative error that a claim is taken to have at least while no run has verified it."""


@dataclass(frozen=True)
class Objective:
    """Lower is better: t^time_weight x E^energy_weight.

    `caution` adds so many standard errors to what an uncertain claim promises, so that between
    equals the better known one wins.
    """

    time_weight: float = 0.0
    energy_weight: float = 1.0
    caution: float = 0.0
    unverified_time_error: float = UNVERIFIED_ERROR
    unverified_energy_error: float = UNVERIFIED_ERROR
    """At least so uncertain is a claim that no run has verified."""

    def __post_init__(self) -> None:
        if self.time_weight < 0 or self.energy_weight < 0 or self.caution < 0:
            raise InputError("the weights of an objective must not be negative")
        if self.time_weight == 0 and self.energy_weight == 0:
            raise InputError("an objective needs a weight on time or on energy")

    @classmethod
    def parse(cls, text: str) -> Objective:
        """`energy`, `time`, `edp` (t x E) or `edp:W` (t x E^W)."""
        name, _, weight = text.strip().lower().partition(":")
        if name == "energy" and not weight:
            return cls(0.0, 1.0)
        if name == "time" and not weight:
            return cls(1.0, 0.0)
        if name == "edp":
            try:
                return cls(1.0, float(weight or 1))
            except ValueError:
                pass
        raise InputError(f"objective '{text}' is unknown; write energy, time, edp or edp:5")

    def among(self, claims: Iterable[Claim]) -> Objective:
        """The same, where no claim that was never verified is surer than one that was."""
        verified = [claim for claim in claims if claim.predictions]
        times = [_known(claim.time_error) for claim in verified]
        energies = [_known(claim.energy_error) for claim in verified]
        return replace(self, unverified_time_error=max(UNVERIFIED_ERROR, *times),
                       unverified_energy_error=max(UNVERIFIED_ERROR, *energies)
                       ) if verified else self

    def errors(self, claim: Claim) -> tuple[float, float]:
        """The relative errors of time and energy that count."""
        time, energy = _known(claim.time_error), _known(claim.energy_error)
        if claim.predictions:
            return time, energy
        return max(time, self.unverified_time_error), max(energy, self.unverified_energy_error)

    def score(self, claim: Claim) -> float:
        """Logarithm of the weighted product, so that large weights do not overflow."""
        time_error, energy_error = self.errors(claim)
        time = math.log(claim.time_s) + self.caution * time_error
        energy = math.log(claim.energy_j) + self.caution * energy_error
        return self.time_weight * time + self.energy_weight * energy


@dataclass(frozen=True)
class ChosenClaim:
    """The claim that was chosen, and all candidates, best first."""

    claim: Claim
    ranked: tuple[Claim, ...]


def choose(
    claims: Iterable[Claim], objective: Objective, free: Mapping[str, int] | None = None
) -> ChosenClaim | None:
    """The best claim among the classes with enough free nodes; None if there is none.

    Ties go to the earlier claim, so that a choice does not depend on how a table was hashed.
    """
    fitting = [c for c in claims if free is None or free.get(c.node_class, 0) >= c.setting.nodes]
    ranked = tuple(sorted(fitting, key=objective.score))
    return ChosenClaim(ranked[0], ranked) if ranked else None


def _known(error: float) -> float:
    return 0.0 if math.isnan(error) else error
