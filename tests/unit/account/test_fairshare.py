"""Fair-share by joules: worked by hand, and shares that do not add up."""

import numpy as np
import pytest

from wattline.account.fairshare import (
    Account,
    ShareTree,
    association_tree,
    decay,
    read_shares,
    uneven,
    usage_at,
)
from wattline.model.errors import InputError
from wattline.site.associations import Association

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
    assert uneven(read_shares(path)) == [
        "the shares below 'the root' add up to 0.9; they count in proportion"]
    assert [s.share for s in read_shares(path).standings({})] == pytest.approx([5 / 9, 4 / 9])
    path.write_text(path.read_text().replace("0.4", "0.5"))
    assert uneven(read_shares(path)) == []
    assert read_shares(path).leaves == ("a", "b")
    path.write_text('[[account]]\nname = "a"\nshare = "all"\n')
    with pytest.raises(InputError, match="not a number"):
        read_shares(path)
    path.write_text('[[account]]\nname = "a"\nshare = 0\n')
    with pytest.raises(InputError, match="must be > 0"):
        read_shares(path)


def test_an_unknown_user_is_named():
    with pytest.raises(InputError, match="'zoe' is in no account"):
        ShareTree(TREE).standings({"zoe": 1.0})


SLURM = [
    Association("c", "root"),
    Association("c", "physics", parent="root", shares=30),
    Association("c", "biology", parent="root", shares=60),
    Association("c", "laser", parent="physics", shares=None),
    Association("c", "physics", "ann", parent="physics", shares=3, default=True),
    Association("c", "physics", "bob", parent="physics", shares=None),
    Association("c", "laser", "cyd", parent="laser", shares=1),
    Association("c", "biology", "ann", parent="biology", shares=1),
    Association("c", "biology", "ann", "long", "biology", shares=4),
    Association("c", "biology", "bob", parent="biology", shares=0),
    Association("c", "root", "root", parent="root", shares=10),
]


def test_associations_by_hand_as_slurm_counts_them():
    """Of 100 J ann used 20 in physics and 30 in biology, cyd 50 in laser.

    physics: share 30/100, used 70/100. In it ann has 3 of the 4 shares that count: laser has none
    of its own, so cyd's 1 counts beside ann's 3. ann: used 0.2 + (0.7 - 0.2) x 3/4; cyd: 0.5 +
    (0.7 - 0.5) x 1/4. laser and bob stand where physics stands; bob has no share in biology.
    """
    tree = association_tree(SLURM)
    found = {(s.name, s.parent, s.partition): s for s in tree.standings({
        ("ann", "physics", ""): 20.0, ("ann", "biology", "long"): 30.0,
        ("cyd", "laser", ""): 50.0})}
    physics, ann = found["physics", "", ""], found["ann", "physics", ""]
    assert (physics.share, physics.usage_j, physics.effective) == pytest.approx((0.3, 70, 0.7))
    assert (ann.share, ann.effective) == pytest.approx((0.3 * 3 / 4, 0.2 + 0.5 * 3 / 4))
    cyd = found["cyd", "laser", ""]
    assert (cyd.share, cyd.effective) == pytest.approx((0.3 / 4, 0.5 + 0.2 / 4))
    assert found["laser", "physics", ""].usage_j == 50
    for name in (("laser", "physics", ""), ("bob", "physics", "")):
        assert found[name].factor == pytest.approx(physics.factor)
    assert found["bob", "biology", ""].factor == 0
    assert found["ann", "biology", "long"].share == pytest.approx(0.6 * 4 / 5)
    assert found["root", "", ""].share == pytest.approx(0.1)
    assert sum(s.usage_j for s in found.values() if not s.parent) == 100


def test_a_job_is_charged_to_its_association():
    tree = association_tree(SLURM)
    assert tree.leaf("ann", "physics", "long") == ("ann", "physics", "")
    assert tree.leaf("ann", "biology", "long") == ("ann", "biology", "long")
    assert tree.leaf("ann", "biology", "short") == ("ann", "biology", "")
    assert tree.leaf("ann") == ("ann", "physics", ""), "the default account"
    assert tree.leaf("cyd") == ("cyd", "laser", ""), "the only one"
    assert tree.leaf("bob") is None, "one of two, and no default"
    assert tree.leaf("cyd", "physics") is None
    assert tree.leaf("zoe", "physics") is None
    assert tree.leaf("root", "root") == ("root", "", "")


def test_an_account_at_the_top_without_shares_stands_where_the_machine_stands():
    tree = ShareTree([Account("a", None), Account("b", 1.0)])
    assert {s.name: s.factor for s in tree.standings({"a": 1.0})} == {"a": 0.5, "b": 1.0}
    assert {s.name: s.factor for s in tree.standings({})} == {"a": 1.0, "b": 1.0}
