"""The published table of core powers, and the frequencies that a job asks for."""

import pytest

from wattline.model.errors import InputError
from wattline.physics.core_power import (
    SANDY_BRIDGE,
    CorePower,
    emulated_cluster,
    parse_cpu_freq,
)


def test_the_machine_draws_what_the_document_prints():
    machine = emulated_cluster()
    assert (machine.power_w_idle, machine.power_w_max) == (564_480, 1_774_080)
    assert machine.core_count == 80_640
    assert machine.class_of(0).power_w_off == 14


def test_seven_steps_and_full_speed():
    assert SANDY_BRIDGE.power_w == (12, 13, 15, 16, 17, 18, 20, 22)
    assert [f / 1e9 for f in SANDY_BRIDGE.frequency_hz[:7]] == [1.2, 1.4, 1.6, 1.8, 2.0, 2.2, 2.4]
    assert list(SANDY_BRIDGE.node_power(16)[:2]) == [192, 208]
    assert SANDY_BRIDGE.speed()[0] == pytest.approx(1.2 / 2.6)


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("1200000-2400000:ondemand", (0, 6)), ("--cpu-freq=1500000-2100000", (2, 4)),
        ("2400000", (6, 6)), ("low-high", (0, 7)), ("highm1", (6, 6)), ("medium", (3, 3)),
        ("performance", (7, 7)), ("powersave", (0, 0)), ("ondemand", (0, 7)),
    ],
)
def test_cpu_freq_is_understood(text, levels):
    assert SANDY_BRIDGE.level_range(parse_cpu_freq(text)) == levels


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("fast", "'fast' is no frequency"), ("2400000-1200000", "minimum is above"),
        ("1200000-2400000:warp", "governor 'warp' is unknown"), ("", "write it like"),
        ("1-2-3", "write it like"), ("0", "'0' is no frequency"),
    ],
)
def test_a_bad_cpu_freq_is_refused(text, reason):
    with pytest.raises(InputError, match=reason):
        parse_cpu_freq(text)


def test_a_range_without_a_level_is_refused():
    with pytest.raises(InputError, match="no frequency lies in this range"):
        SANDY_BRIDGE.level_range(parse_cpu_freq("1210000-1220000"))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"frequency_hz": (2.0, 1.0)}, "increase"), ({"power_w": (2.0, 1.0)}, "must not fall"),
        ({"idle_w": 3.0}, "idle is"), ({"beta": 2.0}, "beta"), ({"power_w": (1.0,)}, "as many"),
    ],
)
def test_a_bad_table_is_refused(change, reason):
    good = {"frequency_hz": (1.0, 2.0), "power_w": (2.0, 4.0), "idle_w": 1.0}
    with pytest.raises(InputError, match=reason):
        CorePower(**{**good, **change})
