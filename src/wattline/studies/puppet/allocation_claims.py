"""What the published study says of power-aware allocation, and of both methods together."""

from __future__ import annotations

from wattline.studies.puppet.cases import (
    MODERATE,
    Ratios,
    added_min,
    chaos,
    each,
    label,
    means,
    split,
    times_wait,
)
from wattline.studies.puppet.figures import CAPS, IDLES, DayCurve
from wattline.studies.puppet.runs import ORDERS, CappedCase
from wattline.studies.puppet.verdicts import Judgement, Margin, StudyFinding, finding, mean

MINOR = 0.10
"""What is taken for a minor impact, and for comparable, more or less: the publication gives no
figure."""
METHODS = ("dvfs", "block", "wait")


def wait_beats_block(ratios: Ratios, busy: tuple[int, ...], parts: int) -> StudyFinding:
    pairs = list(zip(each(ratios, range(parts), "wait"), each(ratios, range(parts), "block"),
                     strict=True))
    return finding(
        ("wait-never-worse-than-block", "text to figure 13"),
        "WAIT is never worse than BLOCK in utilisation, waiting and EDP",
        {"utilisation": [Margin(label(w.case), w.utilisation / b.utilisation - 1)
                         for w, b in pairs],
         "waiting": [Margin(label(w.case), 1 - times_wait(w, b)) for w, b in pairs],
         "EDP": [Margin(label(w.case), 1 - w.edp / b.edp) for w, b in pairs]},
        {"mean_wait_min": {"wait": mean(w.figures.wait_s / 60 for w, _ in pairs),
                           "block": mean(b.figures.wait_s / 60 for _, b in pairs)},
         "mean_edp_ratio": {"wait": mean(w.edp for w, _ in pairs),
                            "block": mean(b.edp for _, b in pairs)}},
        lambda judgement: chaos(judgement) if judgement.worst.startswith("waiting") else (
            "utilisation and EDP hang on when the last large job of a part ends, which small jobs "
            "that pass can move either way; worst: " + judgement.worst), ties_hold=True)


def allocation_trade(ratios: Ratios, busy: tuple[int, ...], parts: int) -> StudyFinding:
    rows = {method: each(ratios, range(parts), method) for method in ("block", "wait")}
    every = [ratio for row in rows.values() for ratio in row]
    return finding(
        ("allocation-lowers-use-raises-edp", "text to figure 13"),
        "Power-aware allocation lowers utilisation and raises EDP",
        {"utilisation": [Margin(label(r.case), 1 - r.utilisation) for r in every],
         "EDP": [Margin(label(r.case), r.edp - 1) for r in every]},
        {method: means(row) for method, row in rows.items()}, chaos)


def minor_until_tight(ratios: Ratios, busy: tuple[int, ...], parts: int) -> StudyFinding:
    rows = {cap: each(ratios, range(parts), "wait", cap=cap) for cap in CAPS}
    moderate = [r for cap in MODERATE for r in rows[cap]]
    tight = means(rows[0.4])

    def why(judgement: Judgement) -> str:
        worst = {f"{cap:.0%}": means(rows[cap]) for cap in MODERATE}
        missed = [f"{name} x {found[name]:.2f} at {cap}" for cap, found in worst.items()
                  for name in ("wait", "edp", "utilisation") if abs(found[name] - 1) > MINOR]
        load = mean(r.baseline.utilisation for r in rows[0.7])
        return (f"on average {', '.join(missed) or 'all within a tenth'}; the load decides (here "
                f"{load:.0%} of the machine are in use without a cap) and what the cap counts: "
                "the table of loads shows both")

    return finding(
        ("allocation-minor-until-tight", "text to figure 14"),
        f"With allocation the impact is minor at 80 to 60 % (within {MINOR:.0%}) and very obvious "
        "at 40 %",
        {"utilisation": [Margin(label(r.case), _within(r.utilisation)) for r in moderate],
         "waiting": [Margin(label(r.case), _within(r.wait)) for r in moderate],
         "EDP": [Margin(label(r.case), _within(r.edp)) for r in moderate],
         "EDP at 40 %": [Margin("mean", tight["edp"] - 1 - MINOR)]},
        {f"{cap:.0%}": means(row) for cap, row in rows.items()}, why, ties_hold=True)


