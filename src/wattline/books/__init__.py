"""One set of books for simulated and real machines: told what happens, they say what to do.

Names are imported when they are first used: a simulation needs the kernels of the books alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

if _TYPE_CHECKING:
    from wattline.books.books import Books
    from wattline.books.carrying_on import carry_on
    from wattline.books.decision import Decision
    from wattline.books.events import (
        Cancelled,
        CapChanged,
        Changed,
        Ended,
        Event,
        Measured,
        NodesDown,
        NodesUp,
        NotStarted,
        Paced,
        Refused,
        ReservationRemoved,
        Reserved,
        Stalled,
        Started,
        Submitted,
    )
    from wattline.books.explaining import Explanation, explain
    from wattline.books.journal import JournalWriter, read_journal
    from wattline.books.opening import Terms
    from wattline.policies.control import Control

__all__ = [
    "Books",
    "Cancelled",
    "CapChanged",
    "Changed",
    "Control",
    "Decision",
    "Ended",
    "Event",
    "Explanation",
    "JournalWriter",
    "Measured",
    "NodesDown",
    "NodesUp",
    "NotStarted",
    "Paced",
    "Refused",
    "ReservationRemoved",
    "Reserved",
    "Stalled",
    "Started",
    "Submitted",
    "Terms",
    "carry_on",
    "explain",
    "read_journal",
]

_PLACES = {
    "Books": "wattline.books.books",
    "Control": "wattline.policies.control",
    "Decision": "wattline.books.decision",
    "Terms": "wattline.books.opening",
    "carry_on": "wattline.books.carrying_on",
    **dict.fromkeys(("Explanation", "explain"), "wattline.books.explaining"),
    **dict.fromkeys(("JournalWriter", "read_journal"), "wattline.books.journal"),
}
_EVENTS = "wattline.books.events"
"""Where all the others are."""


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'wattline.books' has no attribute '{name}'")
    from importlib import import_module

    found = getattr(import_module(_PLACES.get(name, _EVENTS)), name)
    globals()[name] = found  # the next time it is there
    return found
