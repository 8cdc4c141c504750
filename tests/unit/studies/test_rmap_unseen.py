"""Models of applications that the priors have not seen."""

from dataclasses import replace

import numpy as np
import pytest

import wattline as wl
from wattline.model.errors import InputError
from wattline.physics.regression import Fit, shipped_models
from wattline.physics.regression.terms import SHIPPED, Slope
from wattline.studies.rmap import unseen as module
from wattline.studies.rmap.unseen import (
    UnseenTable,
    _holds,
    _judge,
    application_of,
    priors_without,
    unseen,
    usable,
)


@pytest.fixture(scope="module")
def tables():
    """48 configurations of each of four applications, one of which has two tables."""
    found = {}
    for name in ("BT-MZ", "SPhot", "SC", "NSM"):
        model = shipped_models()[name]
        whole = model.table(grid=model.grid.with_nodes((8, 16, 24, 32)))
        found[name] = whole.take(np.isin(whole.cores, (4, 8, 16))
                                 & np.isin(whole.cap_w, (51.0, 65.0, 80.0, 115.0)))
    found["SC_again"] = replace(found["SC"], application="SC_again")
    return found


def test_tables_of_one_application_are_left_out_together(tables, monkeypatch):
    told = {}

    def learned(models, of, knows):
        told["models"] = set(models)
        return SHIPPED

    def slopes(found, of):
        told["slopes"] = set(found)
        return {"power": {"nodes": Slope(0.9, 0.1)}, "time": {"nodes": Slope(-0.9, 0.1)}}

    monkeypatch.setattr(module, "learn_priors", learned)
    monkeypatch.setattr(module, "learn_slopes", slopes)
    priors = priors_without("sc", tables, tables)
    assert told == {kind: {"BT-MZ", "SPhot", "NSM"} for kind in ("models", "slopes")}
    assert (priors.power_slopes["nodes"].mean, priors.time_slopes["nodes"].mean) == (0.9, -0.9)


def test_the_smooth_model_knows_the_slopes_of_the_others(tables):
    steep = Slope(-3.0, 0.01)
    knowing = SHIPPED._replace(time_slopes=dict.fromkeys(("nodes", "cores", "cap_w"), steep))
    without, told = (_judge(tables["SC"], priors, (1,), 0.1).as_dict()["time"]
                     for priors in (SHIPPED, knowing))
    assert told["capping"] == without["capping"]
    assert told["smooth"] > without["smooth"], "nobody's time falls so steeply"
    assert told["mixed"] != without["mixed"]


def test_all_kinds_are_trained_on_a_tenth_and_the_mixed_one_has_the_power_of_capping(tables):
    row = _judge(tables["SC"], SHIPPED, (1,), 0.1).as_dict()
    assert (row["application"], row["trained_on"], row["configurations"]) == ("sc", 4, 48)
    assert row["power"]["mixed"] == row["power"]["capping"] != row["power"]["smooth"]
    assert 0 < row["time"]["mixed"] <= max(row["time"]["capping"], row["time"]["smooth"])
    assert set(row["published_errors_held"].values()) <= {0.0, 1.0}


@pytest.mark.parametrize(("power_ratio", "held"), [
    ([1.0] * 99 + [0.8], True), ([1.0] * 95 + [0.8] * 5, False), ([1.12] * 100, False),
])
def test_the_published_errors_are_those_of_time_and_of_power(power_ratio, held):
    ratio = np.array(power_ratio)
    assert _holds(Fit(None, np.arange(4), np.ones(100), ratio, 1.0)) == held
    assert not _holds(Fit(None, np.arange(4), np.full(100, 1.2), ratio, 1.0))


def test_the_middle_over_tables_and_the_best_kind_are_counted(tables, monkeypatch):
    def judged(table, priors, seeds, share):
        capping = 0.02 if table.application == "SC" else 0.06
        errors = {"capping": (capping, 0.5, 0.01), "mixed": (0.05,) * 3, "smooth": (0.04,) * 3}
        return UnseenTable(table.application, "", len(table), 4, errors, errors, {})

    monkeypatch.setattr(module, "fit_widely", lambda used, progress: {})
    monkeypatch.setattr(module, "_judge", judged)
    found = unseen(tables, (1, 2, 3))
    assert [row["time"]["capping"] for row in found["tables"]] == [0.06, 0.06, 0.02, 0.06, 0.06]
    assert found["median"]["time"] == {"capping": 0.06, "mixed": 0.05, "smooth": 0.04}
    assert found["mean"]["power"]["capping"] == pytest.approx(0.052)
    assert found["best"] == {"time": {"capping": 1, "mixed": 0, "smooth": 4},
                             "power": {"capping": 1, "smooth": 4}}


def test_what_cannot_be_learned_from_is_left_out_with_its_reason(tables):
    small = tables["SC"].take(tables["SC"].nodes == 8)
    old = replace(tables["SC"], application="nas_old_cg")
    used, left_out = usable({**tables, "small": small, "nas_old_cg": old})
    assert set(used) == set(tables)
    assert left_out == {"small": "it has 12 configurations, below 48",
                        "nas_old_cg": "its labels do not fit its measurements"}


def test_too_few_applications_and_shipped_models_are_refused(tables):
    few = {name: tables[name] for name in ("BT-MZ", "SC", "SC_again", "SPhot")}
    with pytest.raises(InputError, match=r"there are 3 applications .* takes 4"):
        unseen(few, (1,))
    with pytest.raises(InputError, match="takes measured tables, and the shipped models are none"):
        wl.study("rmap", part="unseen")


@pytest.mark.parametrize(("table", "application"), [
    ("synthetic_noscale-cpu_1node_12caps", "noscale-cpu"), ("nas_apr20_cg", "cg"),
    ("sphot_grid", "sphot"), ("SPhot", "sphot"),
])
def test_the_names_of_public_tables_say_their_application(table, application):
    assert application_of(table) == application
