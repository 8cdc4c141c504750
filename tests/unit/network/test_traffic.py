"""Patterns count what they should, matrices are read, nonsense is refused."""

import numpy as np
import pytest
from tests.shared_data import shared

from wattline.model.errors import InputError
from wattline.network.traffic import from_matrix, grid, map_tasks, pattern, read_matrix


@pytest.mark.parametrize(("name", "tasks", "messages"), [
    ("all-to-all", 32, 32 * 31),
    ("broadcast", 32, 31),
    ("fft3d", 32, 32 * (3 + 7)),  # a grid of 8 x 4
    ("halo2d", 16, 2 * 2 * 3 * 4),
    ("halo3d", 27, 2 * 3 * 2 * 9),
    ("halo3d26", 27, 26 + 6 * 17 + 12 * 11 + 8 * 7),  # centre, faces, edges, corners
    ("halo2d", 1, 0),
])
def test_messages_of_each_pattern(name, tasks, messages):
    made = pattern(name, tasks)
    assert len(made.source) == len(made.target) == messages
    assert not np.any(made.source == made.target)
    assert len(set(zip(made.source.tolist(), made.target.tolist(), strict=True))) == messages


@pytest.mark.parametrize("name", ["all-to-all", "fft3d", "halo2d", "halo3d", "halo3d26"])
def test_exchanges_go_both_ways(name):
    made = pattern(name, 24)
    there = set(zip(made.source.tolist(), made.target.tolist(), strict=True))
    assert there == {(b, a) for a, b in there}


def test_grids_are_cube_like():
    assert grid(64, 3) == (4, 4, 4)
    assert grid(24, 2) == (6, 4)
    assert grid(272, 3) == (17, 4, 4)
    assert grid(13, 3) == (13, 1, 1)


def test_measured_matrix():
    traffic, mean_bytes = read_matrix(shared("dragonfly/comm_matrices/lulesh_64ranks.p2p.size.csv"))
    raw = np.loadtxt(shared("dragonfly/comm_matrices/lulesh_64ranks.p2p.size.csv"), delimiter=",")
    np.fill_diagonal(raw, 0)
    assert traffic.tasks == 64
    assert np.isclose((traffic.messages * mean_bytes).sum(), raw.sum())
    corner = traffic.target[traffic.source == 0]
    assert set(corner.tolist()) == {1, 4, 5, 16, 17, 20, 21}  # neighbours in a 4 x 4 x 4 grid


@pytest.mark.parametrize(("matrix", "message"), [
    ([[0, 1, 2], [1, 0, 2]], "square"),
    ([[0, -1], [1, 0]], "row 1, column 2 is -1"),
    ([[0, float("nan")], [1, 0]], "not a number"),
    ([[5, 0], [0, 5]], "no rank sends anything"),
    ([1, 2, 3], "square"),
])
def test_bad_matrices(matrix, message):
    with pytest.raises(InputError, match=message):
        from_matrix(matrix)


@pytest.mark.parametrize(("text", "message"), [
    ("0,1\n1,0,2\n", "line 2: has 3 columns"),
    ("0,1\n1,x\n", "line 2: has a cell"),
    ("0,1\n", "line 1: has 2 columns"),
    ("", "is empty"),
])
def test_bad_matrix_files(tmp_path, text, message):
    path = tmp_path / "m.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_matrix(path)
    with pytest.raises(InputError, match="no such file"):
        read_matrix(tmp_path / "none.csv")


def test_mapping():
    nodes = np.array([7, 3, 9])
    rng = np.random.default_rng(0)
    assert map_tasks(nodes, 6, "linear", rng).tolist() == [7, 7, 3, 3, 9, 9]
    drawn = map_tasks(nodes, 6, "random", rng)
    assert sorted(drawn.tolist()) == [3, 3, 7, 7, 9, 9]
    with pytest.raises(InputError, match="mapping 'best' is unknown"):
        map_tasks(nodes, 6, "best", rng)
    with pytest.raises(InputError, match="pattern 'gossip' is unknown"):
        pattern("gossip", 4)
