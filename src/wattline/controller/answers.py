"""What a controller answers to questions: why a job waits, joules, shares, applications."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wattline.books import Books, Explanation, explain
from wattline.books.energy_budget import BudgetNow, budget_now
from wattline.books.explaining import reasons_in_short
from wattline.books.waiting import needed_j, queued_rows, waiting_rows
from wattline.controller.asking import LONGEST_S, claims_too_little
from wattline.controller.orders import OrderOutcome
from wattline.controller.priorities import factors_of, summed_j, used_until_j
from wattline.controller.status import nodes_by_state
from wattline.controller.where import of_partition
from wattline.live.slurm.reading import WAITING, SlurmJob
from wattline.model.errors import InputError
from wattline.model.units import counted, fold_hosts
from wattline.policies.order.energy_share import STRANGERS

if TYPE_CHECKING:
    from wattline.controller.configuration import SiteConfig
    from wattline.controller.controller import Controller
    from wattline.controller.told import Told

Answer = Callable[["Controller", "SiteConfig", Mapping[str, Any]], OrderOutcome]


SHARED = {
    "watts": "without the cap it would start now, by Slurm's rules",
    "nodes": "by Slurm's rules its CPUs, memory or devices are not free, or jobs before it have "
             "them",
    "reservation": "reservations of Slurm's have nodes of its partition, or will before it would "
                   "end, and on the others there is no room for it now",
    "refused": "the machine file has no place for it",
    "back-off": "a start of it failed, and it is tried again after some seconds",
    "next": "it may begin, and is decided upon at the next look"}
"""Of jobs on shared nodes."""
TASKS = 20
"""Of an array, so many are named."""


def explained(controller: Controller, site: SiteConfig, fields: Mapping[str, Any]) -> OrderOutcome:
    """Why a job waits: by the books where they have it, otherwise by what Slurm says."""
    label = _label(controller, str(fields.get("job", "")))
    books, told = controller.books, controller.watcher.told
    seen = controller.slurm.job(label)
    lives = [name for name, each in told.items() if each.label == label]
    name = lives[-1] if lives else label if seen is None else controller.watcher.name(seen)
    ours = name in books.roll or name in books.roll.over
    if seen is None and not ours:
        raise InputError(_unknown(controller, label))
    if name in told and told[name].untold:
        found = Explanation(label, "running", "it runs, and the books did not take that: they "
                            "count its nodes for others, such as a suspended job, or its watts are "
                            "above the highest cap")
    elif name in controller.turned_away:
        found = Explanation(label, "refused", f"it was refused: {controller.turned_away[name]}")
    elif seen is not None and (not ours or _released_by_others(controller, name, seen)):
        found = _not_ours(controller, seen)
    elif name in told and told[name].suspended:
        found = suspended(controller, name, told[name])
    else:
        found = explain(books, name, now_s=controller.now_s(),
                        away=nodes_by_state(books, controller.watcher))
        found = _behind_suspended(controller, _with_slurms_reason(found, told.get(name)))
        found = _with_reservations(controller, found, told.get(name))
        found = _with_claim(controller, found, told.get(name))
    return OrderOutcome(True, found.sentence, found.to_dict())


def _label(controller: Controller, asked: str) -> str:
    """How Slurm prints the job that is meant: a task of an array has a number of its own too, which
    accounting and the job itself know. One that is also the array's means the array."""
    seen = controller.watcher.seen
    if any(job.label == asked or job.label.startswith((f"{asked}_", f"{asked}+")) for job in seen):
        return asked
    return next((job.label for job in seen if str(job.job_id) == asked), asked)


def _with_slurms_reason(found: Explanation, told: Told | None) -> Explanation:
    """Of a start that failed, why: the books know only that it did."""
    if told is None or not told.why_not:
        return found
    if found.reason == "starting" and told.failed:  # Slurm was not asked: it has no such nodes now
        found = Explanation(found.job, "back-off", "it cannot start just now, and is tried again "
                            "in some seconds", found.figures)
    if found.reason != "back-off":
        return found
    return replace(found, sentence=f"{found.sentence} ({told.why_not})",
                   figures={**found.figures, "why_not": told.why_not})


def _with_reservations(
    controller: Controller, found: Explanation, told: Told | None
) -> Explanation:
    """Of a job that waits for nodes, or was not started on them, which of them reservations of
    Slurm's keep from it: the books know none."""
    row, watcher = None if told is None else told.row, controller.watcher
    if told is None or row is None or found.reason not in ("nodes", "back-off"):
        return found
    allowed = of_partition(watcher, row.partition)
    kept = [each for each in watcher.met_by(row) if allowed & watcher.numbers_of(each.nodes)]
    if not kept:
        return found
    nodes = sorted(name for name in watcher.kept_from(row)
                   if watcher.number.get(name) in allowed)
    names = sorted(each.name for each in kept)
    reason = "reservation" if told.why_not and found.reason == "back-off" else found.reason
    return replace(
        found, reason=reason, sentence=f"{found.sentence}; {fold_hosts(nodes)} are kept from it: "
        f"{', '.join(names)} of Slurm's reservations have them, or will before it would end",
        figures={**found.figures, "reservations": names})


