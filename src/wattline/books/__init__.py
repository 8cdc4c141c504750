"""One set of books for simulated and real machines: told what happens, they say what to do."""

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
