"""What a controller shows of itself: `status.json` in its folder, after each cycle."""

from __future__ import annotations

import json
import math
import os
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wattline.books import Books
from wattline.books.explaining import reasons_in_short
from wattline.books.waiting import waiting_rows
from wattline.controller.course import CourseWriter
from wattline.live.folder_lock import is_taken
from wattline.model.errors import InputError, WattlineError
from wattline.model.fields import name_of
from wattline.model.files import write_whole
from wattline.policies.declaration import AXES
from wattline.policies.state import BEGUN, OVER, REFUSED

if TYPE_CHECKING:
    from wattline.controller.controller import Controller, Cycle
    from wattline.controller.watching import Watcher

FILE = "status.json"
SHOWN = 100
"""Jobs of each list; how many there are is said beside it."""
_ENCODER = json.JSONEncoder(allow_nan=False)
SILENT_S = 300.0
"""A controller that has said nothing for so long does not run, whoever has its number now."""


@dataclass
class StatusWriter:
    """Writes the status of a controller after each cycle."""

    controller: Controller
    folder: Path
    journal: str = ""
    more: Callable[[], Mapping[str, Any]] = dict
    """Further fields, of whoever knows them: what was measured, the lease."""
    last_error: str = field(default="", init=False)
    last_error_s: float | None = field(default=None, init=False)
    cycles: int = field(default=0, init=False)
    course: CourseWriter = field(init=False)

    def __post_init__(self) -> None:
        self.course = CourseWriter(self.folder)

    def __call__(self, cycle: Cycle) -> None:
        self.cycles += 1
        if not cycle.looked and cycle.remarks:
            self.last_error, self.last_error_s = cycle.remarks[-1], cycle.time_s
        said = {
            "time_s": cycle.time_s, "pid": os.getpid(), "host": socket.gethostname(),
            "cycles": self.cycles, "act": self.controller.act,
            "measured_w": None, "not_measured": [], "lease": None,
            "policy": policy_of(self.controller.books),
            **pictured(self.controller, cycle.time_s),
            "last_error": self.last_error, "last_error_s": self.last_error_s,
            "slurm_answers": cycle.looked, "journal": self.journal, **self.more()}
        try:
            write_whole(self.folder / FILE, _text(said))
            self.course.write(said)
        except (InputError, OSError) as error:  # a full disk must not stop a controller
            self.last_error, self.last_error_s = str(error), cycle.time_s


def pictured(controller: Controller, now_s: float) -> dict[str, Any]:
    """The books at this moment: cap, power, nodes, and who runs, is told to start and waits."""
    books = controller.books
    state = books.state
    clock, rows = state.clock[0], len(books.roll)
    begun = np.sort(state.running[: int(clock.running)])
    unseen = state.live["unconfirmed"][begun] != 0
    waiting = waiting_rows(books)
    first = waiting[:SHOWN]
    refused = [books.roll.key(row)
               for row in np.flatnonzero(state.live.state[:rows] == REFUSED).tolist()]
    refused += controller.turned_away
    return {
        "cap_w": float(clock.cap_w), "told_cap_w": float(books.record.meter[0].told_cap_w),
        "ahead": ahead(books), "power_w": books.power_w, "energy_j": books.energy_until_j(now_s),
        "idle_w": _idle_w(books, controller.watcher), "machine_w": books.machine.power_w_max,
        "nodes": nodes_by_state(books, controller.watcher),
        "running": _begun(books, begun[~unseen].tolist()),
        "starting": _begun(books, begun[unseen].tolist()),
        "suspended": sum(told.suspended for told in controller.watcher.told.values()),
        "waiting": {"count": len(waiting) + len(controller.watcher.obstacles), "jobs": [
            {"job": books.roll.key(row), "nodes": int(state.live["units"][row]),
             "submit_s": float(state.jobs["submit_s"][row]), "why": why}
            for row, why in zip(first, reasons_in_short(books, first, now_s), strict=True)
        ] + _kept(controller.watcher)[:max(SHOWN - len(waiting), 0)]},
        "refused": {"count": len(refused), "jobs": refused[:SHOWN]},
    }


def nodes_by_state(books: Books, watcher: Watcher) -> dict[str, int]:
    """Count the nodes in each state; to the books those that sleep are out of order."""
    clock, sleeping = books.state.clock[0], watcher.sleeping
    found = {name: int(getattr(clock, name))
             for name in ("units", "free", "off", "changing", "down", "reserved")}
    changing = len((sleeping.booting | sleeping.halting) - sleeping.with_job)
    found["off"] += len(sleeping.off)
    found["changing"] += changing
    found["down"] = max(found["down"] - len(sleeping.off) - changing, 0)
    return found


