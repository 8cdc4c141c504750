"""Books as bytes, and back.

The bytes hold arrays and plain values only. The policy is not among them: whoever loads makes the
same one, and is told where it is another.
"""

from __future__ import annotations

import hashlib
import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from wattline.books.event_codes import decision_from, decision_values
from wattline.books.record import Record
from wattline.books.roll import Roll
from wattline.model.errors import InputError
from wattline.model.kernel_arrays import KernelArrays
from wattline.model.machine import Machine
from wattline.policies.committed import count_all_below_idle
from wattline.policies.contract import Composition
from wattline.policies.memory import Memory, bound, memories, remembering
from wattline.policies.state import SCRATCH, State, reserve
from wattline.policies.state_records import Clock, Job, Live

if TYPE_CHECKING:
    from wattline.books.books import Books
    from wattline.books.opening import Terms

VERSION = 11
READABLE = (5, 6, 7, 8, 9, 10, VERSION)
"""Version 5 has no `shortest_s` in its clock, nor have 5 and 6 `unplaced_s`; up to 7 jobs have no
turns, and none says that jobs are only noted (`defers`), which they did not; up to 8 none says what
comes back to idle units (`below_idle_w`), which is counted anew; up to 9 none says which classes of
node a waiting job would get (`rise_w`), which the next decision finds; up to 10 none says for
which cap jobs were set aside, which the next decision does."""
KNOWS_BELOW_IDLE = 9
_PASSING = ("decided", "answers")
"""Arrays of the record that are about the last step only."""


def encode(books: Books) -> bytes:
    """All arrays of the books, and the roll of jobs."""
    used = _used(books)
    arrays = {f"state.{name}": getattr(books.state, name)[: used.get(name)]
              for name in State.FIELDS if name not in SCRATCH}
    arrays |= {f"record.{name}": getattr(books.record, name) for name in Record.FIELDS
               if name not in _PASSING and (books.keeps_log or not name.startswith("log_"))}
    jobs = len(books.roll)
    for place, memory in memories(books.policy).items():
        arrays |= {f"memory.{place}.{name}":
                   getattr(memory, name)[: jobs if name in memory.PER_JOB else None]
                   for name in memory.FIELDS}
    head = {"version": VERSION, "policy": policy_names(books.policy),
            "of": fingerprint(books.machine, books.terms, books.policy),
            "journal": None if books.journal is None else books.journal.position,
            "keeps_log": books.keeps_log, "forgotten": books.forgotten,
            "done_then": books.done_then,
            "untold": [decision_values(each) for each in books.untold],
            "reservations": books.reservations, "scenario": books.scenario}
    roll, arrays["roll"] = books.roll.saved()
    text = np.frombuffer(_text(head, roll), dtype=np.uint8)
    out = io.BytesIO()
    named: dict[str, Any] = {name: np.asarray(array) for name, array in arrays.items()}
    np.savez(out, head=text, **named)
    return out.getvalue()


def _text(head: dict[str, Any], roll: str) -> bytes:
    """As JSON, with the roll, which is JSON already; whoever tells may count in numpy's numbers."""
    text = json.dumps(head, separators=(",", ":"), default=lambda number: number.item())
    return f'{text[:-1]},"roll":{roll}}}'.encode()


def _used(books: Books) -> dict[str, int]:
    """How much of the arrays is in use; the room behind it is made again by whoever loads."""
    clock, jobs = books.state.clock[0], len(books.roll)
    return {"jobs": jobs, "live": jobs, "queue": int(clock.queue_last), "aside": int(clock.aside),
            "timers": int(books.record.meter[0].timers), "profile": int(clock.step_last)}


def decode(
    kind: type[Books], data: bytes, machine: Machine, policy: Composition, terms: Terms
) -> Books:
    """Books from their bytes; refused where they are damaged, or of another policy."""
    head, arrays = _unpacked(data)
    fresh = kind.open(machine, policy, terms)
    mine = policy_names(fresh.policy)
    if head["policy"] != mine:
        raise InputError(f"these books were kept under {', '.join(head['policy'])}; "
                         f"the policy here is {', '.join(mine)}")
    if head["of"] != fingerprint(machine, terms, fresh.policy):
        raise InputError("these books are of another machine, of other terms, or of a policy with "
                         "other parameters")
    try:
        return _filled(fresh, arrays, head)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"these books were not saved whole: {error}") from None


def saved_scenario(data: bytes) -> dict[str, Any] | None:
    """What the policy of saved books was made from; None where they do not say."""
    found: dict[str, Any] | None = _unpacked(data, arrays=False)[0].get("scenario")
    return found


