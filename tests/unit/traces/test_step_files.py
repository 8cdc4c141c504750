"""Caps, signals and tariffs from files: what is read, and that nothing is read wrongly."""

import itertools
from pathlib import Path

import pytest

from wattline.model.errors import InputError
from wattline.model.run_clock import RunClock
from wattline.traces.signals import read_cap, read_signal
from wattline.traces.tariffs import read_tariff

RUN = RunClock()
MARKS = {"comma": ",", "semicolon": ";", "tab": "\t", "blank": " ", "blanks behind commas": ", "}


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "c.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize("mark", MARKS.values(), ids=MARKS)
@pytest.mark.parametrize("form", list(itertools.product(
    ("", "time{}watts\n", "# as of today\n\n", '"the time"{}"kW, all"\n'), ("\n", "\r\n"),
    ("", "\ufeff"), (False, True))))
def test_every_way_to_write_two_steps(tmp_path, mark, form):
    head, end, begin, quoted = form
    if mark in ", " and head.startswith('"'):
        head = "seconds{}watts\n"  # a comma or a blank within a name would part it
    rows = [("0", "0.5"), ("3600", "1e3")]
    lines = [mark.join(f'"{cell}"' if quoted else cell for cell in row) for row in rows]
    text = begin + (head.format(mark) + "\n".join(lines) + "  # so far\n").replace("\n", end)
    for read in (read_signal, read_cap):
        found = read(written(tmp_path, text), RUN)
        assert list(zip(found.time_s, found.value, strict=True)) == [(0, 0.5), (3600, 1000)]


@pytest.mark.parametrize("text", [
    "0;0,5\n60;1,25\n", "time;power, kW\n0;0,5\n60,0;1,25\n", "0\t0,5\n60\t1,25\n",
    '"0";"0,5"\r\n"60";"1,25"\r\n'])
def test_a_decimal_comma_beside_other_separators(tmp_path, text):
    assert list(read_signal(written(tmp_path, text), RUN).value) == [0.5, 1.25]


@pytest.mark.parametrize("first", [
    "0,2kW", "0h,2kW", "00:00,2000", "2024-01-01T00:00:00,x", "0,", "0", "nan,nan", "0,0,5",
    "0 0,5", '"0","0,5"', "0,1900,note", "0;1.234,5", "inf,1900", "0,inf", "0,nan", "0,-inf",
    "x,1900", "0,1_900", "x" * 200_000 + ",5"])
def test_a_broken_first_row_is_no_header(tmp_path, first):
    for read in (read_signal, read_cap):
        with pytest.raises(InputError, match=r"c\.csv:2: .*or 3600,20000$"):
            read(written(tmp_path, f"# a cap\n{first}\n100,1900\n"), RUN)
        with pytest.raises(InputError, match=r"c\.csv:3: "):
            read(written(tmp_path, f"seconds,watts\n# a cap\n{first}\n100,1900\n"), RUN)


def test_a_second_header_is_a_mistake(tmp_path):
    with pytest.raises(InputError, match=r"c\.csv:2: expected"):
        read_signal(written(tmp_path, "sep=,\nseconds,watts\n0,1\n"), RUN)


@pytest.mark.parametrize("text", ["seconds,watts\n", "# none\n"])
def test_no_rows_are_no_signal(tmp_path, text):
    with pytest.raises(InputError, match="no 'time,value' lines"):
        read_signal(written(tmp_path, text), RUN)


def test_a_text_of_another_encoding_is_refused(tmp_path):
    with pytest.raises(InputError, match="UTF-8"):
        read_signal(written(tmp_path, "a,b\n0,1\n".encode("utf-16")), RUN)


@pytest.mark.parametrize(("row", "said"), [
    ("-60,1900", "-60 s is in the past"), ("0,-5", "-5 must be a number of watts"),
    ("0,1e300", "1e.300 must be a number of watts, up to"), ("0,inf", "nan and inf are no values")])
def test_a_cap_is_held_to_what_a_list_of_steps_is(tmp_path, row, said):
    with pytest.raises(InputError, match=rf"c\.csv:1: {said}"):
        read_cap(written(tmp_path, row + "\n"), RUN)


def test_a_signal_may_begin_before_the_log_and_be_negative(tmp_path):
    found = read_signal(written(tmp_path, "-60,-0.5\n0,1\n"), RUN)
    assert (found.at(-1), found.at(0)) == (-0.5, 1)


@pytest.mark.parametrize("text", [
    "time_s;Price (EUR/kWh)\n0;0,36\n3600;0,72\n", "time_s\tPrice (EUR/kWh)\n0\t0,36\n3600\t0,72\n",
    "\ufefftime_s,Price (EUR/kWh)\r\n0,0.36\r\n3600,0.72,\r\n",
    '"time_s","Price (EUR/kWh)"\n"0","0.36"\n"3600","0.72"\n'])
def test_tariffs_of_every_country(tmp_path, text):
    found = read_tariff(written(tmp_path, text))
    assert list(found.value) == pytest.approx([1e-7, 2e-7])
    assert found.unit == "EUR/J"


@pytest.mark.parametrize(("row", "said"), [
    ("0,0,36", "line 2: has more cells than the header"), ("nan,1", "line 2: 'nan' is no time"),
    ("inf,1", "line 2: 'inf' is no time"), ("0,inf", "line 2: the value is inf"),
    ('0,"0,36"', "line 2: '0,36' is not a number")])
def test_rows_that_no_tariff_has(tmp_path, row, said):
    with pytest.raises(InputError, match=said):
        read_tariff(written(tmp_path, f"time_s,Price (EUR/kWh)\n{row}\n3600,1\n"))
