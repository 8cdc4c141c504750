"""Caps over time, reservations, and those that cannot be."""

import math

import pytest

from wattline.model.errors import InputError
from wattline.physics.core_power import emulated_cluster
from wattline.physics.powercap import CapChange, DrawLimits, PowerCap, PowerStatus, WattReservation

MACHINE = emulated_cluster()
LIMITS = DrawLimits.of(MACHINE)
RESERVED = WattReservation(660.0, 960.0, 532_224.0)


def test_the_documents_reservation_leaves_seventy_per_cent():
    plan = PowerCap(reservations=(RESERVED,)).checked(LIMITS)
    signal = plan.signal(LIMITS.max_w)
    assert [signal.at(t) for t in (0, 660, 1619, 1620)] == [
        math.inf, 0.7 * 1_774_080, 0.7 * 1_774_080, math.inf]


def test_changes_and_reservations_together():
    plan = PowerCap(watts=1.5e6, changes=(CapChange(100.0, 1.2e6),),
                    reservations=(WattReservation(50.0, 100.0, 1e5),))
    signal = plan.signal(LIMITS.max_w)
    assert [signal.at(t) for t in (0, 50, 100, 150)] == [1.5e6, 1.4e6, 1.1e6, 1.2e6]


@pytest.mark.parametrize(("cap_w", "left_w"), [
    (1e6, 9e5), (5e6, 4.9e6), (math.inf, LIMITS.max_w - 1e5)])
def test_reserved_watts_are_taken_from_the_cap_and_only_without_one_from_rated_power(cap_w, left_w):
    plan = PowerCap(watts=cap_w, reservations=(WattReservation(50.0, 100.0, 1e5),))
    assert plan.checked(LIMITS).signal(LIMITS.max_w).at(50.0) == left_w


def test_the_seven_figures():
    status = PowerStatus.of(MACHINE, PowerCap(), current_w=809_934.0)
    assert " ".join(f"{k}={v}" for k, v in status.as_scontrol().items()) == (
        "MinWatts=564480 CurrentWatts=809934 PowerCap=INFINITE PowerFloor=0 PowerChangeRate=0 "
        "AdjustedMaxWatts=1774080 MaxWatts=1774080")
    assert PowerStatus.of(MACHINE, PowerCap(), nodes_off=10).adjusted_max_w == (
        1_774_080 - 10 * (352 - 14))


def test_there_and_back():
    plan = PowerCap(1.4e6, (CapChange(5.0, 1e6),), (RESERVED,), 6e5, 1e4)
    assert PowerCap.from_mapping(plan.to_mapping()) == plan
    human = PowerCap.from_mapping({"watts": "1.4MW", "reservations": [
        {"start_s": "11m", "duration_s": "16m", "watts": 532224}]})
    assert human.reservations == (RESERVED,)


@pytest.mark.parametrize(
    ("plan", "reason"),
    [
        (PowerCap(watts=50_000), "below the 70,560 W .* all its nodes off"),
        (PowerCap(watts=-1), "above 0"), (PowerCap(floor_w=-1), "floor is -1"),
        (PowerCap(floor_w=2e6), "above what the machine can draw"),
        (PowerCap(watts=6e5, floor_w=7e5), "below the floor of 700,000"),
        (PowerCap(change_rate_w_per_s=-5), "change_rate is -5"),
        (PowerCap(floor_w=1.3e6, reservations=(RESERVED,)), "leaves 1,241,856 W, below the floor"),
        (PowerCap(reservations=(WattReservation(0, 10, 1.75e6),)), "all its nodes off"),
        (PowerCap(reservations=(WattReservation(0, 0, 1e5),)), "duration is 0"),
        (PowerCap(reservations=(WattReservation(0, 10, -1e5),)), "watts is -100000"),
        (PowerCap(changes=(CapChange(10.0, 10.0),)), "cap from 10 s on is 10 W"),
    ],
)
def test_impossible_plans_are_refused(plan, reason):
    with pytest.raises(InputError, match=reason):
        plan.checked(LIMITS)


def test_the_past_cannot_be_reserved():
    with pytest.raises(InputError, match="in the past: it is 1000 s now"):
        PowerCap().reserve(RESERVED, LIMITS, now_s=1000.0)
    assert PowerCap().reserve(RESERVED, LIMITS, now_s=0.0).reservations == (RESERVED,)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ({"watt": 5}, "unknown field 'watt'"), ({"watts": True}, "expected watts"),
        ({"watts": "lots"}, "not understood"), ({"changes": [{"watts": 5}]}, "lacks 'at_s'"),
        ({"reservations": 5}, "list of tables"),
    ],
)
def test_bad_tables_are_refused(table, reason):
    with pytest.raises(InputError, match=reason):
        PowerCap.from_mapping(table)