def _unpacked(data: bytes, arrays: bool = True) -> tuple[dict[str, Any], dict[str, Any]]:
    """The head of saved books, and their arrays where somebody wants them."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            found = {name: archive[name] for name in (archive.files if arrays else ("head",))}
        head = json.loads(found.pop("head").tobytes())
    except Exception as error:  # numpy and zipfile raise what they like at damaged bytes
        raise InputError("these bytes are no books that `Books.save` gave, or not all of them") \
            from error
    if head.get("version") not in READABLE:
        raise InputError(f"these books are of version {head.get('version')}; this is {VERSION}")
    return head, found


def _filled(fresh: Books, arrays: dict[str, Any], head: dict[str, Any]) -> Books:
    rows = max(len(arrays["state.jobs"]), len(fresh.state.jobs))
    empty = {name: getattr(reserve(fresh.state, rows), name) for name in SCRATCH}
    arrays["state.clock"] = _clock(arrays["state.clock"])
    arrays["state.jobs"] = _jobs(arrays["state.jobs"], int(head["forgotten"]))
    arrays["state.live"] = _lives(arrays["state.live"])
    state = State(**{name: _records(arrays[f"state.{name}"]) for name in State.FIELDS
                     if name not in SCRATCH}, **empty)
    fresh.state = reserve(state, rows)
    if head["version"] < KNOWS_BELOW_IDLE:
        count_all_below_idle(fresh.state)
    kept = {name: _records(arrays[f"record.{name}"]) for name in Record.FIELDS
            if f"record.{name}" in arrays}
    fresh.record = fresh.record.with_arrays(**kept)
    saved = {place: {name: _records(arrays[f"memory.{place}.{name}"]) for name in memory.FIELDS}
             for place, memory in memories(fresh.policy).items()}
    fresh.policy = bound(remembering(fresh.policy, saved), rows).narrowed(
        int(fresh.state.clock[0].windows))
    fresh.keeps_log = bool(head["keeps_log"])
    fresh.told = True
    fresh.roll = Roll.of(head["roll"], arrays["roll"])
    fresh.forgotten = int(head["forgotten"])
    fresh.done_then = int(head["done_then"])
    if head["journal"] is not None:
        fresh.written = (int(head["journal"][0]), int(head["journal"][1]))
    fresh.scenario = head.get("scenario")
    fresh.untold = [decision_from(each) for each in head["untold"]]
    fresh.reservations = {name: int(row) for name, row in head["reservations"].items()}
    return fresh


def policy_names(policy: Composition) -> list[str]:
    """The types along the axes, by which a policy is known again; its scope is no choice."""
    return [f"{axis}={type(part).__name__}"
            for axis, part in zip(policy._fields, policy, strict=True) if axis != "scope"]


def fingerprint(machine: Machine, terms: Terms, policy: Composition) -> str:
    """What does not change while books are kept, as a digest."""
    digest = hashlib.sha256(f"{machine}|{terms}".encode())
    _add_fixed(digest, policy)
    return digest.hexdigest()[:16]


def _add_fixed(digest: Any, value: Any) -> None:
    """Parameters, and arrays that are no memory."""
    if isinstance(value, Memory):
        digest.update(type(value).__name__.encode())
    elif isinstance(value, tuple):
        for part in value:
            _add_fixed(digest, part)
    elif isinstance(value, np.ndarray):
        digest.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, KernelArrays):
        for name in value.FIELDS:
            _add_fixed(digest, getattr(value, name))
    else:
        digest.update(repr(value).encode())


def _clock(saved: Any) -> Any:
    """A clock of now; what an earlier version does not say stays 0, which is not known."""
    clock = Clock.table(1)
    clock["unplaced_s"] = saved["now_s"]  # of an earlier version: placement may have refused a job
    for name in saved.dtype.names:
        clock[name] = saved[name]
    return clock


def _jobs(saved: Any, forgotten: int) -> Any:
    """Jobs of now; those of an earlier version have their turns by rows."""
    jobs = Job.table(len(saved))
    jobs["turn"] = np.arange(forgotten, forgotten + len(saved))
    for name in saved.dtype.names:
        jobs[name] = saved[name]
    return jobs


def _lives(saved: Any) -> Any:
    """Copy the saved state of jobs into a table of this version."""
    live = Live.table(len(saved))
    for name in saved.dtype.names:
        live[name] = saved[name]
    return live


def _records(array: Any) -> Any:
    array = np.ascontiguousarray(array)
    return array.view(np.recarray) if array.dtype.names else array
