"""Every published figure beside ours, with a verdict that follows from the two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wattline.studies.dragonfly import document
from wattline.studies.published import judge

Row = tuple[str, str, str, str, str, str]
"""Section of the document, what is measured, published, ours, verdict, why."""

CLOSE = 0.05
"""Shares that differ by no more than this are the same."""
CLOSE_LOSSES = 0.01
"""The same for cases in which Level-Spread is worse, more or fewer: few were published."""
Results = Mapping[str, Any]


def rows(results: Results) -> list[Row]:
    """The rows of all parts; figures that were not run say so."""
    return [*_equal(results), *_random(results), *_jokanovic(results), *_congestion(results),
            *_nedd(results)]


def _judged(said: float, found: float) -> str:
    """A share or a cut that should be as large as was published."""
    return judge(said, found, same=abs(found - said) <= CLOSE)


def _judge(figure: str, said: float, found: float) -> str:
    """By what is counted: more losses than published are no smaller success, but a failure."""
    if figure != "strictly_worse":
        return _judged(said, found)
    if abs(found - said) <= CLOSE_LOSSES:
        return "holds"
    return "fails" if found > said else judge(said, found, same=False)


def _fewer(figure: str, said: float, found: float | None) -> str:
    """What has to be known where ours loses less often than published."""
    fewer = figure == "strictly_worse" and found is not None and said - found > CLOSE_LOSSES
    return "; worse less often than published" if fewer else ""


def _percent(value: float) -> str:
    return f"{100 * value:.3g} %"


def _counted(found: Results, figure: str) -> str | None:
    """A share or a cut with its 95 % interval over the workloads, where that is known."""
    if figure not in found:
        return None
    error = found.get(f"{figure}_error")
    if not error:
        return _percent(found[figure])
    return f"{100 * found[figure]:.3g} ± {100 * error:.2g} %"


def _span(pair: Any) -> str:
    return f"{_percent(pair[0])} to {_percent(pair[1])}"


def _row(section: str, what: str, said: str, found: str | None, verdict: str, why: str = "") -> Row:
    if found is None:
        return section, what, said, "-", "not reproduced", "this part was not run"
    return section, what, said, found, verdict, why


def _equal(results: Results) -> Iterator[Row]:
    for key, what, said in (
            ("sixteen_nodes", "16-node jobs, grouping against spreading: cut of time",
             document.SIXTEEN_NODES),
            ("sixty_four_nodes", "64-node jobs, Level-Spread against simple, ratio 1: cut of time",
             document.SIXTY_FOUR_NODES)):
        for way, where in (("packets in steps", "reductions_in_steps"), ("flows", "reductions")):
            found = results.get(where, {}).get(key)
            verdict = "" if found is None else _span_verdict(said, found)
            why = "ratio 1 only" if (way, key) == ("packets in steps", "sixteen_nodes") else ""
            yield _row("3.4.1", f"{what} ({way})", _span(said),
                       None if found is None else _span(found), verdict, why)
    found = results.get("largest_machine")
    yield _row("3.4.2", f"{document.LARGEST_NODES:,} nodes, 16-node jobs against spreading: cut of "
                        "time (flows)", _span(document.LARGEST_MACHINE),
               None if found is None else _span(found),
               "" if found is None else _span_verdict(document.LARGEST_MACHINE, found),
               "against the mean of the four spreading policies, broadcast left out")


def _span_verdict(said: Sequence[float], found: Sequence[float], close: float = CLOSE) -> str:
    """Of two ranges: the same or inside, overlapping, or apart and judged by their middles.

    Where ours has cases of no effect, or of the reverse, and misses the range, it fails.
    """
    near = all(abs(a - b) <= close for a, b in zip(said, found, strict=True))
    if near or (found[0] >= said[0] and found[1] <= said[1]):
        return "holds"
    if found[0] <= said[1] and found[1] >= said[0]:
        return "holds in part"
    return "fails" if found[0] <= 0 else judge(sum(said) / 2, sum(found) / 2, same=False)


def _random(results: Results) -> Iterator[Row]:
    for way, key, count in _ways(results):
        found = results if key == "flow" else results.get(key)
        for figure, what in (("strictly_better", "strictly better than"),
                             ("strictly_worse", "strictly worse than"),
                             ("mean_reduction", "mean cut against"),
                             ("max_reduction", "best cut against")):
            said = document.RANDOM_SMALL_FIRST[figure]
            ours = found.get(figure) if found else None
            rest = _other_cases(found) if found and figure == "strictly_better" else ""
            yield _row("3.4.4", f"{what} seven baselines, {way}", _percent(said),
                       _counted(found or {}, figure),
                       "" if ours is None else _judge(figure, said, ours),
                       f"{count}{rest}{_fewer(figure, said, ours)}")
    for name, said in document.SINGLE_PATTERN_WORSE.items():
        ours = results.get("by_pattern", {}).get(name, {}).get("strictly_worse")
        yield _row("3.4.4", f"all jobs {name}: strictly worse (flows)", _percent(said),
                   None if ours is None else _percent(ours),
                   "" if ours is None else _judge("strictly_worse", said, ours),
                   f"100 workloads{_fewer('strictly_worse', said, ours)}")
    first = results.get("packets_in_steps", {}).get("large_first")
    ours = None if first is None else f"{_percent(first['strictly_better'])} better, " \
        f"{_percent(first['strictly_worse'])} worse, mean cut {_percent(first['mean_reduction'])}"
    yield _row("3.4.5", "large jobs first, seven baselines, packets in steps",
               "at least as well", ours,
               "" if first is None else _as_well(first), _count(first))


def _other_cases(found: Results) -> str:
    """The cases that are neither strictly better nor strictly worse: two quadrants, and ties."""
    parts = [f"{what} {_percent(found[figure])}" for figure, what in (
        ("only_small_better", "only small jobs better"),
        ("only_large_better", "only large jobs better"), ("tied", "tied")) if figure in found]
    return f"; {', '.join(parts)}" if parts else ""


def _count(found: Results | None) -> str:
    return "" if found is None else f"{found['workloads']} workloads x {found['runs']} runs"


def _as_well(found: Results, *, strictly: bool = False) -> str:
    """At least as well, or `strictly` better: never worse, on average only, or neither."""
    better, worse, cut = (found[name] for name in (
        "strictly_better", "strictly_worse", "mean_reduction"))
    if not strictly and better == worse == cut == 0:
        return "holds"
    if not better > worse or cut <= 0:
        return "fails"
    return "holds" if worse == 0 else "holds on average"


def _ways(results: Results) -> list[tuple[str, str, str]]:
    """How it was simulated, the key of the figures, and of how many runs these are."""
    found = []
    for way, key in (("packets in steps", "packets_in_steps"),
                     ("packets in steps under ugal", "packets_in_steps_ugal"), ("flows", "flow")):
        given = results if key == "flow" else results.get(key, {})
        runs = given.get("repeats" if key == "flow" else "runs", 0)
        found.append((way, key, f"{given.get('workloads', 0)} workloads x {runs} runs; there "
                                "1,000 x 10"))
    return found


def _jokanovic(results: Results) -> Iterator[Row]:
    for way, key, count in _ways(results):
        found = results if key == "flow" else results.get(key, {})
        for policy, name in (("jokanovic_code", "Jokanovic's policy as in the code"),
                             ("jokanovic", "Jokanovic's policy as in the text")):
            for figure in ("strictly_better", "strictly_worse"):
                said = document.JOKANOVIC_SMALL_FIRST[figure]
                against = found.get(policy, {})
                ours = against.get(figure)
                verdict = "" if ours is None else _judge(figure, said, ours)
                rest = _other_cases(against) if figure == "strictly_better" else ""
                yield _row("3.4.6", f"{figure.replace('_', ' ')} than {name}, {way}",
                           _percent(said), _counted(against, figure), verdict, f"{count}{rest}")
    large = results.get("packets_in_steps", {}).get("large_first")
    first = None if large is None else large["jokanovic_code"]
    yield _row("3.4.6", "large jobs first, Jokanovic's policy as in the code, packets in steps",
               "continues to outperform",
               None if first is None else f"{_percent(first['strictly_better'])} better, "
                                          f"{_percent(first['strictly_worse'])} worse",
               "" if first is None else _as_well(first, strictly=True), _count(large))


STRONG = ("HACC", "LAMMPS", "MILC", "miniAMR", "miniMD")
"""Applications that endpoint congestion was found to stretch most."""
STRONG_TIMES = (1.4, 8.0)
QMCPACK_TIMES = 1.11
BETWEEN = ("MILC", "miniMD")
"""The only ones that intermediate congestion was found to stretch."""
ROUGHLY = 0.3
"""What a rough correlation comes to at least."""
OVER_SETTINGS = "over the means of the four settings; the same for all applications that wait"
FELT = 1.1
"""Times as long from which on an application is said to suffer."""


def _congestion(results: Results) -> Iterator[Row]:
    asked = (("3.6.2", f"endpoint congestion (IV over II): {', '.join(STRONG)}",
              "1.4 to 8 times as long"),
             ("3.6.2", "endpoint congestion: who suffers most",
              "LAMMPS, more than 7 times as long"),
             ("3.6.2", "the same, QMCPACK", f"{QMCPACK_TIMES} times as long"),
             ("3.6.2", "the same, Graph500 and HPCG", "below 1.1"),
             ("3.6.2", "intermediate congestion (III over I): who suffers",
              f"only {' and '.join(BETWEEN)}"),
             ("3.6.2", "endpoint congestion hurts more than intermediate (III over I)", "yes"),
             ("3.6.3", "time and stalls per flit correlate", "positive"),
             ("3.6.3", "time and stalls per second correlate", "positive"),
             ("3.6.4", "bandwidth of canaries and stalls per flit correlate", "roughly"))
    found = results.get("endpoints")
    ours = [None] * len(asked) if found is None else _of_endpoints(found)
    for (section, what, said), answer in zip(asked, ours, strict=True):
        yield _row(section, what, said, *(answer or (None, "", "")))
    yield ("3.6.3", "stalls of processor tiles fall as time grows", "negative", "-",
           "not reproduced", "the packet model has no processor tiles")


def _of_endpoints(found: Results) -> list[tuple[str, str, str] | None]:
    """What was found of each, the verdict, and with what."""
    runs = f"packets, {found['runs']} runs"
    execution, waits = found["execution"], found["communication"]
    ratio = {name: row["IV"] / row["II"] for name, row in execution.items()}
    strong = sorted(ratio[name] for name in STRONG)
    calm = max(ratio["Graph500"], ratio["HPCG"])
    most = max(ratio, key=lambda name: ratio[name])
    between = {name: row["III"] / row["I"] for name, row in execution.items()}
    suffer = {name: times for name, times in between.items() if times > FELT}
    endpoint, other = waits["IV"] / waits["II"], waits["III"] / waits["I"]
    times, rates = found["correlation_time_stalls"], found["correlation_time_stalled"]
    canaries = found["correlation_bandwidth_stalls"]
    return [
        (f"{strong[0]:.2g} to {strong[-1]:.2g}",
         _span_verdict(STRONG_TIMES, (strong[0], strong[-1])), runs),
        (f"{most} {ratio[most]:.3g}, LAMMPS {ratio['LAMMPS']:.3g}", _yes(most == "LAMMPS"),
         "one exchange stands for all: they come in the order of their shares of MPI calls that "
         "wait"),
        (f"{ratio['QMCPACK']:.3g}", _times(QMCPACK_TIMES, ratio["QMCPACK"]), runs),
        (f"{calm:.2f}", "not reproduced",
         "an assumption, not a result: by their profiles they wait on nobody"),
        (", ".join(f"{name} {times:.2f}" for name, times in suffer.items()) or "none",
         _yes(set(suffer) == set(BETWEEN)), f"{FELT:g} times as long or more; {runs}"),
        (f"{endpoint:.3g} against {other:.3g} times the communication", _yes(endpoint > other),
         runs),
        (f"r = {times:.2f}", _yes(times > 0), OVER_SETTINGS),
        (f"r = {rates:.2f}", _yes(rates > 0), OVER_SETTINGS),
        (f"r = {canaries:.2f}", _yes(canaries < -ROUGHLY),
         "over all runs; below 0: more stalls, less bandwidth"),
    ]


def _yes(holds: bool) -> str:
    return "holds" if holds else "fails"


def _nedd(results: Results) -> Iterator[Row]:
    found = results.get("congestor")
    for kind, result in (("all to all", found),
                         ("one to all", found["one_to_all"] if found else None)):
        runs = "" if result is None else f"{result['runs']} runs"
        for name, said in document.CONGESTOR.items():
            ours = None if result is None else result["minimd_better"][name]
            yield _row("3.8", f"miniMD, low-traffic-router better than {name}, congestor {kind}",
                       _percent(said), None if ours is None else _percent(ours),
                       "" if ours is None else _judged(said, ours), runs)
        ours = None if result is None else result["stretch"]["miniMD"]["random"]
        yield _row("3.8", f"miniMD at random beside the congestor, {kind}: times as long",
                   f"{document.CONGESTOR_STRETCH:g}", None if ours is None else f"{ours:.3g}",
                   "" if ours is None else _times(document.CONGESTOR_STRETCH, ours), runs)


def _times(said: float, found: float) -> str:
    """How many times as long something takes, by the time that is added."""
    return judge(said - 1, found - 1)
