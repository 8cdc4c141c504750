"""Records of an energy budget: see joule_book.py."""

from __future__ import annotations

from wattline.model.records import Record


class JouleBook(Record):
    """The terms of a budget, and where its book and its plan stand."""

    start_s: float
    length_s: float
    energy_j: float  # of each period
    min_w: float  # of all nodes idle
    max_w: float
    carry: int  # as in physics/budget_terms.py
    unspent: int
    patience_s: float  # for so long slots are waited for while nothing else happens
    period: int
    drawn_j: float  # by the machine since the period began
    drew_w: float  # by the machine until the last event...
    drew_booting_w: float  # ...and what nodes that booted then were to add
    saved_j: float  # carried over from the periods before
    charged_j: float  # to this period, for jobs that started in it
    plan_w: float  # the power that the slot is planned with
    slot_end_s: float
    denied: int  # a job found no joules in this slot, and waits for the next
    idle_since_s: float  # nothing but slots has come since then...
    idle_events: int  # ...and after so many other events...
    idle_queued: int  # ...with so many jobs that wait
    summed_s: float  # the two sums were made then...
    summed_moves: int  # ...after so many starts and ends
    here_j: float  # joules that nobody is promised yet: of this period...
    next_j: float  # ...and of the next


class Page(Record):
    """A period in which jobs started, and what it is charged with for all of their requests."""

    period: int
    charged_j: float
