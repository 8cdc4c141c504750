"""Limits as people write them."""

from __future__ import annotations

import pytest

from wattline.advice.limits import Figures, Limits
from wattline.model.errors import InputError

FREE = Figures(wait_s=100.0, slowdown=2.0, energy_j=1e9, refused=1)


def test_a_saving_can_be_asked_for() -> None:
    assert Limits(energy="-5%").resolve(FREE).energy_j == pytest.approx(0.95e9)


def test_lost_jobs_alone_are_a_limit() -> None:
    found = Limits(refused=12).resolve(FREE)
    assert found.refused == 13
    assert found.wait_s == float("inf")
    with pytest.raises(InputError, match="say what can be borne"):
        Limits()


@pytest.mark.parametrize(("given", "said"), [
    ({"wait": "10%"}, r"wait: write \+10%"), ({"wait": "soon"}, "wait: 'soon'"),
    ({"energy": "-5GWh"}, "energy"), ({"slowdown": "5kg"}, "slowdown: '5kg' is no number"),
    ({"refused": "5"}, "refused is '5', must be a whole"), ({"refused": 1.5}, "a whole number"),
    ({"refused": -1}, "at least 0"),
])
def test_a_limit_that_is_none_is_refused_by_its_option(given, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Limits(**given)
