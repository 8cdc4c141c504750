"""Runs side by side on a terminal: as many beside one another as fit, the others below."""

from __future__ import annotations

import os

import pytest

from wattline.analysis.summary import ComparedFigure
from wattline.cli import output
from wattline.cli.output import folded, print_comparison
from wattline.cli.per_job_output import later_text

NAMES = [f"a run with a long name, number {number}" for number in range(5)]
ROWS = [ComparedFigure("wait_s.mean", "Mean wait", "h", (3600.0,) * 5, ("1.00",) * 5, (1.0,) * 5,
                       "lower"),
        ComparedFigure("energy_j", "Energy", "MWh", (3.6e9,) * 5, ("1.00",) * 5, (1.0,) * 5,
                       "lower")]


def printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
            width: int | None) -> list[str]:
    monkeypatch.setattr(output, "terminal_width", lambda: width)
    print_comparison(NAMES, ROWS)
    return capsys.readouterr().out.splitlines()


def test_a_narrow_terminal_gets_every_run_within_its_width(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = printed(capsys, monkeypatch, 100)
    assert max(map(len, lines)) <= 100
    assert sorted(name for line in lines for name in NAMES if name in line) == NAMES
    assert sum(line.startswith("Mean wait  h") for line in lines) == 3
    assert lines.count("") == 2


def test_a_ratio_stays_beside_the_value_that_it_is_of() -> None:
    headers = ["figure", "unit", "first", "second", "ratio", "third", "ratio"]
    assert list(folded(headers, [["x"] * 7], 28)) == [[0, 1, 2], [0, 1, 3, 4], [0, 1, 5, 6]]


def test_one_run_that_is_too_wide_is_still_printed() -> None:
    assert list(folded(["figure", "unit", "first"], [["x"] * 3], 5)) == [[0, 1, 2]]


def test_a_pipe_gets_one_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = printed(capsys, monkeypatch, None)
    assert len(lines) == 4
    assert all(name in lines[0] for name in NAMES)


def test_the_width_is_the_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output.sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(output.shutil, "get_terminal_size", lambda: os.terminal_size((72, 20)))
    assert output.terminal_width() == 72
    monkeypatch.setattr(output.sys.stdout, "isatty", lambda: False, raising=False)
    assert output.terminal_width() is None


@pytest.mark.parametrize(("time_s", "said"), [(-2.3e-13, "+0 s"), (0.0, "+0 s"), (-0.5, "-0.5 s"),
                                              (90.0, "+90 s"), (float("nan"), "-")])
def test_what_is_left_over_of_subtracting_times_is_nothing(time_s, said):
    assert later_text(time_s) == said
