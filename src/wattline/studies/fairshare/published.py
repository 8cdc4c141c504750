"""What the slides say of fair-share by energy, beside ours."""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.model.signal import FloatArray
from wattline.studies.fairshare.study import BY_JOULES, FIRST_COME, ShareSeeds

FAVOURED = "efficient"


def compared(by_order: dict[str, dict[str, FloatArray]]) -> dict[str, Any]:
    """Means over all seeds, in how many the efficient user is first, and where it gains."""
    joules, first = by_order[BY_JOULES], by_order[FIRST_COME]
    return {
        "mean": {order: {user: float(np.mean(values)) for user, values in users.items()}
                 for order, users in by_order.items()},
        "lowest_in": {order: int(np.sum(_lowest(users))) for order, users in by_order.items()},
        "less_than_first_come_in": int(np.sum(joules[FAVOURED] < first[FAVOURED])),
    }


def _lowest(users: dict[str, FloatArray]) -> Any:
    others = np.min([values for user, values in users.items() if user != FAVOURED], axis=0)
    return users[FAVOURED] < others


def judge_favour(told: dict[str, Any], seeds: int) -> str:
    """Favoured: lower than that of the others, and than under first come, first served.

    The order of submission is drawn, and may favour a user by itself: so a seed in which it is not
    favoured does not speak against the mean over all of them.
    """
    if told["lowest_in"][BY_JOULES] == told["less_than_first_come_in"] == seeds:
        return "holds"
    mean = told["mean"]
    ours = mean[BY_JOULES][FAVOURED]
    favoured = ours < mean[FIRST_COME][FAVOURED] and ours == min(mean[BY_JOULES].values())
    return "holds on average" if favoured else "fails"


def rows(results: ShareSeeds) -> list[tuple[str, ...]]:
    """Section, what, published, ours, verdict, why."""
    asked = "60 similar jobs of an efficient user and two normal ones (on demand, 2.3 GHz): "
    return [
        _row(asked + "the efficient one waits less", "yes", compared(results.wait_s),
             len(results.seeds), " s", 0, "mean wait"),
        _row(asked + "the efficient one has a lower stretch", "yes (a picture)",
             compared(results.stretch), len(results.seeds), "", 1,
             "mean stretch; slower jobs have longer run times to be divided by, so the waiting "
             "time tells more"),
        ("energy fair-sharing", "distribution of the stretch", "a picture without figures",
         "drawn by --out", "not reproduced", "only the shape can be compared"),
        ("energy fair-sharing", "time and energy of Linpack by frequency on 180 cores",
         "a picture without figures", "beta 0.7 and the powers of the emulated cluster",
         "not reproduced", "assumed; the calibration is not printed"),
    ]


def _row(what: str, published: str, told: dict[str, Any], seeds: int, unit: str, digits: int,
         why: str) -> tuple[str, ...]:
    means = ", ".join(f"{user} {value:,.{digits}f}{unit}"
                      for user, value in told["mean"][BY_JOULES].items())
    before = told["mean"][FIRST_COME][FAVOURED]
    return (
        "energy fair-sharing", what, published,
        f"{means}; first come: {FAVOURED} {before:,.{digits}f}{unit}",
        judge_favour(told, seeds),
        f"{why}; lowest of the three in {told['lowest_in'][BY_JOULES]} of {seeds} random orders "
        f"of submission (first come: in {told['lowest_in'][FIRST_COME]}), lower than under first "
        f"come in {told['less_than_first_come_in']}")
