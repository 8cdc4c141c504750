"""Books from Python: a machine and policies as `simulate` takes them, and no jobs yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wattline.books import Books, JournalWriter
from wattline.books.possible import MOST_FIGURE
from wattline.model.errors import InputError, warn
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine as RunMachine
from wattline.policies.contract import Composition
from wattline.scenario.build import Plan
from wattline.scenario.caps import is_of_uncapped_run
from wattline.scenario.in_python import PolicyChoice, Source, asked
from wattline.scenario.journals import JOBS_KNOWN, scenario_of
from wattline.scenario.objects import Machine
from wattline.scenario.times import clock_of


def open_books(
    scenario: Source | None = None,
    *,
    machine: Machine | RunMachine | None = None,
    order: PolicyChoice | None = None,
    backfill: PolicyChoice | None = None,
    power: PolicyChoice | None = None,
    configure: PolicyChoice | None = None,
    placement: PolicyChoice | None = None,
    cap: float | str | None = None,
    start_s: float = 0.0,
    allow_code: bool = False,
    journal: Callable[[str], object] | None = None,
    **fields: Any,
) -> Books:
    """Books of an idle machine without jobs, to be told what happens; see `wattline.books`.

    Policies are chosen as in `simulate`. `cap` is in watts and holds from the beginning, as the
    highest to come; later ones are told (`CapChanged`). With `journal`, which takes a line at a
    time, they write what they are told and decide, for `wattline replay`.

    >>> import wattline as wl
    >>> from wattline.books import Submitted
    >>> node = {"node_idle_w": 90, "node_active_w": 300}
    >>> books = wl.open_books(machine=wl.Machine(nodes=8, **node), power="block", cap="1.5kW")
    >>> told = [Submitted("a", 3, 600.0), Submitted("b", 2, 600.0)]
    >>> [(each.kind, each.job) for each in books.step(0.0, told)]
    [('start', 'a')]
    """
    policies = {"order": order, "backfill": backfill, "power": power, "configure": configure,
                "placement": placement}
    found = asked(scenario, trace=JobTable.build(submit_s=[], run_s=[], procs=[]), machine=machine,
                  policies=policies, cap=cap, allow_code=allow_code, fields=fields,
                  called="open_books()")
    if not isinstance(start_s, (int, float)) or not abs(start_s) <= MOST_FIGURE:
        raise InputError(f"start_s is {start_s}, must be a number of seconds")
    given = found.scenario.power.cap
    if is_of_uncapped_run(given):
        raise InputError(f"cap: {given} is of a run without a cap, and the jobs are not known yet; "
                         "books take watts, or per cent of rated power (70%)")
    ready = found.plan()
    if not isinstance(ready.policy, Composition):
        raise InputError("books need a policy along the axes, not one written in Python")
    steps = ready.rules.cap_w
    warn((*ready.assumed, *_to_be_told(ready)))
    clock = clock_of(ready.scenario, ready.jobs)
    cap_w = float("inf") if steps is None else steps.at(clock.first_s)
    highest_w = cap_w if steps is None else float(steps.value.max())
    books = Books.open(ready.machine, ready.policy, ready.rules.terms, start_s=start_s,
                       cap_w=cap_w, cap_w_max=highest_w)
    if journal is not None:
        books.keep_journal(JournalWriter(journal),
                           {"scenario": scenario_of(ready), JOBS_KNOWN: False})
    return books


def _to_be_told(ready: Plan) -> list[str]:
    """What of a scenario's cap lies ahead: whoever keeps the books tells it when it comes."""
    said = []
    if ready.rules.cap_w is not None and ready.rules.cap_w.time_s.size > 1:
        said.append("the cap is that of the beginning: tell its later steps with CapChanged, and "
                    "reserved watts with Reserved")
    elif any(each.watts for each in ready.scenario.reservations):
        said.append("reserved watts are not known to the books: tell them with Reserved")
    return said