def suspended(controller: Controller, name: str, told: Told) -> Explanation:
    """Explain what becomes of a suspended job, and of its watts."""
    booked_w = controller.watcher.booked_w(name)
    counted_w = told.watts if math.isnan(booked_w) else booked_w
    free_w = max(told.watts - counted_w, 0.0)
    figures = {"nodes": len(controller.watcher.node_names(told.nodes)), "counted_w": counted_w,
               "free_w": free_w}
    nodes = f"its nodes stay its own and count with {counted_w:,.0f} W"
    if told.aside:
        kept = ("which are kept for it" if free_w < 1.0 else "and it cannot go on under the cap "
                f"of now: {free_w:,.0f} W are free for others until that rises")
        return Explanation(told.label, "suspended", "it is suspended to keep the cap, and goes on "
                           f"when there is room; {nodes}, {kept}", figures)
    return Explanation(
        told.label, "suspended", "it is suspended, and not by the controller: scontrol resume lets "
        f"it go on; until then {nodes}, and {free_w:,.0f} W are free for others. Where the cap has "
        "no room for it by then, nodes are slowed, and if that is not enough it is suspended again "
        "until there is", figures)


def _behind_suspended(controller: Controller, found: Explanation) -> Explanation:
    """Of a job that waits for a suspended one, which it is: nobody knows when that goes on."""
    watcher = controller.watcher
    stopped = [told for told in watcher.told.values() if told.suspended]
    far = found.expected_s is not None and found.expected_s > controller.now_s() + LONGEST_S / 2
    if not stopped or not found.waits or not (far or found.expected_s is None):
        return found
    names = ", ".join(told.label for told in stopped[:TASKS])
    nodes = sum(len(watcher.node_names(told.nodes)) for told in stopped)
    kept_w = sum(told.watts for told in stopped if not told.idles)
    watts = f" and {kept_w:,.0f} W" if kept_w > 0.0 else ""
    return replace(found, expected_s=None, figures={**found.figures, "suspended": names},
                   sentence=f"{found.sentence}; when it starts is not known: "
                   f"{counted(nodes, 'node')}{watts} are kept for {names}, suspended")


def _with_claim(controller: Controller, found: Explanation, told: Told | None) -> Explanation:
    """Of a job that says less of its watts than its nodes draw idle, that it does."""
    less = "" if told is None or told.row is None else claims_too_little(
        told.row, controller.watcher.watts(told.row))
    return replace(found, sentence=f"{found.sentence}; {less}") if less else found


def _unknown(controller: Controller, label: str) -> str:
    """Nobody knows a job of this name; of an array or a job of parts, theirs are known."""
    parts = [job.label for job in sorted(controller.watcher.seen, key=attrgetter("came"))
             if label and job.label.startswith((f"{label}_", f"{label}+"))]
    if not parts:
        return f"neither the books nor Slurm know a job {label}"
    more = f" and {len(parts) - TASKS:,} more" if len(parts) > TASKS else ""
    return f"job {label} has several tasks: ask for one of {', '.join(parts[:TASKS])}{more}"


def _released_by_others(controller: Controller, name: str, job: SlurmJob) -> bool:
    """Whether Slurm may start a job by itself: it waits there, and is not held."""
    told = controller.watcher.told.get(name)
    return job.state in WAITING and not job.held and not (told is not None and told.running)


def _not_ours(controller: Controller, job: SlurmJob) -> Explanation:
    """Why a job that Slurm has is none of the controller's."""
    managed = controller.watcher.partitions
    figures = {"partition": job.partition, "state": job.state, "slurm_reason": job.reason}
    if not job.is_in(managed):
        held = " and does not start while it is held (scontrol release)" if job.held else ""
        return Explanation(job.label, "not ours", f"it is in the partition {job.partition}, which "
                           f"is left to Slurm{held}", figures)
    if job.state not in WAITING:
        return Explanation(job.label, "over", f"Slurm says {job.state}", figures)
    obstacle = controller.watcher.obstacles.get(job.label)
    if obstacle is not None:
        return Explanation(job.label, obstacle.reason, obstacle.sentence, figures)
    why = controller.why(job.label) if job.held else ""
    if why:
        return Explanation(job.label, why, SHARED[why], figures)
    if job.held:
        return Explanation(job.label, "held by its user", "it is held, and not for the controller: "
                           "its user, or an operator, must release it", figures)
    return Explanation(job.label, "not ours", "it is not held for the controller, so Slurm "
                       f"starts it itself; it waits there for {job.reason or 'its turn'}", figures)


