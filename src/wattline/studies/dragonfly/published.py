"""Every published figure beside ours, with a verdict that follows from the two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from wattline.studies.dragonfly import document

Row = tuple[str, str, str, str, str, str]
"""Section of the document, what is measured, published, ours, verdict, why."""

CLOSE = 0.05
"""Shares that differ by no more than this are the same."""
MORE = 0.01
"""Cases in which Level-Spread is worse may be so many more; they are few where it was published."""
HEAD = ("section", "what", "published", "ours", "verdict", "why")
Results = Mapping[str, Any]


def rows(results: Results) -> list[Row]:
    """The rows of all parts; figures that were not run say so."""
    return [*_equal(results), *_random(results), *_jokanovic(results), *_congestion(results),
            *_nedd(results)]


def page(results: Results, made_with: str) -> str:
    """A page in Markdown: the rows as a table, and how they were made."""
    lines = ["# Dragonflies: published figures beside ours", "",
             "The document is chapter 3 of the dissertation of [Networks](../network.md).",
             f"Made with {made_with}. Verdicts follow from the two figures: shares within "
             f"{100 * CLOSE:.0f} points are the same, and cases in which Level-Spread is worse may "
             f"be {100 * MORE:.0f} point more.", "",
             "| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    lines += ["| " + " | ".join(row) + " |" for row in rows(results)]
    return "\n".join(lines) + "\n"


def _judged(said: float, found: float) -> str:
    """A share or a cut that should be as large as was published."""
    if abs(found - said) <= CLOSE:
        return "holds"
    if found * said > 0:
        return "holds, larger" if found > said else "holds, smaller"
    return "fails"


def _judge(figure: str, said: float, found: float) -> str:
    """By what is counted: losses have to be as few, gains as large."""
    if figure == "strictly_worse":
        return "holds" if found <= said + MORE else "fails"
    return _judged(said, found)


def _percent(value: float) -> str:
    return f"{100 * value:.3g} %"


def _span(pair: Any) -> str:
    return f"{_percent(pair[0])} to {_percent(pair[1])}"


def _row(section: str, what: str, said: str, found: str | None, verdict: str, why: str = "") -> Row:
    if found is None:
        return section, what, said, "-", "not run", "this part was not asked for"
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
    yield _row("3.4.2", f"{document.LARGEST_NODES:,} nodes, 16-node jobs against spreading: cut of "
                        "time (flows)", _span(document.LARGEST_MACHINE),
               *_largest(results.get("heterogeneous")))


def _span_verdict(said: tuple[float, float], found: tuple[float, float]) -> str:
    if found[1] <= 0:
        return "fails"
    near = all(abs(a - b) <= CLOSE for a, b in zip(said, found, strict=True))
    if near or (found[0] >= said[0] and found[1] <= said[1]):
        return "holds" if near else "holds, within the range"
    return "holds in part" if found[0] <= said[1] and found[1] >= said[0] else "holds, smaller"


def _largest(table: Any) -> tuple[str | None, str, str]:
    if not table:
        return None, "", ""
    cuts = []
    for row in table:
        if row["nodes"] == document.LARGEST_NODES and row["pattern"] != "broadcast":
            times = {name: pair[0] for name, pair in row["relative_to_simple"].items()}
            apart = sum(times[name] for name in ("rdn", "rdr", "rrn", "rrr")) / 4
            cuts.append(1.0 - times["level-spread"] / apart)
    found = (min(cuts), max(cuts))
    return (_span(found), _span_verdict(document.LARGEST_MACHINE, found),
            "against the mean of the four spreading policies, broadcast left out")


def _random(results: Results) -> Iterator[Row]:
    for way, key, count in _ways(results):
        found = results if key == "flow" else results.get(key)
        for figure, what in (("strictly_better", "strictly better than"),
                             ("strictly_worse", "strictly worse than"),
                             ("mean_reduction", "mean cut against"),
                             ("max_reduction", "best cut against")):
            said = document.RANDOM_SMALL_FIRST[figure]
            ours = found.get(figure) if found else None
            tied = f"; {_percent(found['tied'])} of cases are tied" if found and ours is not None \
                and figure == "strictly_better" else ""
            yield _row("3.4.4", f"{what} seven baselines, {way}", _percent(said),
                       None if ours is None else _percent(ours),
                       "" if ours is None else _judge(figure, said, ours), f"{count}{tied}")
    for name, said in document.SINGLE_PATTERN_WORSE.items():
        ours = results.get("by_pattern", {}).get(name, {}).get("strictly_worse")
        yield _row("3.4.4", f"all jobs {name}: strictly worse (flows)", _percent(said),
                   None if ours is None else _percent(ours),
                   "" if ours is None else _judge("strictly_worse", said, ours), "100 workloads")
    first = results.get("packets_in_steps", {}).get("large_first")
    ours = None if first is None else f"{_percent(first['strictly_better'])} better, " \
        f"{_percent(first['strictly_worse'])} worse, mean cut {_percent(first['mean_reduction'])}"
    yield _row("3.4.5", "large jobs first, seven baselines, packets in steps",
               "at least as well", ours,
               "" if first is None else _as_well(first["strictly_better"], first["strictly_worse"],
                                                 first["mean_reduction"]))


def _as_well(better: float, worse: float, cut: float) -> str:
    if worse == 0:
        return "holds"
    return "holds on average" if better > worse and cut > 0 else "fails"


def _ways(results: Results) -> list[tuple[str, str, str]]:
    steps = results.get("packets_in_steps", {})
    counts = [(steps.get("workloads", 0), steps.get("runs", 0)),
              (results.get("workloads", 0), results.get("repeats", 0))]
    said = [f"{many} workloads x {runs} runs; there 1,000 x 10" for many, runs in counts]
    return [("packets in steps", "packets_in_steps", said[0]), ("flows", "flow", said[1])]


def _jokanovic(results: Results) -> Iterator[Row]:
    for way, key, count in _ways(results):
        found = results if key == "flow" else results.get(key, {})
        for policy, name in (("jokanovic_code", "Jokanovic's policy as in the code"),
                             ("jokanovic", "Jokanovic's policy as in the text")):
            for figure in ("strictly_better", "strictly_worse"):
                said = document.JOKANOVIC_SMALL_FIRST[figure]
                ours = found.get(policy, {}).get(figure)
                verdict = "" if ours is None else _judge(figure, said, ours)
                yield _row("3.4.6", f"{figure.replace('_', ' ')} than {name}, {way}",
                           _percent(said), None if ours is None else _percent(ours), verdict, count)
    first = results.get("packets_in_steps", {}).get("large_first", {}).get("jokanovic_code")
    yield _row("3.4.6", "large jobs first, Jokanovic's policy as in the code, packets in steps",
               "continues to outperform",
               None if first is None else f"{_percent(first['strictly_better'])} better, "
                                          f"{_percent(first['strictly_worse'])} worse",
               "" if first is None else _as_well(first["strictly_better"], first["strictly_worse"],
                                                 first["mean_reduction"]))


STRONG = ("HACC", "LAMMPS", "MILC", "miniAMR", "miniMD")
"""Applications that endpoint congestion was found to stretch most."""


def _congestion(results: Results) -> Iterator[Row]:
    asked = (("3.6.2", f"endpoint congestion (IV over II): {', '.join(STRONG)}",
              "1.4 to 8 times as long"),
             ("3.6.2", "the same, Graph500 and HPCG", "below 1.1"),
             ("3.6.2", "endpoint congestion hurts more than intermediate (III over I)", "yes"),
             ("3.6.3", "time and stalls per flit correlate", "positive"),
             ("3.6.4", "bandwidth of canaries and stalls per flit correlate", "roughly"))
    found = results.get("endpoints")
    ours = [None] * len(asked) if found is None else _of_endpoints(found)
    for (section, what, said), answer in zip(asked, ours, strict=True):
        text, holds, why = answer or (None, False, "")
        yield _row(section, what, said, text, "holds" if holds else "fails", why)
    yield ("3.6.3", "stalls of processor tiles fall as time grows", "negative", "-", "missing",
           "the packet model has no processor tiles")


def _of_endpoints(found: Results) -> list[tuple[str, bool, str] | None]:
    """What was found of each, whether that is what was published, and with what."""
    runs = f"packets, {found['runs']} runs"
    ratio = {name: row["IV"] / row["II"] for name, row in found["execution"].items()}
    strong = [ratio[name] for name in STRONG]
    calm = max(ratio["Graph500"], ratio["HPCG"])
    waits = found["communication"]
    endpoint, between = waits["IV"] / waits["II"], waits["III"] / waits["I"]
    times, canaries = found["correlation_time_stalls"], found["correlation_bandwidth_stalls"]
    return [
        (f"{min(strong):.2g} to {max(strong):.2g}", min(strong) >= 1.4, runs),
        (f"{calm:.2f}", calm < 1.1, "by their profiles: they wait on nobody"),
        (f"{endpoint:.3g} against {between:.3g} times the communication", endpoint > between, runs),
        (f"r = {times:.2f}", times > 0, "over all runs and settings"),
        (f"r = {canaries:.2f}", abs(canaries) > 0.3, "negative: more stalls, less bandwidth"),
    ]


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
    """How many times as long something takes: the same within a half."""
    if found > 1.5 * said:
        return "holds, larger"
    return "holds, smaller" if found < said / 1.5 else "holds"