def comparable_unless_tight(ratios: Ratios, busy: tuple[int, ...], parts: int) -> StudyFinding:
    _, quiet = split(busy, parts)
    pairs = [pair for cap in CAPS
             for group in (range(parts) if cap > 0.4 else quiet,)
             for pair in zip(each(ratios, group, "wait", cap=cap),
                             each(ratios, group, "dvfs", cap=cap), strict=True)]

    def why(judgement: Judgement) -> str:
        at = {cap: [(w, d) for w, d in pairs if w.case.cap == cap] for cap in CAPS}
        told = [f"{cap:.0%} x {mean(w.edp / d.edp for w, d in row):.2f} (waiting "
                f"x {mean(times_wait(w, d) for w, d in row):.1f})" for cap, row in at.items()]
        return ("EDP of WAIT over that of DVFS: " + ", ".join(told) + "; DVFS lets every job start "
                "and stretches it, allocation keeps whole jobs waiting")

    return finding(
        ("allocation-comparable-unless-tight", "introduction and conclusions"),
        f"Allocation is comparable with DVFS (within {MINOR:.0%}) unless the cap is tight (40 %) "
        "and the load high",
        {"utilisation": [Margin(label(w.case), _within(w.utilisation / d.utilisation))
                         for w, d in pairs],
         "waiting": [Margin(label(w.case), _within(times_wait(w, d))) for w, d in pairs],
         "EDP": [Margin(label(w.case), _within(w.edp / d.edp)) for w, d in pairs]},
        {"edp_wait_over_dvfs": {
            f"{cap:.0%}": mean(w.edp / d.edp for w, d in pairs if w.case.cap == cap)
            for cap in CAPS},
         "wait_of_wait_over_dvfs": {
            f"{cap:.0%}": mean(times_wait(w, d) for w, d in pairs if w.case.cap == cap)
            for cap in CAPS}}, why, ties_hold=True)


def worse_when_tight(ratios: Ratios, busy: tuple[int, ...], parts: int) -> StudyFinding:
    pairs = list(zip(each(ratios, range(parts), "wait", cap=0.4),
                     each(ratios, range(parts), "dvfs", cap=0.4), strict=True))
    return finding(
        ("tight-cap-hits-allocation-harder", "text to figure 14"),
        "A tight cap (40 %) costs more with allocation than with DVFS",
        {"waiting": [Margin(label(w.case), times_wait(w, d) - 1) for w, d in pairs],
         "EDP": [Margin(label(w.case), w.edp / d.edp - 1) for w, d in pairs]},
        {"40%": {"wait": means([w for w, _ in pairs]), "dvfs": means([d for _, d in pairs])}},
        chaos)


def wfp_robust(ratios: Ratios, busy: tuple[int, ...], parts: int) -> StudyFinding:
    rows = {method: {order: [ratios[CappedCase(part, order, method)] for part in range(parts)]
                     for order in ORDERS} for method in METHODS}
    growth = {method: {order: mean(r.wait for r in row) for order, row in by.items()}
              for method, by in rows.items()}
    minutes = {method: {order: mean(map(added_min, row)) for order, row in by.items()}
               for method, by in rows.items()}

    def why(judgement: Judgement) -> str:
        told = []
        for method, pair in growth.items():
            if not pair["wfp"] > pair["fcfs"]:
                continue
            fewer = minutes[method]["wfp"] < minutes[method]["fcfs"]
            told.append(
                f"{method.upper()} x {pair['wfp']:.2f} against x {pair['fcfs']:.2f}, though the "
                f"minutes added are {'fewer' if fewer else 'more, too'} "
                f"({minutes[method]['wfp']:.0f} against {minutes[method]['fcfs']:.0f})"
                + (": the wait without a cap is shorter under WFP" if fewer else ""))
        return "; ".join(told) or judgement.worst

    return finding(
        ("wfp-waiting-grows-less", "text to figures 10 to 14"),
        "Waiting grows less under WFP than under FCFS",
        {"growth of waiting": [Margin(method.upper(), pair["fcfs"] / pair["wfp"] - 1)
                               for method, pair in growth.items()]},
        {"mean_wait_ratio": growth, "mean_added_wait_min": minutes}, why)