def energy(controller: Controller, site: SiteConfig, fields: Mapping[str, Any]) -> OrderOutcome:
    """Joules by the books: drawn, of each running job, and left of a budget."""
    books = controller.books
    state, now_s = books.state, controller.now_s()
    machine_j = books.energy_until_j(now_s)
    jobs = []
    for row in sorted(int(row) for row in state.running[: int(state.clock[0].running)]):
        live = state.live[row]
        drawn_j = float(live.energy_j + live.power_w * max(now_s - live.updated_s, 0.0))
        jobs.append({"job": books.roll.key(row), "power_w": float(live.power_w),
                     "energy_j": drawn_j})
    budget = budget_now(books, now_s)
    result = {"now_s": now_s, "power_w": books.power_w, "drawn_j": machine_j,
              "running": jobs, "budget": _budget(budget),
              "waiting": _waiting(books, budget, now_s),
              "remarks": ["joules of the machine are those that the books expect; of jobs they are "
                          "measured where their nodes report"]}
    return OrderOutcome(True, f"{machine_j:,.0f} J since the books were opened", result)


def _budget(now: BudgetNow | None) -> dict[str, float] | None:
    return None if now is None else {
        "at_s": now.at_s, "energy_j": now.energy_j, "period": now.number,
        "start_s": now.start_s, "end_s": now.end_s, "saved_j": now.saved_j,
        "left_j": now.left_j, "slot_w": now.slot_w}


def _waiting(books: Books, now: BudgetNow | None, now_s: float) -> list[dict[str, Any]]:
    """The first in the queue, with what they would draw in this period of a budget."""
    first = queued_rows(books.state)[:20]
    return [{"job": books.roll.key(row), "why": why,
             "needs_j": 0.0 if now is None else needed_j(books, row, now)}
            for row, why in zip(first, reasons_in_short(books, first, now_s), strict=True)]


def fairshare(controller: Controller, site: SiteConfig, fields: Mapping[str, Any]) -> OrderOutcome:
    """Joules by account as the order of the queue counts them, and the factor of each, now."""
    books, now_s = controller.books, controller.now_s()
    order: Any = books.policy.order
    memory = getattr(order, "memory", None)
    if memory is None or not hasattr(memory, "used_j"):
        raise InputError("the live machine's order does not weigh shares: write order = { name = "
                         "\"energy-share\", shares = \"shares.toml\" } under [policy]")
    names = _account_names(site)
    used_j = used_until_j(books, now_s)
    factor, sums_j = factors_of(order, used_j), summed_j(order, used_j)
    rows: list[dict[str, Any]] = []
    for account in range(len(memory.used_j)):
        parent = int(order.parent[account])
        rows.append({"name": _name(names, account), "parent": _name(names, parent)
                     if parent >= 0 else "", "share": float(order.norm_share[account]),
                     "usage_j": float(sums_j[account]), "factor": float(factor[account])})
    waiting = [{"job": books.roll.key(row), "user": books.roll.jobs[row].names.get("user", ""),
                "account": _name(names, int(memory.account[row])),
                "priority": _priority(books, order, row, now_s,
                                      float(factor[int(memory.account[row])]))}
               for row in waiting_rows(books)[:100]]
    strange = sorted({books.roll.jobs[row].names.get("user", "") for row in range(len(books.roll))}
                     - set(names) - {""}) if names else []
    remarks = [f"{user} is in no account of the tree: what it draws counts for {STRANGERS} alone, "
               "and its jobs have no share" for user in strange]
    return OrderOutcome(True, f"{len(rows)} accounts",
                   {"at_s": now_s, "half_life_s": float(order.half_life_s),
                    "accounts": rows, "waiting": waiting, "remarks": remarks})


def _priority(books: Books, order: Any, row: int, now_s: float, factor: float) -> float:
    """As the order would weigh a job now: its account's factor, its age and its size."""
    state = books.state
    age = min((now_s - float(state.jobs[row].submit_s)) / order.age_max_s, 1.0)
    size = int(state.live[row].units) / int(state.clock[0].units)
    return float(order.fair * factor + order.age * age + order.size * size)


def _account_names(site: SiteConfig) -> list[str]:
    from wattline.account.fairshare import read_shares

    chosen = site.policy.order
    file = chosen.get("shares") if isinstance(chosen, Mapping) else None
    return [*(account.name for account in read_shares(Path(file)).accounts), STRANGERS
            ] if file else []


def _name(names: list[str], account: int) -> str:
    return names[account] if account < len(names) else str(account)


def applications(
    controller: Controller, site: SiteConfig, fields: Mapping[str, Any]
) -> OrderOutcome:
    """What runs and waits by application, for claims to be looked up."""
    books = controller.books
    state = books.state
    found: dict[str, dict[str, Any]] = {}
    running = [int(row) for row in state.running[: int(state.clock[0].running)]]
    for kind, rows in (("running", running), ("waiting", waiting_rows(books))):
        for row in rows:
            name = books.roll.jobs[row].application
            here = found.setdefault(name, {"running": 0, "waiting": 0, "node_w": math.nan})
            here[kind] += 1
            here["node_w"] = float(np.nanmax([here["node_w"],
                                              state.live[row].watts / state.live[row].units]))
    return OrderOutcome(True, f"{len(found)} applications", {"applications": found})


QUESTIONS: Mapping[str, Answer] = {
    "explain": explained, "energy": energy, "fairshare": fairshare, "applications": applications}
"""What can be asked."""
