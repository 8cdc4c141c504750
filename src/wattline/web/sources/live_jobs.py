"""Jobs of the live machine: those that Slurm shows, and those that the ledger remembers."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wattline.model.errors import InputError, WattlineError, WattlineWarning
from wattline.model.units import format_power
from wattline.web.sources.live_alternatives import alternatives
from wattline.web.sources.live_basis import energy_parts, no_range, other_figures
from wattline.web.sources.live_joules import NO_LEDGER
from wattline.web.sources.live_ledger import SORTS, LedgerPages
from wattline.web.sources.rates import Rates
from wattline.web.sources.run_joules import NOBODY
from wattline.web.sources.shape import (
    Act,
    JobDetail,
    JobPage,
    JobQuestion,
    JobRow,
    NoSuchJob,
    Profile,
    Reservation,
)

DEEPEST = 100_000
"""Rows of the ledger that a page may lie behind."""
EXPLAIN_S = 3.0


def queue(machine: Mapping[str, Any], epoch_s: float, now_s: float, offset: int,
          limit: int) -> JobPage:
    waiting = [job for job in _shown(machine, epoch_s, now_s) if job.start_s is None]
    return JobPage(now_s - epoch_s, len(waiting), offset, waiting[offset : offset + limit])


def page(machine: Mapping[str, Any], ledger: LedgerPages, epoch_s: float, now_s: float,
         asked: JobQuestion) -> JobPage:
    """What Slurm shows now and the ledger of before, merged in the order asked for."""
    if asked.sort not in SORTS:
        raise InputError(f"jobs cannot be sorted by '{asked.sort[:40]}'; there are: "
                         f"{', '.join(SORTS)}")
    most = asked.offset + asked.limit
    if most > DEEPEST:
        raise InputError(f"offset and limit reach beyond {DEEPEST:,} jobs; search instead")
    now = [job for job in _shown(machine, epoch_s, now_s) if _fits(job, asked)]
    known = {str(job["job"]) for job in machine.get("jobs", [])}
    count, rows = ledger.over(asked, known, most)
    found = [*now, *(_of_ledger(row, epoch_s) for row in rows)]
    found.sort(key=lambda job: _key(job, asked.sort), reverse=asked.descending)
    return JobPage(now_s - epoch_s, len(now) + count, asked.offset, found[asked.offset : most])


def detail(machine: Mapping[str, Any], ledger: LedgerPages, config: Path, epoch_s: float,
           now_s: float, job: str, rates: Rates) -> JobDetail:
    shown = next((each for each in _shown(machine, epoch_s, now_s) if each.id == job), None)
    life = _measured(ledger, job)
    if shown is None and life is None:
        raise NoSuchJob(f"there is no job {job[:40]} that Slurm shows or the ledger has; "
                         "/api/jobs lists those there are")
    row = shown or _of_ledger({**(life or {}), "label": job}, epoch_s)
    energy_j = None if life is None else life["energy_j"]
    names = next((str(each["node_list"]) for each in machine.get("jobs", [])
                  if each["job"] == job), "" if life is None else str(life["node_list"]))
    others, notes, none = alternatives(ledger, row)
    missing = {} if life is not None else {"energy_j": _unmeasured(ledger, row)}
    missing |= rates.missing() | ({"alternatives": none} if none else {}) | no_range(life)
    return JobDetail(
        job=row, profile=_profile(life, epoch_s), energy_j=energy_j,
        cost=None if energy_j is None else rates.cost(energy_j, *_span_s(life)),
        carbon_g=None if energy_j is None else rates.grams(energy_j, *_span_s(life)),
        coverage=None if life is None else life["coverage"],
        quality=["not measured"] if life is None else
        [each for each in (life["source"], life["quality"]) if each],
        configuration="as requested", alternatives=others,
        explanation=_explained(config, job, row), node_names=[names] if names else [],
        assumptions=notes, missing=missing, energy_parts=energy_parts(life),
        other_figures=other_figures(life))


def _unmeasured(ledger: LedgerPages, row: JobRow) -> str:
    if not ledger.there:
        return NO_LEDGER
    return ("it has not started yet" if row.start_s is None else
            "the ledger has not heard of it yet: joules are entered some seconds later")


def consequences(act: Act, status: Mapping[str, Any], machine: Mapping[str, Any]) -> list[str]:
    """What an order would mean now, by the figures that the controller decides by."""
    if act.action == "unreserve":
        known = [each for each in status["ahead"] if each["name"] == act.value["name"]]
        if not known:
            raise InputError(f"there is no reservation '{act.value['name']}'; there are: "
                             f"{', '.join(each['name'] for each in status['ahead']) or 'none'}")
        return [f"{format_power(known[0]['watts'])} are free for jobs again"]
    drawn_w = status["power_w"] if status["measured_w"] is None else status["measured_w"]
    cap_w = _cap_after(act, status)
    if cap_w is None:
        return ["nothing limits the machine's power any more; it can draw "
                f"{format_power(status['machine_w'])}"]
    later = act.action == "reserve" and float(act.value.get("in_s") or 0.0) > 0
    said = [f"the window begins in {float(act.value['in_s']):,.0f} s; figures are those of now"
            ] if later else []
    said.append(f"the cap would be {format_power(cap_w)}; the machine draws "
                f"{format_power(drawn_w)}")
    if drawn_w > cap_w:
        said.append(f"that is {format_power(drawn_w - cap_w)} above it: nothing starts before it "
                    "is below, and where nodes have agents their caps are lowered")
    if cap_w < status["idle_w"]:
        said.append(f"idle nodes alone draw {format_power(status['idle_w'])}: this cap cannot be "
                    "kept")
    left_w = cap_w - drawn_w
    waiting = [each for each in machine.get("jobs", []) if each.get("adds_w") is not None]
    more = [each for each in waiting if each["adds_w"] > left_w]
    said.append(f"{len(more):,} of {len(waiting):,} waiting jobs need more than the "
                f"{format_power(max(left_w, 0.0))} that would be left, and would wait")
    return said


def reservations(status: Mapping[str, Any], epoch_s: float) -> list[Reservation]:
    """Watts that are kept free, now or later."""
    return [Reservation(each["name"], each["start_s"] - epoch_s, each["end_s"] - epoch_s,
                        each["watts"]) for each in status["ahead"] if each["watts"] > 0]


def _cap_after(act: Act, status: Mapping[str, Any]) -> float | None:
    if act.action == "set_cap":
        watts = act.value["watts"]
        held_w = sum(each["watts"] for each in status["ahead"] if each["begun"])
        return None if watts is None else float(watts) - held_w
    cap_w = status["machine_w"] if status["cap_w"] is None else status["cap_w"]
    return float(cap_w) - float(act.value["watts"])


def _shown(machine: Mapping[str, Any], epoch_s: float, now_s: float) -> list[JobRow]:
    """What Slurm shows now; jobs without a start wait."""
    return [_row(each, epoch_s, now_s) for each in machine.get("jobs", [])]


def _row(said: Mapping[str, Any], epoch_s: float, now_s: float) -> JobRow:
    submit_s, start_s = said["submit_s"], said["start_s"]
    until_s = now_s if start_s is None else start_s
    return JobRow(
        id=str(said["job"]), user=said["user"] or None, account=said["account"] or None,
        application=said["name"] or None, state=said["state"], nodes=int(said["nodes"]),
        submit_s=(now_s if submit_s is None else submit_s) - epoch_s,
        start_s=None if start_s is None else start_s - epoch_s, end_s=None,
        wait_s=None if submit_s is None else max(until_s - submit_s, 0.0),
        elapsed_s=None if start_s is None else max(now_s - start_s, 0.0),
        requested_s=said["limit_s"], power_w=said["power_w"], energy_j=None, why=said["why"])


def _of_ledger(life: Mapping[str, Any], epoch_s: float) -> JobRow:
    start_s, end_s = float(life["start_s"]), life["end_s"]
    submit_s = life.get("submit_s")
    elapsed_s = None if end_s is None else float(end_s) - start_s
    energy_j = life["energy_j"]
    return JobRow(
        id=str(life["label"]), user=life["user"] or None, account=life["account"] or None,
        application=life["application"] or None, state=life["state"] or "UNKNOWN",
        nodes=_node_count(life),
        submit_s=(start_s if submit_s is None else float(submit_s)) - epoch_s,
        start_s=start_s - epoch_s, end_s=None if end_s is None else float(end_s) - epoch_s,
        wait_s=None if submit_s is None else start_s - float(submit_s), elapsed_s=elapsed_s,
        requested_s=life.get("limit_s"),
        power_w=energy_j / elapsed_s if energy_j is not None and elapsed_s else None,
        energy_j=energy_j)


def _node_count(life: Mapping[str, Any]) -> int:
    """A row of the ledger counts its nodes; of one job they are listed, and counted beside it."""
    nodes = life.get("nodes")
    return nodes if isinstance(nodes, int) else int(life.get("node_count") or 0)


def _measured(ledger: LedgerPages, job: str) -> dict[str, Any] | None:
    """The last life of a job in the ledger, with its power over time."""
    from wattline.advice.measured_job import account_job

    if not ledger.there:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WattlineWarning)
        try:
            return dict(account_job(job, ledger.store).lives[-1])
        except InputError:
            return None


def _span_s(life: Mapping[str, Any] | None) -> tuple[float, float]:
    """From when to when a life has joules, in Unix seconds."""
    if life is None:
        return 0.0, 0.0
    start_s = float(life["start_s"])
    end_s = life["end_s"] if life["end_s"] is not None else max(
        (last for _, last, _ in life["power"]), default=start_s)
    return start_s, float(end_s)


def _profile(life: Mapping[str, Any] | None, epoch_s: float) -> Profile:
    time_s: list[float] = []
    power_w: list[float | None] = []
    for first, last, watts in (() if life is None else life["power"]):
        if time_s and first - epoch_s > time_s[-1]:
            time_s.append(time_s[-1])
            power_w.append(None)
        time_s += [first - epoch_s, last - epoch_s]
        power_w += [watts, watts]
    return Profile(time_s, power_w)


def _explained(config: Path, job: str, row: JobRow) -> str:
    """What the controller says of it; where it does not answer, that."""
    from wattline.controller.speaking import explain_job

    if row.end_s is not None:
        return f"It is over: {row.state}."
    try:
        said = str(explain_job(job, config, within_s=EXPLAIN_S)["sentence"])
        return f"{said[:1].upper()}{said[1:]}."
    except WattlineError as error:
        return f"The controller does not say: {error}."


def _fits(job: JobRow, asked: JobQuestion) -> bool:
    if any(wanted and (has or NOBODY) != wanted for wanted, has in (
            (asked.user, job.user), (asked.account, job.account))):
        return False
    if asked.state and job.state != asked.state.upper():
        return False
    text = asked.search.strip().casefold()
    return not text or job.id.startswith(text) or any(
        text in (name or "").casefold() for name in (job.user, job.account, job.application))


def _key(job: JobRow, sort: str) -> tuple[bool, Any]:
    value = (int("".join(filter(str.isdigit, job.id.partition("_")[0])) or 0)
             if sort == "id" else getattr(job, sort))
    return value is not None, 0 if value is None else value
