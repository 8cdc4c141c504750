"""Published figures, for the column beside ours."""

from __future__ import annotations

from typing import NamedTuple


class PublishedTrace(NamedTuple):
    """A row of table 2.6 with who met all constraints."""

    cost: float
    saving: float
    met_by: frozenset[str]


_ALL = frozenset({"aqa", "energyqare", "tracking"})
_TWO = frozenset({"aqa", "energyqare"})
_ONE = frozenset({"aqa"})

TRACES: dict[str, PublishedTrace] = {
    "W1": PublishedTrace(0.58, 0.30, _ONE),
    "W2": PublishedTrace(0.57, 0.37, _ALL),
    "W3": PublishedTrace(0.68, 0.29, _ONE),  # with standby jobs
    "W4": PublishedTrace(0.58, 0.31, _ONE),
    "W5": PublishedTrace(0.34, 0.56, _ONE),
    "W6": PublishedTrace(0.64, 0.34, _TWO),
    "W7": PublishedTrace(0.58, 0.33, _ONE),
    "W8": PublishedTrace(0.56, 0.29, _TWO),
    "W9": PublishedTrace(0.58, 0.37, _ONE),
    "W10": PublishedTrace(0.58, 0.34, _TWO),
    "W11": PublishedTrace(0.46, 0.46, _TWO),
    "W12": PublishedTrace(0.46, 0.38, _ONE),
    "W13": PublishedTrace(0.71, 0.31, _ONE),
    "W14": PublishedTrace(0.64, 0.33, _ONE),
}

_SIZE, _SIGNAL = "saving above 45 %", "error below 7 %"

DEFAULT: dict[str, str] = {
    "standby jobs": "saving 46.1 %, P 20,600 W, R 10,111 W, error 4.3 %",
    "no standby jobs": "saving 14.4 %",
    "no standby jobs, QoS alone": "saving 14.4 %",
    "tracking": "QoS not met, error 2.4 %",
    "energyqare": "QoS not met",
    **{f"{servers} servers": _SIZE for servers in (20, 50, 500, 2500)},
    "75% busy": "saving 25.1 %",
    **{f"signal {number}": _SIGNAL for number in (1, 2, 3, 4)},
}
"""100 servers (figures 2.4 to 2.17), by the name of the case or, for the baselines, the policy."""

LARGE = {"10,000 servers": "cost 190.4, saving 25 %"}


def words(part: str, case: str, policy: str) -> str | None:
    """What is published of a case, in words; None where nothing is."""
    if part == "workloads":
        known = TRACES[case]
        met = "met" if policy in known.met_by else "not met"
        figures = f", cost {known.cost:.2f}, saving {known.saving:.0%}"
        return met + figures if policy == "aqa" else met
    table = DEFAULT if part == "default" else LARGE
    return table.get(policy if case == "baselines" else case)


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
