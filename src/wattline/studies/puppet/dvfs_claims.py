"""What the published study says of DVFS (figures 10 to 12), held against our figures."""

from __future__ import annotations

from itertools import pairwise

from wattline.studies.puppet.cases import (
    MODERATE,
    Ratios,
    chaos,
    each,
    label,
    means,
    split,
    times_wait,
)
from wattline.studies.puppet.figures import ALPHAS, BETAS, CAPS
from wattline.studies.puppet.runs import CORE_SHARE, LOWEST, power_factor
from wattline.studies.puppet.verdicts import Judgement, Margin, StudyFinding, finding, mean


def dvfs_trade(ratios: Ratios, busy: tuple[int, ...], parts: int) -> StudyFinding:
    found = {cap: each(ratios, range(parts), "dvfs", cap=cap) for cap in MODERATE}
    every = [ratio for row in found.values() for ratio in row]
    return finding(
        ("dvfs-trades-waiting-for-edp", "text to figures 10 and 11"),
        "At moderate caps (80 to 60 %) DVFS raises utilisation and waiting and lowers EDP",
        {"utilisation": [Margin(label(r.case), r.utilisation - 1) for r in every],
         "waiting": [Margin(label(r.case), r.wait - 1) for r in every],
         "EDP": [Margin(label(r.case), 1 - r.edp) for r in every]},
        {f"{cap:.0%}": means(row) for cap, row in found.items()}, chaos)


def cubic_hurts_least(ratios: Ratios, busy: tuple[int, ...], parts: int) -> StudyFinding:
    rows = {alpha: each(ratios, range(parts), "dvfs", alpha=alpha) for alpha in ALPHAS}
    margins = [
        Margin(label(third.case), min(times_wait(first, third), times_wait(second, third)) - 1)
        for first, second, third in zip(*rows.values(), strict=True)]
    return finding(
        ("cubic-alpha-hurts-least", "text to figure 10"),
        "Where power falls with the cube of frequency (alpha 3), waiting grows least",
        {"waiting": margins}, {f"alpha {alpha:g}": means(row) for alpha, row in rows.items()},
        chaos)


def tight_cap_edp(ratios: Ratios, busy: tuple[int, ...], parts: int) -> StudyFinding:
    _, quiet = split(busy, parts)
    high = [r.edp for r in each(ratios, busy, "dvfs", cap=0.4)]
    low = [r.edp for r in each(ratios, quiet, "dvfs", cap=0.4)]

    def why(judgement: Judgement) -> str:
        if max(high) <= 1:
            return (f"EDP stays below that without a cap in all parts (at most x {max(high):.2f}): "
                    "slow jobs save more energy than the longer schedule costs")
        return (f"the busy parts do not stand out (mean x {mean(high):.2f}, the quiet ones "
                f"x {mean(low):.2f})")

    return finding(
        ("tight-cap-worsens-edp-under-load", "text to figure 11"),
        "DVFS under a tight cap (40 %) can make EDP worse, above all under high load",
        {"worst EDP of the busy parts": [Margin("40 %", max(high) - 1)],
         "busy against quiet": [Margin("40 %", mean(high) - mean(low))]},
        {"edp_busy": high, "edp_quiet": low}, why)


def tighter_more_use(ratios: Ratios, busy: tuple[int, ...], parts: int) -> StudyFinding:
    rows = {cap: each(ratios, range(parts), "dvfs", cap=cap) for cap in CAPS}
    margins = {
        f"{wide:.0%} to {tight:.0%}": [
            Margin(label(b.case), b.utilisation / a.utilisation - 1)
            for a, b in zip(rows[wide], rows[tight], strict=True)]
        for wide, tight in pairwise(CAPS)}
    series = {f"{cap:.0%}": mean(r.utilisation for r in row) for cap, row in rows.items()}

    def why(judgement: Judgement) -> str:
        falls = [step for step, listed in margins.items() if mean(m.by for m in listed) < 0]
        if not falls:
            return chaos(judgement)
        least = power_factor(LOWEST, 2.0)
        return (f"the mean falls from {' and from '.join(falls)}: the lowest level, {LOWEST:g}, "
                f"still draws {least:.0%} of a job's power, so that under the tightest cap jobs "
                "wait for power and nodes stand idle; the table of lowest frequencies shows it")

    return finding(
        ("dvfs-tighter-cap-more-utilisation", "text to figure 11"),
        "With DVFS, utilisation rises as the cap gets tighter (80 to 40 %)",
        margins, {"mean_utilisation_ratio": series}, why)


def beta_and_edp(ratios: Ratios, busy: tuple[int, ...], parts: int) -> StudyFinding:
    rows = {beta: each(ratios, range(parts), "dvfs", beta=beta) for beta in BETAS}
    margins = {
        f"beta {beta:g}": [Margin(label(b.case), a.edp / b.edp - 1)
                           for a, b in zip(rows[BETAS[0]], rows[beta], strict=True)]
        for beta in BETAS[1:]}
    least, idle = power_factor(LOWEST, 2.0), rows[BETAS[0]][0].case.idle

    def why(judgement: Judgement) -> str:
        return ("a job at frequency f takes t f^-beta, at P(f), in place of idle power, so that "
                "its energy grows with beta wherever P(f) is above idle power; with the published "
                f"{CORE_SHARE:.0%} that is so at every level (at {LOWEST:g}: {least:.0%} of full "
                f"power, idle {idle:.0%}), and the makespan does not shrink either")

    return finding(
        ("higher-beta-does-not-raise-edp", "text to figure 12"),
        "With DVFS, a higher beta (time more sensitive to frequency) does not raise EDP",
        margins,
        {"mean_edp_ratio": {f"beta {beta:g}": mean(r.edp for r in row)
                            for beta, row in rows.items()}}, why, ties_hold=True)
