"""Quantities that people type are understood, and nonsense is refused with an example of what is
right."""

import pytest

from wattline.model.errors import InputError
from wattline.model.units import (
    counted,
    fold_hosts,
    format_duration,
    format_energy,
    format_hosts,
    format_power,
    parse_duration,
    parse_energy,
    parse_fraction,
    parse_hosts,
    parse_power,
    plain_number,
    whole_number,
)


@pytest.mark.parametrize(
    ("text", "watts"),
    [("3500", 3500), ("3500W", 3500), ("1.4MW", 1.4e6), ("380 W", 380), ("7kW", 7000)],
)
def test_power(text, watts):
    assert parse_power(text) == watts


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("90m", 5400), ("1.5h", 5400), ("01:30:00", 5400), ("2-12:00:00", 216000),
     ("05:30", 330), ("2d", 172800)],
)
def test_duration(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(("read", "text"), [
    (parse_power, "1e400"), (parse_power, "1e308GW"), (parse_duration, "1e308d"),
    (parse_fraction, "-1e400%"), (parse_energy, "1e306kWh")])
def test_a_number_that_no_float_holds_is_not_infinite(read, text):
    with pytest.raises(InputError, match=f"'{text}' is too large a number"):
        read(text)


def test_energy():
    assert parse_energy("3.2kWh") == pytest.approx(3.2 * 3.6e6)
    assert parse_energy("3.6MJ") == 3.6e6


def test_fraction():
    assert parse_fraction("10%") == pytest.approx(0.1)
    assert parse_fraction("0.25") == 0.25


def test_hosts():
    assert parse_hosts("n[001-003,007],login1") == ["n001", "n002", "n003", "n007", "login1"]
    assert format_hosts("n", [(1, 3), (7, 7)]) == "n[1-3,7]"
    assert [format_hosts("n", runs) for runs in ([(7, 7)], [(7, 8)], [])] == ["n7", "n[7-8]", ""]
    assert parse_hosts("r[1-2]n[1-2]") == ["r1n1", "r1n2", "r2n1", "r2n2"]
    assert parse_hosts("cn1-gpu-[09-10],cn1-cpu-09") == ["cn1-gpu-09", "cn1-gpu-10", "cn1-cpu-09"]


@pytest.mark.parametrize("text", [
    "n[001-003,007],login1", "cn1-gpu-[01-02],cn1-cpu-[01-02]", "n[8-11]", "n09,n9,n010,n10,n11",
    "n[1-2]-ib", "r1n[1-2],r2n[1-2]", "a", "n99999999999998,n99999999999999,n100000000000000"])
def test_folded_names_unfold_to_the_same(text):
    names = parse_hosts(text)
    assert parse_hosts(fold_hosts(names)) == names
    assert len(fold_hosts(names)) <= len(",".join(names))
    assert fold_hosts(["n1", "n2", "n3", "n7"]) == "n[1-3,7]"


@pytest.mark.parametrize(
    ("parse", "text"),
    [(parse_power, "many"), (parse_power, "3 apples"), (parse_duration, "soon"),
     (parse_duration, "1y"), (parse_energy, "3 kg"), (parse_fraction, "half"),
     (parse_hosts, "n[1-"), (parse_hosts, ""), (parse_hosts, "n[a-b]"),
     (parse_hosts, "n[5-3],a"), (parse_hosts, "n]1["), (parse_hosts, "n[[1-2]]"),
     (parse_hosts, " ,")],
)
def test_nonsense_is_refused(parse, text):
    with pytest.raises(InputError):
        parse(text)


def test_formats():
    assert format_power(1.4e6) == "1.4 MW"
    assert format_energy(3.6e6) == "1 kWh"
    assert format_duration(93784) == "1d 02:03:04"
    assert format_duration(2) == "2 s"


@pytest.mark.parametrize("text", ["1_5", "\u0663", "\u00b2", "x"])
def test_numbers_have_no_underscores_and_no_digits_of_other_scripts(text):
    for read in (whole_number, plain_number):
        with pytest.raises(ValueError, match=text):
            read(text)
    with pytest.raises(InputError):
        parse_duration(text + "h")


def test_a_whole_number_has_neither_sign_nor_blanks():
    assert whole_number("007") == 7
    for text in ("+3", "-3", " 3", "3.0"):
        with pytest.raises(ValueError, match="3"):
            whole_number(text)
    assert plain_number(" -1.5e3 ") == -1500


def test_one_of_a_kind_is_no_plural():
    from wattline.model.machine import Machine, NodeClass
    from wattline.scenario.machines import machine_words

    assert [counted(number, "job") for number in (0, 1, 2000)] == ["0 jobs", "1 job", "2,000 jobs"]
    node = NodeClass("node", cores=1, power_w_idle=90.0, power_w_active=300.0, power_w_off=0.0)
    assert machine_words(Machine.uniform(64, node)).startswith("64 nodes of 1 core, each 90 W idle")