def _idle_w(books: Books, watcher: Watcher) -> float:
    """Return what the machine draws without jobs, with those nodes off that are."""
    power = watcher.power
    return books.machine.power_w_idle - sum(
        power.idle_w[name] - power.off_w for name in watcher.switched_off if name in power.idle_w)


def _begun(books: Books, rows: Sequence[int]) -> dict[str, Any]:
    """Jobs that have nodes and watts in the books, whether they run or are told to."""
    live = books.state.live[rows[:SHOWN]]
    columns = [live[name].tolist() for name in ("units", "power_w", "start_s", "expected_s")]
    return {"count": len(rows), "jobs": [
        {"job": books.roll.key(row), "nodes": int(units), "power_w": power_w, "start_s": start_s,
         "expected_end_s": expected_s}
        for row, units, power_w, start_s, expected_s in zip(rows, *columns, strict=False)]}


def _kept(watcher: Watcher) -> list[dict[str, Any]]:
    """Jobs of which the books have not been told: they may not begin yet."""
    if not watcher.obstacles:  # as at most looks, of thousands of jobs
        return []
    return [{"job": job.label, "nodes": job.nodes, "submit_s": job.submit_s,
             "why": watcher.obstacles[job.label].reason}
            for job in watcher.seen if job.label in watcher.obstacles]


def policy_of(books: Books) -> dict[str, str]:
    """The policy that decides now, by axis; an order may have changed it."""
    said = (books.scenario or {}).get("policy", {})
    return {axis: name_of(said[axis]) for axis in AXES if axis in said}


def ahead(books: Books) -> list[dict[str, Any]]:
    """Reservations that hold or are to come, by their beginning."""
    found = [{"name": name, "start_s": float(window.start_s), "end_s": float(window.end_s),
              "watts": float(window.watts), "nodes": int(window.units),
              "begun": int(window.stage) == BEGUN}
             for name, row in books.reservations.items()
             if int((window := books.state.windows[row]).stage) != OVER]
    return sorted(found, key=lambda each: each["start_s"])


def note_stop(folder: Path, licences: int, cap_w: float) -> None:
    """Say in the status what a clean stop has left behind; the next controller's has it no more."""
    with suppress(WattlineError, OSError):  # nobody reads it where the disk is full
        said = read_status(folder, running=False)
        said["stopped"] = {"time_s": time.time(), "licences": licences, "cap_w": cap_w}
        write_whole(folder / FILE, _text(said))


def read_status(folder: Path, *, running: bool = True) -> dict[str, Any]:
    """What the controller of a folder last said; with `running`, only of one that runs."""
    try:
        said = json.loads((folder / FILE).read_text(encoding="utf-8"))
        time_s, pid, host = float(said["time_s"]), int(said["pid"]), str(said["host"])
    except FileNotFoundError:
        _say_if_it_begins(folder)
        raise WattlineError(f"no controller runs in {folder}: start `wattline controller` with "
                            "that folder") from None
    except OSError as error:
        raise InputError(f"{folder / FILE} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise WattlineError(f"{folder / FILE} is no status of a controller") from None
    if running and ("stopped" in said or not _runs(pid, host, time_s)):
        _say_if_it_begins(folder)
        raise WattlineError(f"no controller runs in {folder}: {_last(said, time_s)}")
    return dict(said)


def _last(said: Mapping[str, Any], time_s: float) -> str:
    """What became of the last one, and what it has left to Slurm."""
    left = said.get("stopped")
    if left is None:
        return f"the last one was heard of {time.time() - time_s:,.0f} s ago"
    return (f"the last one was stopped {time.time() - left['time_s']:,.0f} s ago; under its cap of "
            f"{left['cap_w']:,.0f} W it left {left['licences']:,} licences called watts to Slurm")


def _say_if_it_begins(folder: Path) -> None:
    if is_taken(folder):
        raise WattlineError(f"the controller of {folder} is being started: it compiles its policy, "
                            "or reads what it knew before; ask again in a minute")


def _runs(pid: int, host: str, time_s: float) -> bool:
    if time.time() - time_s > SILENT_S:
        return False
    if host != socket.gethostname():
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _text(said: Mapping[str, Any]) -> str:
    """As JSON with a field per line: json's own indenting takes ten times as long."""
    lines = (f" {json.dumps(name)}: {_value(value)}" for name, value in said.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _value(value: Any) -> str:
    """Most have no figure that JSON cannot say: looking at each beforehand takes longer."""
    try:
        return _ENCODER.encode(value)
    except (TypeError, ValueError):
        return json.dumps(_plain(value))


def _plain(value: Any) -> Any:
    """As JSON can say it: infinite and unknown figures are null."""
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
