"""Times without an end are refused where a look ahead needs one."""

from __future__ import annotations

from typing import Any

import pytest

import wattline as wl


@pytest.mark.parametrize(("asked", "given", "said"), [
    (wl.advise_policy, {"at": float("inf")}, "must be an instant of the log"),
    (wl.advise_policy, {"at": "50%", "horizon": float("inf")}, "horizon is inf"),
    (wl.self_tune, {"every": float("inf")}, "every is inf"),
    (wl.self_tune, {"horizon": float("inf")}, "horizon is inf"),
])
@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
def test_a_time_without_an_end_is_refused(asked: Any, given: dict[str, Any], said: str) -> None:
    trace = wl.generate("lublin", seed=1, jobs=20, nodes=32)
    with pytest.raises(wl.InputError, match=said):
        asked(trace, candidates=["sjf"], samples=1, machine=wl.Machine(nodes=32), **given)
