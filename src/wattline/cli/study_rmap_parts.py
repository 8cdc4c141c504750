"""Printing the parts of `wattline study rmap --part`."""

from __future__ import annotations

from statistics import median
from typing import Any

import click

from wattline.cli.output import print_json, print_table


def print_part(part: str, found: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json({part: found})
        return
    {"users": _users, "power": _power, "oracle": _oracle, "bounds": _bounds,
     "partition": _partition, "combinations": _combinations,
     "unseen": _unseen}[part](found)


def _of(figure: dict[str, float | None], scale: float = 1.0, digits: int = 1) -> str:
    """A mean with its interval."""
    mean, width = figure["mean"], figure["interval_95"]
    said = f"{scale * (mean or 0.0):.{digits}f}"
    return said if width is None else f"{said} ±{scale * width:.{digits}f}"


def _users(found: dict[str, Any]) -> None:
    print_table(["policy", "turnaround s", "below traditional %"],
                [[policy, _of(each), _of(found["below_traditional"][policy], 100)
                  if policy in found["below_traditional"] else "-"]
                 for policy, each in found["turnaround_s"].items()],
                title=f"Trace '{found['trace']}' at {found['bound']:.0%} of the peak")
    click.echo()
    print_table(["policy", "better", "same", "worse", "largest gain %", "largest loss %"],
                [[name, _of(each["better"]), _of(each["same"]), _of(each["worse"]),
                  _of(each["largest_gain"], 100), _of(each["largest_loss"], 100)]
                 for name, each in found["users"].items()],
                title=f"Of {found['jobs']} jobs, mean of {found['seeds']} seeds")


def _power(found: dict[str, Any]) -> None:
    print_table(["figure", "mean"],
                [[name.replace("_", " "), _of(each, digits=3)] for name, each in found.items()
                 if isinstance(each, dict) and "mean" in each],
                title=f"Adaptive 0 % beside traditional, trace '{found['trace']}' at "
                      f"{found['bound']:.0%} of the peak, {found['jobs']} jobs")


def _oracle(found: dict[str, Any]) -> None:
    print_table(["policy", "mean error", "largest mean of a bound",
                 "largest with signs", "largest"],
                [[policy, *(f"{value:.1%}" for value in each.values())]
                 for policy, each in found["policies"].items()],
                title=f"Mean turnaround with tables predicted from {found['trained_on']:.0%} of "
                      f"the measurements, against measured ones, trace '{found['trace']}'")
    by_trace = sorted(found["largest_by_trace"])
    click.echo(f"largest error at any bound, traditional and adaptive, of one trace: median "
               f"{median(by_trace):.1%}, from {by_trace[0]:.1%} to {by_trace[-1]:.1%}")


def _bounds(found: dict[str, Any]) -> None:
    def share(one: dict[str, Any], name: str) -> str:
        return "-" if one.get(name) is None else f"{one[name]['beside_best']:.2f}"

    names = ("packed_max", "packed_min", "spread_max", "spread_min")
    print_table(["application", "bound W", "best", "time s", "power W", "over packed-max",
                 *(name.replace("_", "-") for name in names)],
                [[one["application"], "none" if one["bound_w"] is None else f"{one['bound_w']:g}",
                  *_best(one["best"]),
                  "-" if one["speedup"] is None else f"{one['speedup']:+.1%}",
                  *(share(one, name) for name in names)] for one in found["rows"]],
                title="Best configurations; the canonical ones with the performance of the best "
                      "as 1")


def _best(best: dict[str, Any] | None) -> tuple[object, ...]:
    if best is None:
        return "nothing fits", None, None
    from wattline.physics.dimensions import label

    beside = ("nodes", "time_s", "power_w", "runs", "time_spread", "power_spread")
    settings = {name: value for name, value in best.items() if name not in beside}
    return label(best["nodes"], settings), best["time_s"], best["power_w"]


def _partition(found: dict[str, Any]) -> None:
    print_table(["trace", "turnaround", "below by %"],
                [[trace, name.replace("_", " "), _of(each, 100)]
                 for trace, rows in found["traces"].items() for name, each in rows.items()],
                title=f"{found['part']:.0%} of nodes and watts for small jobs, run traditionally; "
                      "a large job gets no more nodes than the rest has")
    if found["refused_bounds"]:
        click.echo("left out, because a job could have no configuration there: bounds of "
                   + ", ".join(f"{bound:.0%}" for bound in found["refused_bounds"]))


def _combinations(found: dict[str, Any]) -> None:
    compared = list(next(iter(found["effects"].values()), {}))
    print_table(["set-up", "load", *(f"{name} %" for name in compared), "wait"],
                [[one["label"], one["load"],
                  *(_of(one["gains"][name], 100) if one["gains"] else "refused"
                    for name in compared),
                  "-" if one["refused"] else f"{one['wait_share']:.0%}"]
                 for one in found["set_ups"]],
                title="Turnaround of adaptive 0 % below the other policy's, "
                      f"{found['seeds']} seeds, 95 % intervals; wait: its part of the turnaround")
    click.echo()
    print_table(["choice", *(f"{name} %" for name in compared)],
                [[choice, *(f"{100 * each[name]:+.1f}" for name in compared)]
                 for choice, each in found["effects"].items() if each],
                title="What the other choice adds, mean over all set-ups that differ in it alone")


def _unseen(found: dict[str, Any]) -> None:
    kinds = list(found["median"]["time"])
    print_table(["table", "trained on", "of", *(f"{kind}: time, power %" for kind in kinds),
                 f"published errors held, {kinds[0]}"],
                [[row["table"], row["trained_on"], row["configurations"], *_errors(row, kinds),
                  f"{row['published_errors_held'][kinds[0]]:.0%}"] for row in found["tables"]]
                + [[f"{middle} of the tables", None, None, *_errors(found[middle], kinds), None]
                   for middle in ("median", "mean")],
                title=f"Mean errors of models trained on a designed {found['train']:.0%} of a "
                      "table whose application the priors have not seen, median of "
                      f"{found['seeds']} seeds")
    for what, best in found["best"].items():
        click.echo(f"smallest error of {what}: " + ", ".join(
            f"{kind} on {count}" for kind, count in best.items()))
    for name, why in found["left_out"].items():
        click.echo(f"left out: {name}, {why}")


def _errors(row: dict[str, Any], kinds: list[str]) -> list[str]:
    return [f"{100 * row['time'][kind]:.1f}, {100 * row['power'][kind]:.1f}" for kind in kinds]
