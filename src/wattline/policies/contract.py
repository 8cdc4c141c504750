"""The contract between a decision and whoever calls it: axes, slots, verdicts.

A policy is composed along independent axes. Each axis is a NamedTuple of parameters, and what it
does is registered for that type in the slots below (see `wattline.model.kernel`). A kernel that
calls a slot is compiled for the axes in use and carries nothing of the others. Where a slot has a
body other than an error, that is what happens for policies that say nothing on it.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol, TypeVar

from wattline.model.cap_slack import fits
from wattline.model.kernel import slot
from wattline.policies.state import State

# What admission says of a job that fits in units.
START = 0
"""It may start now."""
STOP = 1
"""It may not, and nothing behind it may either."""
SET_ASIDE = 2
"""It leaves the queue for the admission policy's own list; go on with the next."""
WAIT = 3
"""It may not start now. As the first that has to wait it gets the backfilling's reservation."""


class Everything(NamedTuple):
    """The engine carries out whatever a policy asks for, around reservations too."""


class StartsOnly(NamedTuple):
    """Jobs are started and nothing else is asked for, and no nodes are reserved.

    The common case; it spares a quarter of the time to compile. A policy whose only actions are
    starts says so with the decorator `starts_only`.
    """


T = TypeVar("T", bound=type)
_STARTS_ONLY: set[type] = set()


def starts_only(policy: T) -> T:
    """Mark a policy that asks for nothing but starts: no speeds, pauses, node states, wake-ups."""
    _STARTS_ONLY.add(policy)
    return policy


# A policy of one axis is a NamedTuple of parameters, whose type says what it does. Its property
# `axis` lets the type checker see which one it is for; kernels never read it.


class OrderPolicy(Protocol):
    """In which order jobs wait."""

    @property
    def axis(self) -> Literal["order"]: ...


class BackfillPolicy(Protocol):
    """Who may start before his turn."""

    @property
    def axis(self) -> Literal["backfill"]: ...


class AdmissionPolicy(Protocol):
    """Whether power allows a job to start, and at which speed."""

    @property
    def axis(self) -> Literal["admission"]: ...


class ConfigurationPolicy(Protocol):
    """On how many units, and how, a job runs."""

    @property
    def axis(self) -> Literal["configuration"]: ...


class PlacementPolicy(Protocol):
    """Which nodes a job gets."""

    @property
    def axis(self) -> Literal["placement"]: ...


class RegulationPolicy(Protocol):
    """How a signal from the grid is followed."""

    @property
    def axis(self) -> Literal["regulation"]: ...


class Composition(NamedTuple):
    """One choice along each axis."""

    order: OrderPolicy
    backfill: BackfillPolicy
    admission: AdmissionPolicy
    configuration: ConfigurationPolicy
    placement: PlacementPolicy
    regulation: RegulationPolicy
    scope: Everything | StartsOnly = Everything()
    """What the engine must be able to do; the engine narrows it to what the axes need."""

    def narrowed(self, windows: int) -> Composition:
        """The same policy with the smallest scope that serves it beside so many reservations."""
        axes = self[: self._fields.index("scope")]
        small = not windows and all(type(axis) in _STARTS_ONLY for axis in axes)
        return self._replace(scope=StartsOnly() if small else Everything())


# ---- order ----------------------------------------------------------------------------------


@slot(1)
def queue_key(st: State, order: OrderPolicy, job: int) -> float:
    """The job's place in the queue: smaller is served first, ties by submission."""
    raise AssertionError


@slot(1, default=True)
def keys_change(st: State, order: OrderPolicy) -> bool:
    """Whether keys change while jobs wait, so that the queue is sorted anew at every decision."""
    return False


@slot(1, default=True)
def key_by(st: State, order: OrderPolicy, job: int, time_s: float) -> float:
    """The least that the key of a waiting job can be at any time until `time_s`.

    An order whose keys change need not answer (minus infinity); if it does, a decision that ends
    early is spared sorting the whole queue.
    """
    return -float("inf")


@slot(1, default=True)
def order_told(st: State, order: OrderPolicy, job: int) -> None:
    """Told that a job gave its units back; its energy is counted up to now."""
    return


# ---- backfill -------------------------------------------------------------------------------


@slot(1)
def schedule(st: State, backfill: BackfillPolicy, policy: Composition) -> None:
    """Start what may start now. Called once an instant, after all its events."""
    raise AssertionError


@slot(1, default=True)
def released(st: State, backfill: BackfillPolicy, job: int) -> None:
    """Told of a running job's end, before its entry in the release list is removed."""
    return


@slot(1, default=True)
def entry_key(st: State, backfill: BackfillPolicy, policy: Composition, job: int) -> float:
    """Where a new entry goes in the queue: the order's key, unless the backfilling plans itself."""
    return queue_key(st, policy.order, job)


