"""What is not measured: other node counts by scaling, unknown applications from similar ones.

Every estimate says how uncertain it is: a relative error that grows with what had to be assumed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from wattline.physics.claims.claim import Claim, ClaimSetting

SCALING_ERROR = 0.15
"""Relative error for each doubling of the nodes away from what was measured."""
NEIGHBOURS = 3


def scaled(known: Sequence[Claim], node_class: str, nodes: int) -> list[Claim]:
    """Claims for another number of nodes: from two measured counts where there are two.

    Time follows nodes^-p; p comes from the application's own claims at two counts, and is 1
    (energy stays the same) where only one was measured.
    """
    here = [claim for claim in known if claim.node_class == node_class]
    found = []
    for setting in dict.fromkeys(replace(c.setting, nodes=nodes) for c in here):
        same = [c for c in here if replace(c.setting, nodes=nodes) == setting]
        same.sort(key=lambda claim: abs(math.log(claim.setting.nodes / nodes)))
        near = same[0]
        power = _exponent(same)
        ratio = nodes / near.setting.nodes
        spread = SCALING_ERROR * abs(math.log2(ratio))
        found.append(
            Claim(
                near.application, node_class, setting,
                near.time_s * ratio**-power, near.energy_j * ratio ** (1 - power), 0,
                math.hypot(_known(near.time_error), spread),
                math.hypot(_known(near.energy_error), spread),
            )
        )
    return found


def _exponent(claims: Sequence[Claim]) -> float:
    for other in claims[1:]:
        doublings = math.log(other.setting.nodes / claims[0].setting.nodes)
        if doublings:
            return -math.log(other.time_s / claims[0].time_s) / doublings
    return 1.0


def from_similar(
    claims: Sequence[Claim], application: str, node_class: str, nodes: int
) -> list[Claim]:
    """Claims of an application that was never run on this class.

    Where it ran elsewhere, each other application that ran in both places says by which ratio
    times and energies change; those that resemble it most (in power, and in ratios among the
    places that both know) count. Where it ran nowhere, the middle of all applications stands in.
    """
    places = dict.fromkeys(c.setting for c in claims
                           if c.node_class == node_class and c.setting.nodes == nodes)
    own = {(c.node_class, c.setting): c for c in claims if c.application == application}
    found = []
    for setting in places:
        there = {c.application: c for c in claims
                 if (c.node_class, c.setting) == (node_class, setting)}
        votes = _votes(claims, own, there) if own else _anyone(claims, there)
        if votes:
            # Of what never ran, nothing is known better than applications differ in size.
            least = 0.0 if own else _spread_of_sizes(claims)
            found.append(_from_votes(application, node_class, setting, votes, least))
    return found


@dataclass(frozen=True)
class _Vote:
    """What one other application suggests, in logarithms, and how little it resembles ours."""

    time: float
    energy: float
    distance: float


def _votes(
    claims: Sequence[Claim], own: dict[tuple[str, ClaimSetting], Claim], there: dict[str, Claim]
) -> list[_Vote]:
    votes = []
    for other, target in there.items():
        base = {(c.node_class, c.setting): c for c in claims if c.application == other}
        common = [place for place in own if place in base]
        if not common:
            continue
        time = [math.log(own[p].time_s * target.time_s / base[p].time_s) for p in common]
        energy = [math.log(own[p].energy_j * target.energy_j / base[p].energy_j) for p in common]
        power = [math.log(own[p].power_w / base[p].power_w) for p in common]
        # How much the two disagree: in power, and in how their suggestions scatter.
        distance = float(np.mean(np.abs(power)) + np.std(time) + np.std(energy))
        votes.append(_Vote(float(np.mean(time)), float(np.mean(energy)), distance))
    return sorted(votes, key=lambda vote: vote.distance)[:NEIGHBOURS]


def _anyone(claims: Sequence[Claim], there: dict[str, Claim]) -> list[_Vote]:
    """An application of middling size: what this place does to each other one, on that size.

    Sizes are taken out first, or a setting that only small programs were run in would look fast.
    """
    sizes = _sizes(claims)
    time, energy = np.mean(list(sizes.values()), axis=0)
    return [
        _Vote(
            float(time + math.log(c.time_s) - sizes[name][0]),
            float(energy + math.log(c.energy_j) - sizes[name][1]),
            1.0,
        )
        for name, c in there.items()
    ]


def _sizes(claims: Sequence[Claim]) -> dict[str, tuple[float, float]]:
    """The mean logarithms of time and energy of each application over all its places."""
    found = {}
    for name in dict.fromkeys(c.application for c in claims):
        own = [(math.log(c.time_s), math.log(c.energy_j)) for c in claims if c.application == name]
        time, energy = np.mean(own, axis=0)
        found[name] = (float(time), float(energy))
    return found


def _spread_of_sizes(claims: Sequence[Claim]) -> float:
    return float(np.std([time for time, _ in _sizes(claims).values()]))


def _from_votes(
    application: str, node_class: str, setting: ClaimSetting, votes: list[_Vote], least: float
) -> Claim:
    weight = np.array([1.0 / (0.05 + vote.distance) for vote in votes])
    weight /= weight.sum()
    time = np.array([vote.time for vote in votes])
    energy = np.array([vote.energy for vote in votes])
    mean_time, mean_energy = float(weight @ time), float(weight @ energy)
    # One neighbour alone shows no spread, but is no certainty: it counts as 50 % off.
    least = max(least, 0.5) if len(votes) == 1 else least
    return Claim(
        application, node_class, setting, math.exp(mean_time), math.exp(mean_energy), 0,
        max(least, math.sqrt(float(weight @ (time - mean_time) ** 2))),
        max(least, math.sqrt(float(weight @ (energy - mean_energy) ** 2))),
    )


def _known(error: float) -> float:
    return 0.0 if math.isnan(error) else error
