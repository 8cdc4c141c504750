"""Books as bytes, and back.

The bytes hold arrays and plain values only. The policy is not among them: whoever loads makes the
same one, and is told where it is another.
"""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from wattline.books.record import Record
from wattline.books.roll import Roll
from wattline.model.errors import InputError
from wattline.model.machine import Machine
from wattline.policies.contract import Composition
from wattline.policies.memory import memories, remembering
from wattline.policies.state import State, reserve

if TYPE_CHECKING:
    from wattline.books.books import Books
    from wattline.books.opening import Terms

VERSION = 1
_EMPTY = ("actions", "scratch", "scratch_nodes")
"""Arrays of the state that hold nothing between two steps."""


def encode(books: Books) -> bytes:
    """All arrays of the books, and the roll of jobs."""
    arrays = {f"state.{name}": getattr(books.state, name) for name in State.FIELDS
              if name not in _EMPTY}
    arrays |= {f"record.{name}": getattr(books.record, name) for name in Record.FIELDS
               if books.keeps_log or not name.startswith("log_")}
    for place, memory in memories(books.policy).items():
        arrays |= {f"memory.{place}.{name}": getattr(memory, name) for name in memory.FIELDS}
    head = {"version": VERSION, "policy": policy_names(books.policy),
            "keeps_log": books.keeps_log, "codes": books.roll.codes,
            "jobs": books.roll.values()}
    text = np.frombuffer(json.dumps(head, separators=(",", ":")).encode(), dtype=np.uint8)
    out = io.BytesIO()
    named: dict[str, Any] = {name: np.asarray(array) for name, array in arrays.items()}
    np.savez(out, head=text, **named)
    return out.getvalue()


def decode(
    kind: type[Books], data: bytes, machine: Machine, policy: Composition, terms: Terms
) -> Books:
    """Books from their bytes; refused where they are damaged, or of another policy."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        head = json.loads(arrays.pop("head").tobytes())
    except (ValueError, OSError, KeyError, EOFError) as error:
        raise InputError(f"these are no books that were saved whole: {error}") from None
    if head.get("version") != VERSION:
        raise InputError(f"these books are of version {head.get('version')}; this is {VERSION}")
    fresh = kind.open(machine, policy, terms)
    mine = policy_names(fresh.policy)
    if head["policy"] != mine:
        raise InputError(f"these books were kept under {', '.join(head['policy'])}; "
                         f"the policy here is {', '.join(mine)}")
    return _filled(fresh, arrays, head)


def _filled(fresh: Books, arrays: dict[str, Any], head: dict[str, Any]) -> Books:
    rows = len(arrays["state.jobs"])
    empty = {name: getattr(reserve(fresh.state, rows), name) for name in _EMPTY}
    fresh.state = State(**{name: _records(arrays[f"state.{name}"]) for name in State.FIELDS
                           if name not in _EMPTY}, **empty)
    kept = {name: _records(arrays[f"record.{name}"]) for name in Record.FIELDS
            if f"record.{name}" in arrays}
    fresh.record = fresh.record.with_arrays(**kept)
    saved = {place: {name: _records(arrays[f"memory.{place}.{name}"]) for name in memory.FIELDS}
             for place, memory in memories(fresh.policy).items()}
    fresh.policy = remembering(fresh.policy, saved)
    fresh.keeps_log = bool(head["keeps_log"])
    fresh.roll = Roll.of(head["jobs"], head["codes"])
    return fresh


def policy_names(policy: Composition) -> list[str]:
    """The types along the axes, by which a policy is known again."""
    return [f"{axis}={type(part).__name__}"
            for axis, part in zip(policy._fields, policy, strict=True)]


def _records(array: Any) -> Any:
    array = np.ascontiguousarray(array)
    return array.view(np.recarray) if array.dtype.names else array
