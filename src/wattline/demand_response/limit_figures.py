"""Whether the limits of a contract were kept: of a curtailment, and of the caps of events."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from wattline.demand_response.curtailing import counted_baseline
from wattline.demand_response.run import ContractRun
from wattline.grid.curtailment import KEPT_LEAST, CapKept, Compliance, cap_kept, compliance
from wattline.model.signal import Signal
from wattline.scenario.contract_section import ContractSection


def limit_violations(contract: ContractSection, found: ContractRun) -> list[str]:
    """Each limit that was not kept, and by how much."""
    case, violations = found.case, []
    if case.curtailment is not None:
        violations += _kept(found).violations(case.workload.range.power_w_min)
    if case.events is not None:
        violations += _event_violations(found, *_kept_by_cause(contract, found))
    return violations


def limit_excess(contract: ContractSection, found: ContractRun) -> float:
    """The sum by which limits are above what may be exceeded."""
    kept: list[CapKept | Compliance] = []
    if found.case.curtailment is not None:
        kept.append(_kept(found))
    if found.case.events is not None:
        kept += _kept_by_cause(contract, found)
    return sum(max(0.0, each.exceed_share - (1.0 - each.least)) for each in kept if not each.met)


def promised_w(found: ContractRun) -> float:
    """By how much the power is to fall in a curtailment."""
    assert found.case.curtailment is not None
    return found.case.curtailment.share * counted_baseline(found.case, found.actual_w)[0]


def curtailment_figures(found: ContractRun) -> dict[str, Any]:
    """Whether the limit was kept, and the reduction that is counted from the baseline."""
    kept, load = _kept(found), found.case.workload
    counted_w, words = counted_baseline(found.case, found.actual_w)
    return asdict(kept) | {
        "met": kept.met, "violations": kept.violations(load.range.power_w_min),
        "baseline_w": counted_w, "baseline_from": words, "promised_w": promised_w(found),
        "reduction_w": counted_w - kept.power_w_mean, "idle_w": load.range.power_w_min,
        "unfinished": sum(q.unfinished for q in found.quality),
    }


def _kept(found: ContractRun) -> Compliance:
    case, terms = found.case, found.case.programme
    assert case.curtailment is not None
    least = terms.judged.least if terms is not None and terms.curtailment else KEPT_LEAST
    return compliance(found.actual_w, case.curtailment, case.baseline_w, least)


def event_figures(contract: ContractSection, found: ContractRun) -> dict[str, Any]:
    """Which events were followed, and whether their caps and the usual one were kept."""
    case, events = found.case, found.case.events
    assert events is not None
    peak_w = case.workload.range.power_w_max
    lowered, usual = _kept_by_cause(contract, found)
    both = cap_kept(found.actual_w, _caps_w(contract, found), case.judged_s, case.end_s,
                    below_w=peak_w)
    return asdict(both) | {
        "met": lowered.met and usual.met, "violations": _event_violations(found, lowered, usual),
        "while_lowered": asdict(lowered), "while_usual": asdict(usual),
        "usual_w": contract.events_cap or peak_w, "followed": list(events.followed),
        "outside": list(events.outside), "not_followed": list(events.said),
        "prices": events.price is not None,
    }


def _caps_w(contract: ContractSection, found: ContractRun) -> Signal:
    events = found.case.events
    assert events is not None
    usual_w = contract.events_cap or found.case.workload.range.power_w_max
    return Signal.constant(usual_w) if events.cap_w is None else events.cap_w


def _kept_by_cause(contract: ContractSection, found: ContractRun) -> tuple[CapKept, CapKept]:
    """While events lower the cap, and while the usual one holds: a long usual cap that is kept
    must not make a short event of no account."""
    case, limit_w = found.case, _caps_w(contract, found)
    peak_w = case.workload.range.power_w_max
    usual_w = min(contract.events_cap or peak_w, peak_w)
    span_s = (case.judged_s, case.end_s)
    return (cap_kept(found.actual_w, limit_w, *span_s, below_w=usual_w),
            cap_kept(found.actual_w, limit_w, *span_s, from_w=usual_w, below_w=peak_w))


def _event_violations(found: ContractRun, lowered: CapKept, usual: CapKept) -> list[str]:
    idle_w = found.case.workload.range.power_w_min
    return [*lowered.violations("events", idle_w), *usual.violations("the usual cap", idle_w)]
