"""Over seeds: met, declined and violated are counted apart, with intervals."""

from __future__ import annotations

from dataclasses import replace

from wattline.studies.regulation.parts import Row, over_seeds

NONE = (float("nan"),) * 3
ROW = Row("W1", "aqa", True, 9e3, 2e3, 0.6, 0.2, 0.05, 0.05, "", 0.0, 0, 0, (0.0, 1.0), NONE, NONE,
          ())


def test_staying_out_is_no_violation() -> None:
    assert ROW.verdict == "met"
    assert replace(ROW, met=False, declined=True).verdict == "declined"
    assert replace(ROW, met=False).verdict == "violated"


def test_policies_are_counted_over_all_cases_and_seeds() -> None:
    rows = [ROW, replace(ROW, saving=0.4, seed=2), replace(ROW, met=False, declined=True, seed=3),
            replace(ROW, policy="tracking", met=False)]
    aqa, tracking = over_seeds(rows)
    assert (aqa.cases, aqa.met, aqa.declined, aqa.violated) == (3, 2, 1, 0)
    assert aqa.met_share[0] < 2 / 3 < aqa.met_share[1]
    assert abs(aqa.saving[0] - 0.3) < 1e-12
    assert (tracking.met, tracking.violated) == (0, 1)
    assert tracking.saving[0] != tracking.saving[0]  # nothing was saved where nothing was met
