"""Generic resources of jobs, from what sacct prints and from its JSON."""

from __future__ import annotations

import math

import pytest

from wattline.model.errors import InputError
from wattline.site.sacct_json import tres_text
from wattline.traces.gres import gres


def test_what_was_asked_for_counts_before_what_was_given() -> None:
    found = gres({"ReqTRES": ["cpu=2,gres/gpu=4,node=1", "cpu=1", None],
                  "AllocTRES": ["gres/gpu=8", "gres/gpu=2,gres/nvme:big=1", "energy=7"]}, 3, "log")
    assert set(found) == {"gres/gpu", "gres/nvme:big"}
    assert found["gres/gpu"].tolist()[:2] == [4.0, 2.0]
    assert math.isnan(found["gres/gpu"][2])
    assert math.isnan(found["gres/nvme:big"][0])


def test_a_list_of_json_says_the_same_as_the_text() -> None:
    items = [{"type": "cpu", "count": 4}, {"type": "gres", "name": "gpu", "count": 2}]
    assert "gres/gpu=2" in tres_text(items).split(",")
    assert tres_text(None) is None
    assert tres_text([{"type": "cpu", "count": 4}]) == "cpu=4"


def test_nonsense_is_not_said_and_too_many_kinds_are_refused() -> None:
    strange = ["gres/gpu=x", "gres/=4", "xgres/gpu=4", "gres/gpu=-1", "gres/gpu=1e9"]
    assert gres({"ReqTRES": strange}, 5, "log") == {}
    with pytest.raises(InputError, match="kinds"):
        gres({"ReqTRES": [f"gres/r{row}=1" for row in range(101)]}, 101, "log")
