"""PuPPET as a net: batch scheduling, power-aware allocation and CPU scaling on five shared places.

The published model [Yu et al., J. Parallel Distrib. Comput. 84 (2015)] names the modules, their
main transitions and functions, and the shared places; its guards and arc expressions are ours,
made exact (no time step). Setting the parameters chooses the method: no wait slots and one level
is BLOCK, wait slots make it WAIT, several levels make it DVFS, an infinite cap is plain EASY.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.model.signal import Signal
from wattline.petri.inscriptions import Timed
from wattline.petri.net import (
    UNIT,
    Colour,
    Net,
    Page,
    Place,
    Substitution,
    Transition,
    absent,
    put,
    see,
    take,
    take_all,
)
from wattline.petri.puppet_rules import (
    Active,
    Done,
    Info,
    Job,
    Pass,
    Power,
    Rules,
    declarations,
)

JOB = Colour("JOB", Job)
JOBS = Colour("JOBS", tuple)
ACTIVE = Colour("ACTIVE", Active)
INFO = Colour("INFO", Info)
POWER = Colour("POWER", Power)
PASS = Colour("PASS", Pass)
DONE = Colour("DONE", Done)
WATTS = Colour("WATTS", (float, int))
FREQUENCY = Colour("FREQUENCY", (float, int))
NUMBER = Colour("NUMBER", int)

SHARED = ("Queuing", "Nodes", "Runtime Info", "Power", "Running")
"""The five places through which the modules are connected."""

# Events of one instant come first, in this order; then one pass; then the frequency.
FINISH, CHANGE_CAP, SUBMIT, PASSING, BEGIN_PASS, SCALE = range(6)


def puppet_net(jobs: Sequence[Job], rules: Rules, order: str = "fcfs",
               cap_w: Signal | float = float("inf")) -> Net:
    """The net with these jobs to come. Jobs must be numbered in the order of submission."""
    if order not in ("fcfs", "wfp"):
        raise InputError(f"order is '{order}'; the net knows fcfs and wfp")
    for job in jobs:
        if not 1 <= job.js <= rules.nodes:
            raise InputError(f"job {job.n} needs {job.js} nodes; the machine has {rules.nodes}")
        if job.rq <= 0 or job.rt < 0 or not 0 <= job.jp < float("inf"):
            raise InputError(f"job {job.n}: requested time must be > 0, run time and power >= 0")
    cap = Signal.constant(float(cap_w)) if not isinstance(cap_w, Signal) else cap_w
    start_s = min((job.st for job in jobs), default=0.0)
    highest = max(cap.at(start_s), *cap.value[cap.time_s > start_s].tolist(), 0.0)
    pages = (_batch_page(jobs), _allocation_page(cap, start_s), _scaling_page(rules))
    top = Page(
        "PuPPET",
        places=(
            Place("Queuing", JOBS, ((),), at=(110, 300)),
            Place("Nodes", UNIT, (rules.nodes,), at=(360, 300)),
            Place("Runtime Info", INFO, (Info(rules.nodes, ()),), at=(610, 300)),
            Place("Power", POWER, (Power(rules.nodes * rules.idle_w, 0.0, rules.levels[-1]),),
                  at=(880, 300)),
            Place("Running", ACTIVE, at=(1150, 300)),
        ),
        substitutions=(
            Substitution("Batch scheduling", pages[0], _sockets(pages[0]), at=(360, 60)),
            Substitution("Power-aware allocation", pages[1], _sockets(pages[1]), at=(610, 520)),
            Substitution("CPU scaling", pages[2], _sockets(pages[2]), at=(1060, 60)),
        ),
    )
    about = (f"PuPPET, {order.upper()} with EASY, {rules.nodes} nodes, {len(jobs)} jobs, "
             f"wait slots {rules.wait_slots}, levels {', '.join(f'{f:g}' for f in rules.levels)}")
    return Net("puppet", top, declarations(rules, order, highest), about)


def jobs_from_table(table: JobTable, node_power_w: float) -> list[Job]:
    """The jobs of a log; where it has no power, nodes times `node_power_w`."""
    power_w = np.where(np.isnan(table.power_w), table.procs * node_power_w, table.power_w)
    return [
        Job(row, int(table.procs[row]), float(table.run_s[row]), float(table.requested_s[row]),
            float(power_w[row]), float(table.submit_s[row]))
        for row in range(len(table))
    ]


def _sockets(page: Page) -> dict[str, str]:
    return {place.name: place.label or place.name for place in page.places if place.port}


def _port(name: str, colour: Colour, x: float, y: float, label: str = "") -> Place:
    return Place(name, colour, port=True, at=(x, y), label=label)


def _batch_page(jobs: Sequence[Job]) -> Page:
    arrivals = tuple(Timed(job, job.st) for job in jobs)
    return Page(
        "Batch scheduling",
        places=(
            Place("User", JOB, arrivals, at=(90, 170)),
            Place("Refused", JOB, at=(90, 660)),
            _port("Queuing", JOBS, 560, 170),
            Place("Trigger", UNIT, fusion="Trigger", at=(230, 370)),
            Place("Pass", PASS, fusion="Pass", at=(560, 370)),
            _port("Runtime Info", INFO, 1060, 265),
            _port("Power 2", POWER, 800, 140, "Power"),
            _port("Running", ACTIVE, 1060, 400),
            _port("Power", POWER, 1060, 520),
            _port("Nodes", UNIT, 1060, 660),
            Place("Done", DONE, at=(480, 660)),
            Place("Pass 2", PASS, fusion="Pass", label="Pass", at=(280, 60)),
            Place("Pass 3", PASS, fusion="Pass", label="Pass", at=(270, 590)),
            Place("Pass 4", PASS, fusion="Pass", label="Pass", at=(740, 660)),
            Place("Trigger 2", UNIT, fusion="Trigger", label="Trigger", at=(480, 520)),
        ),
        transitions=(
            Transition("Submit", (
                take("User", "job"), take("Queuing", "jobs"), put("Queuing", "(*jobs, job)"),
                put("Trigger"), absent("Pass 2"),
            ), guard="Possible(job, highest)", priority=SUBMIT, at=(280, 170)),
            Transition("Refuse", (
                take("User", "job"), put("Refused", "job"), put("Trigger"), absent("Pass 3"),
            ), guard="not Possible(job, highest)", priority=SUBMIT, at=(90, 525)),
            Transition("FCFS", (
                take_all("Trigger", "n"), take("Queuing", "jobs"), put("Queuing", "FCFS(jobs)"),
                absent("Pass"), put("Pass", "Pass('wait')"),
            ), guard="n > 0 and order == 'fcfs'", priority=BEGIN_PASS, at=(415, 275)),
            Transition("WFP", (
                take_all("Trigger", "n"), take("Queuing", "jobs"),
                put("Queuing", "WFP(jobs, now)"), absent("Pass"), put("Pass", "Pass('wait')"),
            ), guard="n > 0 and order == 'wfp'", priority=BEGIN_PASS, at=(415, 465)),
            Transition("EASY", (
                take("Pass", "('scan', at)"), take("Queuing", "jobs"),
                see("Runtime Info", "info"), see("Power 2", "p"), put("Queuing", "found[0]"),
                put("Pass", "found[1]"),
            ), let=(("found", "Backfill(jobs, at, info, p.f, now)"),),
                priority=PASSING, at=(800, 265)),
            Transition("Finish", (
                take("Running", "run"), take("Power", "p"), take("Runtime Info", "info"),
                put("Power", "Leave(p, run.job)"), put("Runtime Info", "Forget(info, run.job)"),
                put("Nodes", weight="run.job.js"), put("Done", "Done(run.job.n, run.start, now)"),
                put("Trigger 2"), absent("Pass 4"),
            ), priority=FINISH, at=(740, 520)),
        ),
    )


def _allocation_page(cap: Signal, start_s: float) -> Page:
    changes = tuple(Timed(float(w), float(t)) for t, w in zip(cap.time_s, cap.value, strict=True)
                    if t > start_s)
    return Page(
        "Power-aware allocation",
        places=(
            Place("Cap Plan", WATTS, changes, at=(90, 80)),
            Place("Cap", WATTS, (cap.at(start_s),), fusion="Cap", at=(440, 80)),
            Place("Trigger", UNIT, fusion="Trigger", at=(260, 190)),
            Place("Alarm", NUMBER, fusion="Alarm", at=(90, 300)),
            Place("Wait Queue", JOBS, ((),), fusion="Wait Queue", at=(440, 380)),
            _port("Power", POWER, 640, 80),
            _port("Runtime Info", INFO, 830, 220),
            Place("Pass", PASS, fusion="Pass", at=(640, 370)),
            Place("Pass 3", PASS, fusion="Pass", label="Pass", at=(90, 190)),
            Place("Starting", JOB, at=(830, 540)),
            Place("Cap 2", WATTS, fusion="Cap", label="Cap", at=(1000, 80)),
            _port("Power 2", POWER, 1360, 80, "Power"),
            _port("Queuing", JOBS, 1360, 370),
            Place("Pass 2", PASS, fusion="Pass", label="Pass", at=(1000, 370)),
            Place("Wait Queue 2", JOBS, fusion="Wait Queue", label="Wait Queue", at=(1360, 690)),
            Place("Alarm 2", NUMBER, fusion="Alarm", label="Alarm", at=(1560, 540)),
            _port("Nodes", UNIT, 440, 670),
            _port("Power 3", POWER, 600, 790, "Power"),
            _port("Runtime Info 2", INFO, 830, 810, "Runtime Info"),
            _port("Running", ACTIVE, 440, 560),
        ),
        transitions=(
            Transition("Change Cap", (
                take("Cap Plan", "new"), take("Cap", "old"), put("Cap", "new"), put("Trigger"),
                absent("Pass 3"),
            ), priority=CHANGE_CAP, at=(260, 80)),
            Transition("Expire", (
                take("Alarm", "n"), put("Trigger"), absent("Pass 3"),
            ), priority=SUBMIT, at=(260, 300)),
            Transition("Power Change", (
                take("Pass", "('wait', at)"), take("Wait Queue", "ws"),
                see("Power", "p"), see("Cap", "cap"), see("Runtime Info", "info"),
                put("Wait Queue", "found[0]"), put("Pass", "found[1]"),
            ), let=(("found", "PowAllocate(ws, at, (p, cap, info), now)"),),
                priority=PASSING, at=(640, 220)),
            Transition("Allocate W", (
                take("Pass", "('take', at)"), take("Wait Queue", "(head, *ws)"),
                put("Wait Queue", "ws"), put("Starting", "head.job"),
                put("Pass", "Pass('wait', at)"),
            ), priority=PASSING, at=(640, 540)),
            Transition("Check", (
                take("Pass 2", "('try', at)"), see("Queuing", "(job, *jobs)"),
                see("Power 2", "p"), see("Cap 2", "cap"),
                put("Pass 2", "Pass(Judge(p, job, cap), at)"),
            ), priority=PASSING, at=(1180, 220)),
            Transition("Allocate", (
                take("Pass 2", "('fits', at)"), take("Queuing", "(job, *jobs)"),
                put("Queuing", "jobs"), put("Starting", "job"),
                put("Pass 2", "Pass('scan', at.spent())"),
            ), priority=PASSING, at=(1000, 540)),
            Transition("Wait", (
                take("Pass 2", "('over', at)"), take("Queuing", "(job, *jobs)"),
                take("Wait Queue 2", "ws"), put("Wait Queue 2", "(*ws, Waiting(job, now))"),
                put("Alarm 2", "job.n", delay_s="w"), put("Queuing", "jobs"),
                put("Pass 2", "Pass('scan', at.kept())"),
            ), guard="len(ws) < l", priority=PASSING, at=(1360, 540)),
            Transition("Block", (
                take("Pass 2", "('over', at)"), see("Wait Queue 2", "ws"),
            ), guard="len(ws) >= l", priority=PASSING, at=(1180, 690)),
            Transition("Start", (
                take("Starting", "job"), take("Nodes", weight="job.js"), take("Power 3", "p"),
                take("Runtime Info 2", "info"), put("Power 3", "Join(p, job)"),
                put("Runtime Info 2", "Know(info, job, p, now)"),
                put("Running", "Begin(job, p, now)"),
            ), priority=PASSING - 1, at=(830, 670)),
        ),
    )


def _scaling_page(rules: Rules) -> Page:
    """The transitions T1 to Tm, one a level, and what they set off."""
    middle = max(170.0, 60.0 + 65.0 * (len(rules.levels) - 1))
    top = middle - 65.0 * (len(rules.levels) - 1)
    choices = tuple(
        Transition(f"T{i + 1}", (
            take("Power", "p"), see("Cap", "cap"), put("Power", f"p._replace(f={f})"),
            put("New Frequency", f"{f}"),
        ), guard=f"Level(p, cap) == {f} != p.f", priority=SCALE, at=(620, top + 130 * i))
        for i, f in enumerate(rules.levels))
    update = Transition("Update", (
        take("New Frequency", "f"), take_all("Running", "jobs"), take("Runtime Info", "info"),
        put("Running", "Update(jobs, f, d, now)"),
        put("Runtime Info", "UpdateInfo(info, f, d, now)"),
    ), priority=FINISH, at=(1180, middle))
    return Page(
        "CPU scaling",
        places=(
            Place("Cap", WATTS, fusion="Cap", at=(110, middle - 110)),
            _port("Power", POWER, 110, middle + 110),
            Place("New Frequency", FREQUENCY, at=(940, middle)),
            _port("Running", ACTIVE, 1480, middle - 110),
            _port("Runtime Info", INFO, 1480, middle + 110),
        ),
        transitions=(*choices, update),
    )