@slot(1, default=True)
def reserves(st: State, backfill: BackfillPolicy) -> bool:
    """Say whether a job waiting for a known time gets a reservation then, and holds up nobody."""
    return True


@slot(1, default=True)
def rejoined(st: State, backfill: BackfillPolicy) -> None:
    """Told that jobs which were set aside are in the queue again."""
    return


# ---- power admission ------------------------------------------------------------------------


@slot(1, default=True)
def admit(st: State, admission: AdmissionPolicy, policy: Composition, job: int) -> int:
    """The verdict on a job that fits in units: START, STOP, SET_ASIDE or WAIT."""
    return START


@slot(1, default=True)
def refuses(st: State, admission: AdmissionPolicy, job: int) -> bool:
    """Whether a job could never start, not even alone under the highest cap to come.

    Such a job is refused at its submission; otherwise it would block the queue for ever.
    """
    return False


@slot(1, default=True)
def sets_aside(st: State, admission: AdmissionPolicy) -> bool:
    """Say whether a job that the cap of now has no room for, even alone, waits beside the queue."""
    return False


@slot(1, default=True)
def exceeds(st: State, admission: AdmissionPolicy, job: int, cap_w: float, idle_w: float) -> bool:
    """Say whether a job alone on a machine that draws `idle_w` without it exceeds a cap."""
    return False


@slot(1, default=True)
def cap_to_come_w(st: State, admission: AdmissionPolicy) -> float:
    """The highest cap that is known to come, or to hold now, where backfilling plans by it."""
    return float(st.clock[0].cap_w)


@slot(1, default=True)
def holds(st: State, admission: AdmissionPolicy, job: int) -> bool:
    """Whether a job is set aside at its submission, until somebody changes what it lacks."""
    return False


@slot(1, default=True)
def least_factor(st: State, admission: AdmissionPolicy) -> float:
    """The lowest power, relative to full speed, to which all jobs may be slowed together."""
    return 1.0


@slot(1, default=True)
def before_queue(st: State, admission: AdmissionPolicy, policy: Composition) -> bool:
    """Called before the queue is tried; whether it may be tried at all."""
    return True


@slot(1, default=True)
def settle(st: State, admission: AdmissionPolicy, policy: Composition) -> None:
    """Called after a decision, and after any event that changes power or cap."""
    return


@slot(1, default=True)
def watts_available(st: State, admission: AdmissionPolicy) -> float:
    """Watts that may still be given to jobs now; infinite where power is not limited."""
    return float("inf")


@slot(1, default=True)
def watts_at(st: State, admission: AdmissionPolicy, time_s: float) -> float:
    """The same at a later time, by what is known of the cap now and with the jobs of now."""
    return watts_available(st, admission)


@slot(1, default=True)
def watts_of(st: State, admission: AdmissionPolicy, job: int) -> float:
    """Watts that a job holds while it runs, or will hold if it starts as it is configured."""
    return 0.0


@slot(1, default=True)
def carries(st: State, admission: AdmissionPolicy, job: int) -> bool:
    """Say whether power lets a waiting job start now on the expected nodes (`expect_nodes`).

    Asked of machines with several classes of node, to choose among them; `admit` decides.
    """
    return fits(watts_of(st, admission, job), watts_available(st, admission))


@slot(1, default=True)
def exhausted(st: State, admission: AdmissionPolicy) -> bool:
    """Whether no job in the queue can be admitted before something changes, whichever it is."""
    return False


@slot(1, default=True)
def planned_s(st: State, admission: AdmissionPolicy, job: int, requested_s: float) -> float:
    """How long a job that asked for `requested_s` may take if it is admitted now."""
    return float(requested_s / st.clock[0].speed)


class Reach(NamedTuple):
    """Bounds that hold for every job in the queue before something changes; they may be wide."""

    units: int
    """No job on more units than this can be admitted."""
    extra_units: int
    """No job on more units than this needs no more watts than are extra (`clock.extra_w`)."""
    fast_units: int
    """No job on more units than this is planned (`planned_s`) at more than `speed`."""
    fast: float
    """No job at all is planned faster than this."""
    speed: float


@slot(1, default=True)
def reach(st: State, admission: AdmissionPolicy) -> Reach:
    """What admission can let start at most; a policy with its own `planned_s` says it here."""
    clock = st.clock[0]
    return Reach(units=int(clock.units), extra_units=int(clock.units),
                 fast_units=int(clock.units), fast=float(clock.speed), speed=float(clock.speed))


@slot(1, default=True)
def not_before_s(st: State, admission: AdmissionPolicy, job: int, from_s: float) -> float:
    """The earliest time from `from_s` on at which admission can let a waiting job start."""
    return from_s


