"""Associations from tables, dumps and scripts of sacctmgr."""

from __future__ import annotations

import pytest
from tests.shared_data import shared

from wattline.model.errors import InputError
from wattline.site.associations import Association, read_associations

TABLE = """Cluster|Account|User|Partition|Share|Priority|QOS
tux|root|||1||normal
tux| root|root||1||normal
tux| physics|||30||normal
tux|  laser|||5||normal
tux|   laser|ann||parent||normal
tux|  physics|bob||2||normal
tux| biology|||60||normal
tux|  biology|ann|long|7||normal
"""
DUMP = """# To edit this file start with a cluster line for the new cluster
Cluster - 'tux':Fairshare=1:QOS='normal'
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'physics':Description='light: matter':Organization='uni':Fairshare=30
Account - 'biology':Fairshare=60
Parent - 'physics'
Account - 'laser':Fairshare=5
User - 'bob':DefaultAccount='physics':Fairshare=2
Parent - 'laser'
User - 'ann':DefaultAccount='laser':Fairshare=parent
Parent - 'biology'
User - 'ann':DefaultAccount='laser':Partition='long':Fairshare=7
"""
SCRIPT = """#!/bin/sh
sacctmgr -i add cluster tux
sacctmgr -i create account name=physics,biology fairshare=30 Description="light, matter"
sacctmgr -i add account laser parent=physics shares=5
sacctmgr -i modify account where name=biology set fairshare=60
add user root account=root
add user Name=bob Account=physics fairshare=9
add user ann DefaultAccount=laser fairshare=parent
add user ann account=biology partition=long fairshare=7
add user gone account=physics
remove user where name=gone
modify user bob set FairShare=2
modify user ann set qos=high
add qos high
"""


def read(tmp_path, text):
    path = tmp_path / "assoc.txt"
    path.write_text(text)
    return read_associations(path)


def facts(found):
    return {(row.account, row.user, row.partition): (row.parent, row.shares) for row in found.rows}


def test_table_dump_and_script_say_the_same(tmp_path):
    table, dump, script = (read(tmp_path, text) for text in (TABLE, DUMP, SCRIPT))
    assert facts(table) == facts(dump) == facts(script)
    assert table.clusters == dump.clusters == script.clusters == ("tux",)
    assert facts(table)["laser", "ann", ""] == ("laser", None)
    assert facts(table)["laser", "", ""] == ("physics", 5)
    for found in (dump, script):
        assert {(row.user, row.account) for row in found.rows if row.default} == {
            ("ann", "laser"), ("bob", "physics"), ("root", "root")}
    assert script.remarks == (f"{tmp_path / 'assoc.txt'}: commands that change no association were "
                              "passed over: 1 x 'add qos'",)


def test_clusters_are_kept_apart(tmp_path):
    found = read(tmp_path, TABLE + TABLE.partition("\n")[2].replace("tux", "yak"))
    assert found.clusters == ("tux", "yak")
    assert {row.cluster for row in found.of("yak")} == {"yak"}
    with pytest.raises(InputError, match="has the clusters tux, yak; say which"):
        found.of()
    with pytest.raises(InputError, match="no cluster 'ibex'; it has tux, yak"):
        found.of("ibex")


def test_a_table_without_tree_is_taken_as_flat_and_says_so(tmp_path):
    found = read(tmp_path, "Account|User\nroot|\nphysics|\nphysics|ann\n")
    assert Association("", "physics", parent="root") in found.rows
    assert len(found.remarks) == 2
    assert "every share counts as 1" in found.remarks[0]
    assert "all lie under root" in found.remarks[1]


@pytest.mark.parametrize(("text", "said"), [
    ("", "is empty"),
    ("a|b\n1|2\n", ":1: has no columns Account and User"),
    ("Account|User|Share\nroot|\n", ":2: has 2 columns, the header 3"),
    ("Account|User|Share\nroot||many\n", ":2: the shares are 'many'"),
    ("Account|User|Share\nroot||1\n root|ann|1\n root|ann|2\n", "stands there twice"),
    ("Account|User|Share\nroot||1\nphysics|ann|1\n", "account 'physics', which 'ann' lies in"),
    ("Account|User|Share\n||1\n", ":2: '' is no name"),
    ("add user ann\n", ":1: user 'ann' is added to no account"),
    ('add user "ann\n', ":1: cannot be taken apart"),
    ("hello there\n", "no account or user is in it"),
])
def test_a_mistake_is_one_line(tmp_path, text, said):
    with pytest.raises(InputError) as error:
        read(tmp_path, text)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("script", "users", "accounts"), [
    ("micro/sacctmgr.script", 6, 4), ("medium/sacctmgr_nopriority.script", 96, 63),
    ("medium/sacctmgr_priority100.script", 96, 63), ("medium/sacctmgr_priority200.script", 96, 63)])
def test_the_scripts_of_public_sites_are_read(script, users, accounts):
    found = read_associations(shared(f"slurm_sites/{script}"))
    assert len({row.user for row in found.rows if row.user}) == users
    assert len({row.account for row in found.rows if not row.user}) == accounts
