"""Published figures of demand response beside ours."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import pytest

from wattline.studies import every
from wattline.studies.every import DOCUMENTS, study_all
from wattline.studies.published import PublishedFigure, rows_from
from wattline.studies.regulation.beside import rows
from wattline.studies.regulation.parts import PolicyOutcome, by_std
from wattline.studies.regulation.published import LONG_JOBS, words

NONE = (float("nan"),) * 3
ROW = PolicyOutcome("W3", "aqa", True, 9e3, 2e3, 0.6, 0.30, 0.05, 0.05, "", 0.0, 0, 0, (0.0, 1.0),
                    NONE, NONE, (), bound_feasible=True, qos_met=True)


def shown(part: str, *given: PolicyOutcome) -> list[PublishedFigure]:
    told = [asdict(row) | {"published": words(part, row.name, row.policy)} for row in given]
    return list(rows_from(rows({part: told})))


def seeds(*savings: float) -> list[PolicyOutcome]:
    return [replace(ROW, saving=saving, seed=seed) for seed, saving in enumerate(savings)]


@pytest.mark.parametrize(("savings", "verdict"), [
    ((0.28, 0.30), "holds"), ((0.27, 0.28), "holds"), ((0.30, 0.31), "holds"),
    ((0.20, 0.22), "holds, smaller"), ((0.32, 0.33), "holds, larger"),
    ((0.50, 0.52), "holds, larger"), ((0.04, 0.05), "fails")])
def test_a_saving_is_judged_by_its_mean_over_seeds(
    savings: tuple[float, ...], verdict: str
) -> None:
    first = shown("workloads", *seeds(*savings))[0]
    assert (first.published, first.verdict) == ("cost 0.68, saving 29%", verdict)
    assert f"saving {sum(savings) / 2:.1%} (" in first.ours


def test_bids_that_were_declined_are_counted_where_the_bound_finds_one() -> None:
    declined = replace(ROW, met=False, declined=True)
    told = shown("workloads", ROW, declined, replace(declined, bound_feasible=False))[-1]
    assert told.published == "14 of 14"
    assert told.ours.startswith("1 of 3")
    assert told.ours.endswith("where the bound finds a bid (2), 1 were declined")


def test_baselines_are_published_to_break_the_qos() -> None:
    broken = replace(ROW, name="baselines", policy="tracking", qos_met=False, error=0.03)
    assert shown("default", broken)[0].verdict == "holds"
    assert shown("default", replace(broken, error=0.326))[0].verdict == "fails"
    assert shown("default", replace(broken, error=0.003))[0].why.endswith("the error is smaller")
    assert shown("default", replace(broken, qos_met=True))[0].verdict == "fails"


def test_a_log_that_is_not_public_is_not_reproduced() -> None:
    told = rows_from(rows({"long": None}))
    assert len(told) == len(LONG_JOBS)
    assert {row.verdict for row in told} == {"not reproduced"}


def test_what_a_scale_was_fitted_to_proves_nothing() -> None:
    fit = {"scale": 2.0, "utilisation": 0.5, "average_w": 21_264.0, "reserve_w": 9636.0,
           "saving": 0.438, "published": "P 20,600 W"}
    told, = rows_from(rows({"thresholds": [fit, fit | {"scale": 1.0}]}))
    assert told.ours == "P 21,264 W, R 9,636 W, saving 43.8%"
    assert told.verdict == "not reproduced"


def test_hours_are_counted_by_their_standard_deviation() -> None:
    given = [replace(ROW, hour=0, signal_std=0.45), replace(ROW, hour=1, signal_std=0.49),
             replace(ROW, hour=2, signal_std=0.65, met=False, declined=True)]
    low, high = by_std(given)
    assert (low.std, low.hours, low.cases, low.met) == ((0.4, 0.5), 2, 2, 2)
    assert (high.std, high.met, high.declined, high.feasible) == ((0.6, 0.7), 0, 1, 1)


def test_the_study_is_told_where_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: dict[str, object] = {}

    def study(progress: object, **settings: object) -> dict[str, object]:
        told.update(settings)
        return {"long": None}

    monkeypatch.setattr(every, "STUDIES", {"regulation": study})
    study_all(["regulation"], kept=tmp_path / "kept")
    assert told == {**DOCUMENTS["regulation"].full, "kept": str(tmp_path / "kept/regulation.part")}
