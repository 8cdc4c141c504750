"""Rows that are no repeated runs of one configuration, and repeated runs that are far apart."""

import pytest
from tests.shared_data import shared

from wattline.model.errors import InputError
from wattline.physics.measurements import read_measurements
from wattline.physics.regression import fit

HEADER = "application,nodes,cores,cap_w,time_s,power_w"


def written(path, *rows, column=""):
    path.write_text("\n".join([HEADER + (column and "," + column), *rows]) + "\n")
    return path


def test_an_unknown_setting_is_refused_and_not_merged_by_median(tmp_path):
    path = written(tmp_path / "gpu.csv", "a,8,128,200,100,15000,300", "a,8,128,200,80,18560,500",
                   "a,8,128,200,70,22000,700", column="limit")
    with pytest.raises(InputError, match=r"'a' as \(8 x 128, 200 W\) differ in the column "
                                         r"'limit' \(300 and 500\); .*limit=limit.*drop"):
        read_measurements(path)


def test_a_column_that_is_the_same_in_all_runs_of_a_configuration_is_accepted_and_said(tmp_path):
    path = written(tmp_path / "gpu.csv", "a,8,128,200,100,15000,300", "a,8,128,200,101,15000,300",
                   "a,4,128,200,180,9000,500", "b,8,128,200,90,15000,500", column="limit")
    found = read_measurements(path)["a"]
    assert len(found) == 2
    assert "the column limit is not used; a setting of another name is named" in found.note


@pytest.mark.parametrize("column", ["run", "run_id", "seed", "pkg0_w_all_nodes"])
def test_what_tells_runs_apart_or_was_measured_in_them_is_no_setting(tmp_path, column):
    path = written(tmp_path / "t.csv", "a,2,4,50,10,100,1", "a,2,4,50,11,100,2", column=column)
    table = read_measurements(path)["a"]
    assert (table.row(0).time_s, table.note) == (10.5, "")


def test_runs_of_one_configuration_that_are_far_apart_are_said_with_their_spread(tmp_path):
    path = written(tmp_path / "t.csv", "a,2,4,50,10,100", "a,2,4,50,12.5,100", "a,2,4,50,10,100",
                   "a,4,4,50,5,200", "a,4,4,50,5.9,270", "a,8,4,50,3,400",
                   "b,2,4,50,10,100", "b,2,4,50,12,120")
    tables = read_measurements(path)
    assert tables["a"].note == (
        "runs of one configuration differ by more than 20%: of 2 repeated configurations 1 in "
        "time (largest 1.25 times, at 2 x 4, 50 W) and 1 in power (largest 1.35 times, at 4 x 4, "
        "50 W); their medians are used")
    assert tables["b"].note == ""


def test_the_spread_of_published_runs_is_said_and_goes_into_the_model():
    tables = read_measurements(shared("rapl/configs.csv.xz"))
    said = "26 in time (largest 1.87 times, at 28 x 16, 80 W)"
    assert said in tables["bt-mz_8-32nodes_5caps"].note
    assert tables["synthetic_scale-cpu_1node_12caps"].note == ""
    assert said in fit(tables["bt-mz_8-32nodes_5caps"], "quadratic").note
