"""Published figures, for the column beside ours."""

from __future__ import annotations

from typing import NamedTuple


class Trace(NamedTuple):
    """A row of table 2.6 with who met all constraints."""

    cost: float
    saving: float
    met_by: frozenset[str]


_ALL = frozenset({"aqa", "energyqare", "tracking"})
_TWO = frozenset({"aqa", "energyqare"})
_ONE = frozenset({"aqa"})

TRACES: dict[str, Trace] = {
    "W1": Trace(0.58, 0.30, _ONE),
    "W2": Trace(0.57, 0.37, _ALL),
    "W3": Trace(0.68, 0.29, _ONE),  # with standby jobs
    "W4": Trace(0.58, 0.31, _ONE),
    "W5": Trace(0.34, 0.56, _ONE),
    "W6": Trace(0.64, 0.34, _TWO),
    "W7": Trace(0.58, 0.33, _ONE),
    "W8": Trace(0.56, 0.29, _TWO),
    "W9": Trace(0.58, 0.37, _ONE),
    "W10": Trace(0.58, 0.34, _TWO),
    "W11": Trace(0.46, 0.46, _TWO),
    "W12": Trace(0.46, 0.38, _ONE),
    "W13": Trace(0.71, 0.31, _ONE),
    "W14": Trace(0.64, 0.33, _ONE),
}

DEFAULT_CASE = {
    "standby": {"average_w": 20600.0, "reserve_w": 10111.0, "saving": 0.461, "error": 0.043,
                "standby_share": 0.142},
    "no standby": {"saving": 0.144},
}  # fmt: skip
"""100 servers, 50 %, medium QoS (figure 2.4)."""

SIZES_SAVING_LEAST = 0.45
UTILISATION_SAVING = {0.50: 0.461, 0.75: 0.251}
SIGNALS_ERROR_MOST = 0.07
LARGE = {"servers": 10_000, "cost": 190.4, "cost_without": 253.8, "saving": 0.25}


class LongRow(NamedTuple):
    """A row of table 2.7: share of large errors, largest mean degradation, cost if all is met."""

    cluster: str
    policy: str
    bidding: str
    exceed_share: float
    degradation: float
    cost: float | None


LONG_JOBS = (
    LongRow("meggie 5 Feb 2019", "energyqare", "heuristic", 0.077, 4.0, None),
    LongRow("meggie 5 Feb 2019", "energyqare", "exhaustive", 0.181, 1.8, None),
    LongRow("meggie 5 Feb 2019", "energyqare", "adaptive", 0.020, 5.8, None),
    LongRow("meggie 5 Feb 2019", "qoscap", "heuristic", 0.093, 1.5, 124.0),
    LongRow("meggie 5 Feb 2019", "qoscap", "exhaustive", 0.203, 1.4, None),
    LongRow("meggie 5 Feb 2019", "qoscap", "adaptive", 0.010, 1.9, 122.0),
    LongRow("meggie 16 Jan 2019", "energyqare", "heuristic", 0.022, 3.0, None),
    LongRow("meggie 16 Jan 2019", "energyqare", "exhaustive", 0.002, 4.8, None),
    LongRow("meggie 16 Jan 2019", "energyqare", "adaptive", 0.019, 2.6, None),
    LongRow("meggie 16 Jan 2019", "qoscap", "heuristic", 0.180, 2.0, None),
    LongRow("meggie 16 Jan 2019", "qoscap", "exhaustive", 0.041, 1.9, 151.0),
    LongRow("meggie 16 Jan 2019", "qoscap", "adaptive", 0.002, 2.0, 166.0),
    LongRow("emmy 15 Nov 2018", "energyqare", "heuristic", 0.739, 2.2, None),
    LongRow("emmy 15 Nov 2018", "energyqare", "exhaustive", 0.008, 1.0, 115.0),
    LongRow("emmy 15 Nov 2018", "energyqare", "adaptive", 0.001, 2.1, None),
    LongRow("emmy 15 Nov 2018", "qoscap", "heuristic", 0.704, 1.9, None),
    LongRow("emmy 15 Nov 2018", "qoscap", "exhaustive", 0.028, 2.1, None),
    LongRow("emmy 15 Nov 2018", "qoscap", "adaptive", 0.007, 2.0, 119.0),
)
