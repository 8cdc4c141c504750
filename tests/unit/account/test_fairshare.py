"""Fair-share by joules: worked by hand, and shares that do not add up."""

import numpy as np
import pytest

from wattline.account.fairshare import Account, ShareTree, decay, read_shares, usage_at
from wattline.model.errors import InputError

TREE = [
    Account("physics", 0.6), Account("biology", 0.4),
    Account("ann", 0.5, "physics"), Account("bob", 0.5, "physics"), Account("eve", 1, "biology"),
]


def factor(tree, usage):
    return {s.name: s.factor for s in tree.standings(usage)}


def test_flat_shares_by_hand():
    """Equal shares; who used just its share has 1/2, who used nothing 1, who used all 2^-2."""
    tree = ShareTree.flat(["ann", "bob"])
    assert factor(tree, {"ann": 5.0, "bob": 5.0}) == {"ann": 0.5, "bob": 0.5}
    assert factor(tree, {"ann": 10.0}) == {"ann": 0.25, "bob": 1.0}
    assert factor(tree, {}) == {"ann": 1.0, "bob": 1.0}


def test_the_tree_by_hand():
    """ann used everything: physics has usage 1 of a share of 0.6; bob pays half of it."""
    found = {s.name: s for s in ShareTree(TREE).standings({"ann": 100.0})}
    assert found["ann"].share == pytest.approx(0.3)
    assert found["physics"].usage_j == 100
    assert found["bob"].effective == pytest.approx(0.5)
    assert found["bob"].factor == pytest.approx(2 ** (-0.5 / 0.3))
    assert found["ann"].factor < found["bob"].factor < found["eve"].factor == 1.0


def test_per_cent_are_fine_too():
    assert factor(ShareTree([Account("a", 25), Account("b", 75)]), {"a": 1, "b": 3})["a"] == 0.5


def test_usage_fades_by_half_in_a_half_life():
    start, end, energy = np.array([0.0]), np.array([1.0]), np.array([64.0])
    late = usage_at(101.0, ["ann"], start, end, energy, half_life_s=100.0)
    assert late["ann"] == pytest.approx(32.0, rel=0.005)
    assert decay(100.0, 200.0) == 0.25


def test_usage_is_the_integral_of_the_fading_power():
    start, end, energy = np.array([10.0]), np.array([50.0]), np.array([400.0])
    times = np.linspace(10, 30, 200_001)
    power = 10.0 * 0.5 ** ((30.0 - times) / 7.0)
    exact = usage_at(30.0, ["u"], start, end, energy, half_life_s=7.0)["u"]
    assert exact == pytest.approx(np.trapezoid(power, times), rel=1e-6)
    assert usage_at(5.0, ["u"], start, end, energy, half_life_s=7.0) == {}


@pytest.mark.parametrize(
    ("accounts", "reason"),
    [
        ([Account("a", 0.5), Account("b", 0.4)], "below 'the root' do not add up: 0.9"),
        ([Account("p", 1), Account("a", 0.7, "p"), Account("b", 0.7, "p")], "below 'p'.*1.4"),
        ([Account("a", -1.0), Account("b", 2.0)], "share is -1"),
        ([Account("a", 1.0), Account("b", 1.0, "nobody")], "'nobody' is unknown"),
        ([Account("a", 0.5), Account("a", 0.5)], "'a' is listed twice"),
        ([Account("a", 1.0, "b"), Account("b", 1.0, "a")], "circle"),
        ([Account("", 1.0)], "needs a name"),
    ],
)
def test_bad_trees_are_refused(accounts, reason):
    with pytest.raises(InputError, match=reason):
        ShareTree(accounts)


def test_shares_come_from_a_file(tmp_path):
    path = tmp_path / "shares.toml"
    path.write_text('[[account]]\nname = "a"\nshare = 0.5\n[[account]]\nname = "b"\nshare = 0.4\n')
    with pytest.raises(InputError, match=r"shares\.toml: .*do not add up"):
        read_shares(path)
    path.write_text(path.read_text().replace("0.4", "0.5"))
    assert read_shares(path).leaves == ("a", "b")
    path.write_text('[[account]]\nname = "a"\nshare = "all"\n')
    with pytest.raises(InputError, match="not a number"):
        read_shares(path)


def test_an_unknown_user_is_named():
    with pytest.raises(InputError, match="'zoe' is in no account"):
        ShareTree(TREE).standings({"zoe": 1.0})
