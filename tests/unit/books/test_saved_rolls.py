"""Rolls that are saved again and again: what was written before is what would be written now."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from wattline.books import roll as roll_module
from wattline.books.events import Submitted
from wattline.books.roll import Roll


def a_job(number: int, draw: random.Random) -> Submitted:
    """With all or nothing of what a job may say; its key is a number or a name."""
    more: dict[str, Any] = {
        "names": {"user": f"u{number % 3}"}, "account": 'a "b"', "application": "lü",
        "gres": {"gpu": np.float64(2.0)}, "logged": {"frequency_hz_min": 1e9}, "after": "j1"}
    said = {name: value for name, value in more.items() if draw.random() < 0.5}
    return Submitted(number if number % 2 else f"j{number}", draw.randint(1, 9),
                     draw.uniform(1.0, 1e5), draw.choice([math.nan, 0.1 + number]), **said)


def loaded(roll: Roll) -> Roll:
    text, numbers = roll.saved()
    return Roll.of(json.loads(text), numbers)


def as_told(job: Submitted) -> tuple[Any, ...]:
    return tuple(None if isinstance(value, float) and math.isnan(value) else value
                 for value in (getattr(job, name) for name in job.__dataclass_fields__))


@pytest.mark.parametrize("between", ["nothing", "written out", "saved"])
@pytest.mark.parametrize("seed", range(6))
def test_whatever_was_written_out_before_the_same_is_saved(seed: int, between: str) -> None:
    """Jobs come, go and are changed; each time the roll is as one that was never saved."""
    draw, roll, number = random.Random(seed), Roll(), 0
    for _ in range(12):
        for _ in range(draw.randint(0, 5)):
            number += 1
            roll.jobs.append(a_job(number, draw))
        if roll.jobs and draw.random() < 0.5:
            row = draw.randrange(len(roll.jobs))
            roll.jobs[row] = replace(roll.jobs[row], units=50, account=f"changed {number}")
        if draw.random() < 0.3:
            roll.keep(np.array([row for row in range(len(roll.jobs)) if draw.random() < 0.7]
                               or [], dtype=np.int64))
        roll.over[f"o{number}"] = -math.inf if draw.random() < 0.5 else float(number)
        if between == "written out":
            roll.write_out_new()
        elif between == "saved":
            roll.saved()
        fresh = Roll()
        fresh.jobs, fresh.over = list(roll.jobs), dict(roll.over)
        assert roll.saved()[0] == fresh.saved()[0]
        assert np.array_equal(roll.saved()[1], fresh.saved()[1], equal_nan=True)
        again = loaded(roll)
        assert [as_told(job) for job in again.jobs] == [as_told(job) for job in roll.jobs]
        assert again.over == roll.over


def test_a_job_is_written_out_once_and_forgotten_with_the_roll(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []
    of = roll_module._Written.of
    monkeypatch.setattr(roll_module._Written, "of", lambda job: made.append(job.job) or of(job))
    roll, draw = Roll(), random.Random(1)
    roll.jobs += [a_job(number, draw) for number in range(1, 6)]
    roll.write_out_new()
    roll.jobs += [a_job(number, draw) for number in range(6, 8)]
    roll.write_out_new()
    for _ in range(3):
        roll.saved()
    assert sorted(map(str, made)) == sorted(map(str, [1, "j2", 3, "j4", 5, "j6", 7]))
    roll.keep(np.array([0, 2]))
    roll.saved()
    assert set(roll._texts) == {1, 3}
