"""Reservations that are made and removed while the machine runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.support.choices import trace
from tests.support.plain_process import PlainProcess
from tests.support.thinned import mostly
from tests.support.told_books import opened, read, told, writing
from tests.support.workloads import compose

from wattline.books import (
    Books,
    CapChanged,
    JournalWriter,
    ReservationRemoved,
    Reserved,
    Submitted,
)
from wattline.books.journal import read_journal
from wattline.books.replay import replay
from wattline.engine.prepare import Rules
from wattline.engine.telling import Teller
from wattline.model.machine import Machine, NodeClass
from wattline.model.reservation import Reservation
from wattline.model.signal import Signal
from wattline.physics.powercap import PowerCap, WattReservation
from wattline.policies.admission.adaptive_setup import adaptive
from wattline.policies.admission.block import Block
from wattline.policies.backfill.conservative import Conservative
from wattline.policies.backfill.easy import Easy
from wattline.policies.backfill.none import NoBackfill

NODE = NodeClass(power_w_idle=90.0, power_w_active=300.0, power_w_off=5.0)
MACHINE = Machine.uniform(16, NODE)
HERE = "tests.unit.books.test_reservations"
BACKFILL = {"none": NoBackfill, "easy": Easy, "conservative": Conservative}


@pytest.fixture(scope="module")
def plain():
    process = PlainProcess()
    yield process
    process.close()


def started(teller: Teller) -> list[float]:
    books = teller.run()
    return list(books.state.live.start_s[: len(teller.jobs)])


def node_windows(backfill: str) -> list[list[float]]:
    """Starts without a reservation, with one of the beginning, and with one that is told."""
    jobs, policy = trace().jobs, compose(backfill=BACKFILL[backfill]())
    known = Rules(reservations=(Reservation(400.0, 300.0, nodes=9, name="dawn"),))
    told = Teller(jobs, MACHINE, policy)
    told.further = [(0.0, Reserved("dawn", 400.0, 300.0, units=9))]
    return [started(each) for each in
            (Teller(jobs, MACHINE, policy), Teller(jobs, MACHINE, policy, known), told)]


@pytest.mark.parametrize("backfill", BACKFILL)
def test_a_reservation_that_is_told_is_kept_as_one_of_the_beginning(
    plain: PlainProcess, backfill: str
) -> None:
    without, known, told = plain.call(HERE, "node_windows", backfill)
    assert told == known
    assert told != without


def power_windows() -> list[list[float]]:
    """The same of watts, under a policy that plans caps; a cap of 3 kW, 900 W of it reserved."""
    jobs = trace().jobs
    plan = PowerCap(watts=3000.0, reservations=(WattReservation(300.0, 400.0, 900.0),))
    caps = Signal(np.array([0.0, 300.0, 700.0]), np.array([3000.0, 2100.0, 3000.0]), "W")
    steady = Rules(cap_w=Signal(np.array([0.0]), np.array([3000.0]), "W"))
    known = Teller(jobs, MACHINE, compose(admission=adaptive(MACHINE, plan)), Rules(cap_w=caps))
    told = Teller(jobs, MACHINE, compose(admission=adaptive(MACHINE)), steady)
    told.further = [(0.0, Reserved("dawn", 300.0, 400.0, watts=900.0))]
    without = Teller(jobs, MACHINE, compose(admission=adaptive(MACHINE)), steady)
    return [started(each) for each in (without, known, told)]


def test_reserved_watts_are_planned_for_as_those_of_a_cap_plan(plain: PlainProcess) -> None:
    without, known, told = plain.call(HERE, "power_windows")
    assert told == known
    assert told != without


def hostile_journal(seed: int) -> list[Any]:
    """A simulation in which reservations come and go, its replay, and one from saved books."""
    random = np.random.default_rng(seed)
    policy = compose(admission=Block())
    teller = Teller(trace(seed=seed).jobs, MACHINE, policy,
                    Rules(cap_w=Signal(np.array([0.0]), np.array([3600.0]), "W")))
    lines: list[str] = []
    teller.books.keep_journal(JournalWriter(lines.append, keeps_work=False))
    for at_s in np.sort(random.integers(0, 900, 12)):
        name = str(random.choice(["a", "b", "c"]))
        teller.further.append((float(at_s), Reserved(
            name, float(at_s + random.integers(0, 200)), float(random.integers(20, 300)),
            units=int(random.integers(0, 9)), watts=float(random.choice([0.0, 500.0])))))
    teller.run()
    entries = list(read_journal("".join(lines), "journal").entries())
    taken = sum(isinstance(event, Reserved) for entry in entries for event in entry.events)
    books = Books.open(MACHINE, policy, cap_w_max=3600.0)
    half = len(entries) // 2
    first = replay(books, entries[:half]).equal
    loaded = Books.load(books.save(), MACHINE, policy, books.terms)
    return [taken, first, replay(books, entries[half:]).equal,
            replay(loaded, entries[half:]).equal]


@pytest.mark.parametrize("seed", mostly(range(1, 5), (1, 2), pytest.mark.long))
def test_reservations_are_in_journals_and_in_saved_books(plain: PlainProcess, seed: int) -> None:
    taken, *equal = plain.call(HERE, "hostile_journal", seed)
    assert taken >= 3
    assert equal == [True, True, True]


def test_what_is_removed_is_free_at_once_and_its_name_too() -> None:
    books, lines = writing()
    books.step(0, [Reserved("dawn", 10.0, 100.0, units=6), Submitted("a", 4, 200.0)])
    waits = told(books.step(20, []))
    held = [int(books.state.clock[0].reserved), int(books.state.clock[0].free)]
    decided = told(books.step(30, [ReservationRemoved("dawn"),
                                   Reserved("dawn", 500.0, 10.0, units=1)]))
    books.step(31, [ReservationRemoved("dawn"), ReservationRemoved("dawn")])
    found = [waits, held, decided, [each.reason for each in books.refused],
             int(books.state.clock[0].windows), books.next_s() == float("inf"),
             replay(opened(), read(lines)).equal]
    waits, held, decided, refused, windows, no_timer, equal = found
    assert waits == []
    assert held == [6, 2]
    assert decided == [["start", "a"]]
    assert refused == ["no reservation 'dawn' is known that is not over"]
    assert windows == 0
    assert no_timer
    assert equal


def test_reserved_watts_lower_the_cap_while_they_last_whatever_the_cap_becomes() -> None:
    books = opened(compose(admission=Block()), cap_w=2400.0, cap_w_max=2400.0)
    caps: list[float] = []

    def cap(now_s: float, *events: Any) -> None:
        books.step(now_s, events)
        caps.append(float(books.state.clock[0].cap_w))

    cap(0, Reserved("a", 10.0, 20.0, watts=500.0), Reserved("b", 15.0, 30.0, watts=300.0))
    cap(10)
    cap(15)
    cap(20, CapChanged(2000.0))
    cap(25, ReservationRemoved("b"))
    cap(30)
    assert caps == [2400.0, 1900.0, 1600.0, 1200.0, 1500.0, 2000.0]


def test_reservations_that_cannot_be_are_refused_by_name() -> None:
    books = opened()
    books.step(0, [Reserved("dawn", 10.0, 100.0, units=6)])
    books.step(1, [Reserved("dawn", 500.0, 1.0, units=1), Reserved("", 5.0, 1.0, units=1),
                   Reserved("x", 50.0, 1.0, units=3), Reserved("x", 5.0, 1.0),
                   Reserved("x", -5.0, 1.0, units=1), Reserved("x", 5.0, float("nan"), units=1),
                   Reserved("x", 5.0, 1.0, units=9), Reserved("x", 5.0, 1.0, watts=-1.0),
                   Reserved("x", 5.0, 1.0, units=True), Reserved(7, 5.0, 1.0, units=1),
                   ReservationRemoved("nobody"), ReservationRemoved(["x"])])
    found = [[each.reason for each in books.refused], int(books.state.clock[0].windows)]
    refused, windows = found
    assert len(refused) == 12
    assert windows == 1
    assert "6 of 8 units are reserved then, 3 more cannot be" in refused
    assert all("\n" not in reason for reason in refused)


def test_many_reservations_that_come_and_go_need_no_more_room() -> None:
    books = opened()
    for number in range(60):
        books.step(10.0 * number, [Reserved(f"r{number}", 10.0 * number + 1, 5.0, units=2)])
    found = [len(books.state.windows), len(books.reservations), int(books.record.meter[0].timers)]
    windows, names, timers = found
    assert windows <= 8
    assert names <= 8
    assert timers == 2
