"""Every cluster has a user root, whom fair tree counts among all users."""

from __future__ import annotations

from wattline.scenario.twin.accounts import _with_root
from wattline.site.associations import Association


def test_the_user_root_is_added_once() -> None:
    rows = [Association("c", "root"), Association("c", "lab", parent="root"),
            Association("c", "lab", "ann", parent="lab")]
    made = _with_root(rows)
    assert [(row.account, row.user, row.parent) for row in made[3:]] == [("root", "root", "root")]
    assert _with_root(made) == made