# ---- configuration --------------------------------------------------------------------------


@slot(1, default=True)
def configure(
    st: State, configuration: ConfigurationPolicy, policy: Composition, position: int
) -> bool:
    """Choose the configuration of the queue entry at `position`; False: it cannot start now.

    Where it cannot, the entry is left in the configuration that a reservation should be for.
    """
    return True


@slot(1, default=True)
def never_configured(st: State, configuration: ConfigurationPolicy, job: int) -> bool:
    """Whether no configuration of the job is possible, not even alone under the highest cap.

    Such a job is refused at its submission.
    """
    return False


@slot(1, default=True)
def chooses_watts(st: State, configuration: ConfigurationPolicy, job: int) -> bool:
    """Say whether the job's watts follow from its configuration: then `never_configured` judges
    them at its submission, and `refuses` and `never_placed` are not asked by those of its request.
    """
    return False


@slot(1, default=True)
def waits_for_cap(st: State, configuration: ConfigurationPolicy, job: int) -> bool:
    """Whether no configuration is possible before the cap rises; then nothing is reserved."""
    return False


@slot(1, default=True)
def least_units(st: State, configuration: ConfigurationPolicy, job: int, units: int) -> int:
    """No configuration of the job needs fewer units than this; `units` is the one it is in."""
    return units


@slot(1, default=True)
def as_queued(st: State, configuration: ConfigurationPolicy) -> bool:
    """Whether `configure` leaves entries as they are, so that some need not be asked for."""
    return False


# ---- placement ------------------------------------------------------------------------------


@slot(1, default=True)
def place(st: State, placement: PlacementPolicy, job: int) -> bool:
    """Choose the job's nodes and link them to it; False: no acceptable nodes are free."""
    return True


@slot(1, default=True)
def expect_nodes(st: State, placement: PlacementPolicy, job: int, alone: bool) -> bool:
    """Note what nodes of several classes a waiting job would get; False: there are too few.

    `live.idle_w` is their idle power, `live.rise_w` what the job adds to that at full speed.
    `alone`: on an idle machine. A placement that does not know its choice beforehand need not
    answer: the job is then judged by the class on which it would raise the power most.
    """
    live = st.live[job]
    least_w = float("inf")
    most_w = -float("inf")
    for kind in range(st.kinds.size):
        least_w = min(least_w, st.kinds[kind].idle_w)
        most_w = max(most_w, st.kinds[kind].active_w - st.kinds[kind].idle_w)
    live.idle_w = live.units * least_w
    live.rise_w = live.units * most_w
    if live.own_watts:
        own_w = st.jobs[job].watts if live.level >= 0 else live.watts
        live.rise_w = own_w - live.idle_w
    return True


@slot(1, default=True)
def occupied(st: State, placement: PlacementPolicy, job: int) -> None:
    """Told that a job holds nodes that were not chosen by `place`: count what it draws there."""
    return


@slot(1, default=True)
def never_placed(st: State, placement: PlacementPolicy, job: int) -> bool:
    """Whether the job finds no acceptable nodes even on an idle machine; then it is refused."""
    return False


@slot(1, default=True)
def marks_nodes(st: State, placement: PlacementPolicy, job: int) -> bool:
    """Mark in `scratch_nodes` which of the nodes that are free or off a waiting job would get.

    False where any will do, or there are too few. Asked before nodes are switched, so that those
    that the job waits for are on.
    """
    return False


@slot(1, default=True)
def give_back(st: State, placement: PlacementPolicy, job: int) -> None:
    """The job's nodes are free again."""
    return


@slot(1, default=True)
def power_told(st: State, placement: PlacementPolicy, job: int, change_w: float) -> None:
    """Told that a running job's power is to change by so much."""
    return


@slot(1, default=True)
def may_rise_w(st: State, placement: PlacementPolicy, job: int) -> float:
    """By how much a running job's power may rise where its nodes are; infinite: no bound."""
    return float("inf")


@slot(1, default=True)
def keeps_bounds(st: State, placement: PlacementPolicy, power_factor: float) -> bool:
    """Whether all running jobs may go at this part of their full power where they are."""
    return True


@slot(1, default=True)
def counters_read(st: State, placement: PlacementPolicy, router: int, stalls: float) -> None:
    """Told what a router's counters of stalls show."""
    return


# ---- regulation -----------------------------------------------------------------------------


@slot(1, default=True)
def regulate(st: State, regulation: RegulationPolicy, policy: Composition) -> None:
    """Called at every control cycle, before the decision of that instant."""
    return


@slot(1, default=True)
def cycle_s(st: State, regulation: RegulationPolicy) -> float:
    """Seconds between two control cycles; infinite for none."""
    return float("inf")
