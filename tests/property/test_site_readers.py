"""Readers of a site's files survive any text: what they cannot read is one line."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import costing

from wattline.model.errors import InputError
from wattline.model.units import fold_hosts, parse_hosts
from wattline.model.views.build import read_views
from wattline.site.associations import read_associations
from wattline.site.importing import import_views

WORDS = {
    "slurm.conf": ["NodeName=", "DEFAULT", "n[1-3]", "n[01-1", "CPUs=4", "Procs=x", "Sockets=0",
                   "Gres=gpu:a:2(S:0),", "PartitionName=p", "Nodes=ALL", "Include ", "slurm.conf",
                   "\\\n", "#", '"', "NodeSet=s", "Feature=", "RealMemory=9K", "DownNodes=n1"],
    "topology.conf": ["SwitchName=s", "[1-2]", "Switches=s1,s2", "Nodes=n[1-4]", "BlockName=b",
                      "BlockSizes=4", "LinkSpeed=", "\\", "#"],
    "gres.conf": ["NodeName=n1", "Name=gpu", "Count=2K", "File=/dev/n[0-3]", "AutoDetect=nvml"],
    "topology.yaml": ["- topology: a\n", "  tree:\n", "    switches:\n", "      - switch: s\n",
                      "        nodes: n[1-2]\n", "        children: s\n", "  flat: true\n", "&x",
                      "*x", "!!python/name:os.system", "{", "}", "[", "]", "2024-99-99", "1e999"],
    "table.csv": ["child,parent", "n[1-3]", "n1", "r1", ",", ";", '"', '""', "\t", "[", "]"],
    "chassis.json": ["[", "]", "{", "}", ",", ":", '"@odata.id"', '"/a/b"', '"Links"', "null",
                     '"ChassisType"', '"Contains"', '"ContainedBy"', '"ComputerSystems"', "1e999"],
}
TABLE = ["Cluster|Account|User|Share\n", "c|root||1\n", "c| a|u|parent\n", "c| a||2\n", "|", "-1",
         "add account a\n", "add user u account=a\n", "modify user u set fairshare=3\n", '"',
         "Cluster - 'c':Fairshare=1\n", "Parent - 'a'\n", "User - 'u':Fairshare=x\n"]
ODD = ["\0", "\x07", "é", " ", "\n", "=", "<b>", "'", "=1+1", "\u2028"]


def texts(words: list[str]) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from([*words, *ODD]), max_size=14).map("".join)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("site")


@pytest.mark.parametrize("name", WORDS)
@costing(5)
@given(data=st.data())
def test_any_text_makes_views_or_one_line(name: str, data: st.DataObject, folder: Path) -> None:
    file, views = folder / name, folder / "views.toml"
    file.write_text(data.draw(texts(WORDS[name])), encoding="utf-8")
    sources = [file]
    if name == "gres.conf":
        (folder / "nodes.conf").write_text("NodeName=n[1-2] Gres=gpu:1\n")
        sources.append(folder / "nodes.conf")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = import_views(*sources, output=views)
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017
            return
    again = read_views(views)
    assert {key: view.tree.names for key, view in again.items()} == {
        key: view.tree.names for key, view in found.views.items()}


@costing(5)
@given(text=texts(TABLE))
def test_any_text_makes_associations_or_one_line(text: str, folder: Path) -> None:
    file = folder / "assoc.txt"
    file.write_text(text, encoding="utf-8")
    try:
        found = read_associations(file)
    except InputError as error:
        assert "\n" not in str(error)  # noqa: PT017
        return
    accounts = {(row.cluster, row.account) for row in found.rows if not row.user}
    assert all((row.cluster, row.parent) in accounts for row in found.rows if row.parent)


NAMES = st.lists(st.from_regex(r"[a-z]{1,3}(-[a-z]{1,2})?[0-9]{0,3}(-ib)?", fullmatch=True),
                 min_size=1, max_size=12)


@costing(5)
@given(names=NAMES)
def test_folded_names_are_the_same_names_in_the_same_order(names: list[str]) -> None:
    assert parse_hosts(fold_hosts(names)) == names