def busier_suffers_more(ratios: Ratios, busy: tuple[int, ...], parts: int) -> StudyFinding:
    high, low = split(busy, parts)
    added = {method: {name: mean(map(added_min, each(ratios, group, method)))
                      for name, group in (("busy", high), ("quiet", low))} for method in METHODS}

    def why(judgement: Judgement) -> str:
        use = {name: mean(r.baseline.utilisation for r in each(ratios, group, "dvfs"))
               for name, group in (("busy", high), ("quiet", low))}
        wrong = [method.upper() for method, pair in added.items() if pair["busy"] <= pair["quiet"]]
        return (f"not for {', '.join(wrong)}: the parts differ in use by "
                f"{100 * (use['busy'] - use['quiet']):.0f} points only, and single large jobs that "
                "wait for power weigh more than the load does")

    return finding(
        ("busy-months-suffer-more", "text to figures 10 to 14"),
        "Every method costs more waiting in the months of high utilisation",
        {"minutes added": [Margin(method.upper(), pair["busy"] / pair["quiet"] - 1
                                  if pair["quiet"] > 0 else pair["busy"] - pair["quiet"])
                           for method, pair in added.items()]},
        {"added_wait_min": added}, why)


def idle_and_load(ratios: Ratios, busy: tuple[int, ...], parts: int) -> StudyFinding:
    high, low = split(busy, parts)
    spans = {order: {name: mean(_idle_span(ratios, part, order) for part in group)
                     for name, group in (("busy", high), ("quiet", low))} for order in ORDERS}
    return finding(
        ("idle-power-matters-more-when-busy", "text to figure 15"),
        "Idle power (0 to 50 % of full) changes the EDP of allocation more at high utilisation",
        {"span of EDP": [Margin(order.upper(), pair["busy"] - pair["quiet"])
                         for order, pair in spans.items()]},
        {"edp_span": spans}, chaos)


def idle_and_order(ratios: Ratios, busy: tuple[int, ...], parts: int) -> StudyFinding:
    spans = {order: [_idle_span(ratios, part, order) for part in range(parts)] for order in ORDERS}

    def why(judgement: Judgement) -> str:
        lost = {order: mean(1 - ratios[CappedCase(part, order, "wait")].utilisation
                            for part in range(parts)) for order in ORDERS}
        return (f"allocation costs {100 * lost['wfp']:.1f} % of the utilisation under WFP and "
                f"{100 * lost['fcfs']:.1f} % under FCFS: idle nodes, and with them idle power, "
                "differ as little as that; " + chaos(judgement))

    return finding(
        ("idle-power-matters-more-under-wfp", "text to figure 15"),
        "Idle power changes the EDP of allocation more under WFP than under FCFS",
        {"span of EDP": [Margin(f"part {part + 1}", wfp - fcfs) for part, (wfp, fcfs) in
                         enumerate(zip(spans["wfp"], spans["fcfs"], strict=True))]},
        {"edp_span": {order: mean(row) for order, row in spans.items()}}, why)


def under_the_cap(ratios: Ratios, curve: DayCurve) -> StudyFinding:
    capped = [r.figures for r in ratios.values() if r.case.method != "none"]
    above_s = sum(f.above_cap_s for f in capped)
    nearest = max(f.peak_w / f.cap_w for f in capped)
    curves = max(peak for method, peak in curve.peak_w.items() if method != "none")
    return finding(
        ("always-under-the-cap", "text to figure 16"),
        "Every method stays under the cap at every instant",
        {"seconds above": [Margin("all runs", -above_s)],
         "highest power": [Margin("all runs", 1 - nearest),
                           Margin("by the time of day", 1 - curves / curve.cap_w)]},
        {"runs": len(capped), "seconds_above_cap": above_s, "highest_power_over_cap": nearest},
        lambda judgement: "this must not happen: please report it with the log", ties_hold=True)


def _within(ratio: float) -> float:
    """By how much a ratio is nearer to 1 than what is minor; far below 1 is as far off as above."""
    return MINOR - abs(ratio - 1)


def _idle_span(ratios: Ratios, part: int, order: str) -> float:
    edp = [ratios[CappedCase(part, order, "wait", idle=idle)].edp for idle in IDLES]
    return max(edp) - min(edp)
