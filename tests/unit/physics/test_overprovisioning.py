"""The best configuration under a bound, and the tables that it is found in."""

import lzma

import numpy as np
import pytest
from tests.shared_data import shared

from wattline.model.errors import InputError
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.devices import rate_node
from wattline.physics.measurements import find_application, read_measurements
from wattline.physics.overprovisioning import choose

HEADER = "application,nodes,cores,cap_w,time_s,power_w\n"


def small_table() -> ConfigurationTable:
    return ConfigurationTable.build(
        "app", [2, 2, 4, 4, 8, 8], [4, 8, 4, 8, 4, 8], [50, 100, 50, 100, 50, 100],
        [80, 40, 42, 22, 24, 15], [100, 300, 200, 600, 400, 1200],
    )


def as_printed(one):
    return (one.nodes, one.cores, one.cap_w, round(one.time_s, 2), round(one.power_w))


def test_table_4_2_of_bt_mz_from_the_raw_runs():
    tables = read_measurements(shared("rapl/configs.csv.xz"))
    table, remark = find_application(tables, "BT-MZ")
    assert "bt-mz_8-32nodes_5caps" in remark
    choice = choose(table, 3500.0)
    assert as_printed(choice.best) == (30, 14, 51, 6.09, 3418)
    assert as_printed(choice.packed_max) == (16, 16, 115, 7.27, 3232)
    assert (choice.worst_case.nodes, choice.worst_case.cores, choice.worst_case.cap_w) == (
        12, 16, 115)


def test_table_4_2_of_sphot_from_the_raw_runs():
    table = read_measurements(shared("rapl/sphot_grid.csv"), "SPhot")["SPhot"]
    choice = choose(table, 3500.0)
    assert as_printed(choice.best) == (32, 16, 51, 39.81, 3478)
    assert as_printed(choice.packed_max) == (18, 16, 115, 49.52, 3264)
    assert choice.worst_case.nodes == 12
    assert choose(table, 4500.0).worst_case.nodes == 16


def test_canonical_configurations_use_as_many_nodes_as_the_bound_allows():
    choice = choose(small_table(), 650.0, node_power_w=300.0)
    assert choice.best.label == "(4 x 8, 100 W)"
    assert choice.packed_max == choice.best
    assert choice.spread_min.label == "(8 x 4, 50 W)"
    assert choice.packed_min is None
    assert choice.worst_case.nodes == 2
    assert choice.degree == 2.0
    assert [one.nodes for one in choice.by_nodes] == [2, 4, 8]


def test_the_rated_maximum_counts_two_packages_and_memory():
    assert rate_node(small_table()).power_w_max == 230.0


def test_a_bound_below_every_configuration_is_refused_with_the_smallest():
    with pytest.raises(InputError, match=r"below the smallest.*\(2 x 4, 50 W\) draws 100 W"):
        choose(small_table(), 99.0)


def test_repeated_runs_become_their_median(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text(HEADER + "a,2,4,50,10,100\na,2,4,50,30,110\na,2,4,50,11,500\n")
    table = read_measurements(path)["a"]
    assert len(table) == 1
    assert table.row(0).time_s == 11.0
    assert table.row(0).power_w == 110.0


def test_compressed_tables_and_other_names_of_columns_are_read(tmp_path):
    path = tmp_path / "raw.csv.xz"
    text = ("nodes,threads_per_node,pkg_cap_w_per_socket,time_s,pkg_dram_w_all_nodes\n"
            "8,16,51.0,3.5,900.5\n")
    path.write_bytes(lzma.compress(text.encode()))
    assert read_measurements(path, "x")["x"].row(0).power_w == 900.5


def test_cores_come_from_ranks_where_threads_are_not_given(tmp_path):
    path = tmp_path / "ranks.csv"
    path.write_text("nodes,threads_per_node,mpi_ranks_total,cap_w,time_s,power_w\n4,,32,51,1,200\n")
    assert read_measurements(path, "x")["x"].row(0).cores == 8


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nodes,cores,cap_w,time_s\n8,4,51,3\n", "lacks the columns power_w"),
        (HEADER + "a,8,4,,3,4\n", "line 2: the cell 'cap_w' is empty"),
        (HEADER + "a,8,4,51,3,4\na,8,4,51,0,4\n", "line 3: time_s is 0, must be greater than 0"),
        (HEADER + "a,8,4,51,3,-4\n", "line 2: power_w is -4, must be greater than 0"),
        (HEADER + "a,eight,4,51,3,4\n", "line 2: nodes is 'eight', must be a number"),
        (HEADER + "a,8.5,4,51,3,4\n", "line 2: nodes is 8.5, must be a whole number"),
        (HEADER + "a,8,4,51,nan,4\n", "line 2: time_s is nan"),
        (HEADER + "a,8,4,51,3\n", "line 2: 5 cells, the header has 6"),
        (HEADER + ",8,4,51,3,4\n", "line 2: the cell 'application' is empty"),
        (HEADER, "has a header and no rows"),
        ("", "the file is empty"),
    ],
)
def test_a_bad_table_is_refused_with_its_line(tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_measurements(path)


def test_files_that_are_no_tables_are_refused(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_measurements(tmp_path / "nowhere.csv")
    broken = tmp_path / "broken.csv.xz"
    broken.write_bytes(lzma.compress(b"a,b\n")[:-8])
    with pytest.raises(InputError, match="cut off"):
        read_measurements(broken)
    binary = tmp_path / "binary.csv"
    binary.write_bytes(bytes([255, 254, 0, 200]))
    with pytest.raises(InputError, match="not a text table"):
        read_measurements(binary)


def test_an_unknown_application_is_answered_with_the_known_ones():
    with pytest.raises(InputError, match="no application 'lammps'; known are: app"):
        find_application({"app": small_table()}, "lammps")


def test_a_name_is_not_cut_inside_a_word():
    tables = {"bt-mz_small": small_table()}
    assert find_application(tables, "BT-MZ")[0] is tables["bt-mz_small"]
    with pytest.raises(InputError):
        find_application(tables, "bt")


def test_a_table_refuses_values_that_cannot_be():
    with pytest.raises(InputError, match="time_s of configuration 1 is -1"):
        ConfigurationTable.build("a", [1], [1], [1], [-1.0], [1])
    with pytest.raises(InputError, match="no configurations"):
        ConfigurationTable.build("a", [], [], [], [], [])


def test_node_limit():
    assert np.all(small_table().up_to(4).nodes <= 4)
    with pytest.raises(InputError, match="needs at least 2 nodes, 1 are allowed"):
        small_table().up_to(1)
