"""Files of sacctmgr: nothing of them is dropped without a word, and wrong ones are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.twin_sites import ACCOUNTS, CONF, sacct, site, submit

from wattline.model.errors import InputError
from wattline.scenario.twin.site import Site

SCRIPT = """\
add qos Name=high Priority=100
add cluster Name=small Fairshare=1 QOS=normal,high
add account name=phys Fairshare=10 Description=light Organization=uni
add user name=ada DefaultAccount=phys AdminLevel=None MaxJobs=5
"""
DUMP = """\
Cluster - 'small':Fairshare=1:QOS='normal'
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'phys':Description='light: matter':Organization='uni':Fairshare=10
Parent - 'phys'
User - 'ada':DefaultAccount='phys':Fairshare=1:MaxJobs=5
"""
TREE = """\
Cluster|Account|User|Partition|Share|Priority|MaxJobs|QOS|Def QOS
small|root|||1|||normal|
small| root|root||1|||normal|
small| phys|||10|||normal|
small|  phys|ada||1||5|normal|
"""
QOS = """\
Name|Priority|GraceTime|Preempt|MaxTRESPU
normal|0|00:00:00||
high|100|00:00:00||cpu=8
"""
EVENTS = """\
NodeName|TimeStart|TimeEnd|State|Reason
n1|2025-03-04T08:00:00|2025-03-04T09:00:00|DOWN|x
"""
FIXED = """\
   Cluster    Account       User  Partition     Share
---------- ---------- ---------- ---------- ---------
     small       root                               1
     small       phys        ada                    1
"""
LOG = submit("-n 1")
FILES = {"script": SCRIPT, "dump": DUMP, "table": TREE}


def _site(folder: Path, accounts: str | None, **fields: str) -> Site:
    for name, text in fields.items():
        (folder / name).write_text(text)
    return site(folder, LOG, CONF, accounts, **{name: str(folder / name) for name in fields})


def _unknown(found: Site) -> list[str]:
    """Return what is said beside the three words that the configuration has for other tests."""
    return [line for line in found.lists.unknown if "slurm.conf" not in line]


@pytest.mark.parametrize("kind", FILES)
def test_all_that_sacctmgr_writes_is_known(tmp_path: Path, kind: str) -> None:
    assert _unknown(_site(tmp_path, FILES[kind])) == []


@pytest.mark.parametrize("line", [1, 2, 3, 4])
@pytest.mark.parametrize("key", ["FooBar=3", "MaxTRESPerUsr=cpu=2", "FooBar+=3"])
def test_an_unknown_key_of_a_script_is_listed_with_its_line(
    tmp_path: Path, line: int, key: str,
) -> None:
    lines = SCRIPT.splitlines()
    lines[line - 1] += f" {key}"
    (said,) = _unknown(_site(tmp_path, "\n".join(lines) + "\n"))
    assert said.startswith(f"{tmp_path / 'assoc'}:{line}: {key} of ")


@pytest.mark.parametrize("change", [
    "modify qos high set FooBar=3", "modify qos where Wibble=7 name=high set Priority=1",
    "modify user name=ada set FooBar=3", "modify account where Wibble=2 name=phys set MaxJobs=3",
    "modify user name=nobody set MaxJobs=3", "remove account nosuch",
    "modfy user ada set MaxJobs=1", "modfy qos high set Priority=1"])
def test_a_command_that_is_not_followed_whole_is_listed(tmp_path: Path, change: str) -> None:
    (said,) = _unknown(_site(tmp_path, f"{SCRIPT}{change}\n"))
    assert said.startswith(f"{tmp_path / 'assoc'}:5: ")


@pytest.mark.parametrize("line", [1, 4, 6])
@pytest.mark.parametrize("key", [":FooBar=3", ":FooBar='a: b'", ":FooBar"])
def test_an_unknown_key_of_a_dump_is_listed_with_its_line(
    tmp_path: Path, line: int, key: str,
) -> None:
    lines = DUMP.splitlines()
    lines[line - 1] += key
    (said,) = _unknown(_site(tmp_path, "\n".join(lines) + "\n"))
    assert said.startswith(f"{tmp_path / 'assoc'}:{line}: ")
    assert "FooBar" in said


@pytest.mark.parametrize("line", ["Use", "Usr - 'bob':Fairshare=1", "}"])
def test_a_line_of_a_dump_that_is_none_is_listed(tmp_path: Path, line: str) -> None:
    (said,) = _unknown(_site(tmp_path, f"{DUMP}{line}\n"))
    assert said.startswith(f"{tmp_path / 'assoc'}:7: '{line}' is no")


@pytest.mark.parametrize(("table", "option"), [(TREE, "assoc"), (QOS, "assoc"), (QOS, "qos")])
def test_an_unknown_column_is_listed(tmp_path: Path, table: str, option: str) -> None:
    lines = table.splitlines()
    wide = "\n".join([f"{lines[0]}|FooBar", *(f"{line}|3" for line in lines[1:])]) + "\n"
    found = _site(tmp_path, wide) if option == "assoc" else _site(tmp_path, ACCOUNTS, qos=wide)
    assert _unknown(found) == [f"{tmp_path / option}:1: column FooBar"]


def _log_of_jobs(folder: Path) -> str:
    found: str = sacct(folder)["sacct.txt"].read_text()
    return found


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("wrong", ["events", "jobs", "fixed", "conf", "tree", "qos", "empty"])
def test_a_wrong_file_of_accounts_is_refused(tmp_path: Path, wrong: str, header: bool) -> None:
    text = {"events": EVENTS, "jobs": _log_of_jobs(tmp_path), "fixed": FIXED, "conf": CONF,
            "tree": TREE, "qos": QOS, "empty": ""}[wrong]
    if header and wrong in ("tree", "qos"):
        assert _site(tmp_path, text).lists.unknown  # these two are right: Wibble of the conf
        return
    if not header:
        text = text.partition("\n")[2]
    with pytest.raises(InputError) as error:
        _site(tmp_path, text)
    assert str(error.value).startswith(f"{tmp_path / 'assoc'}:")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("wrong", ["events", "jobs", "fixed", "tree", "dump", "script", "empty"])
def test_a_wrong_file_of_qos_is_refused(tmp_path: Path, wrong: str) -> None:
    text = {"events": EVENTS, "jobs": _log_of_jobs(tmp_path), "fixed": FIXED, "tree": TREE,
            "dump": DUMP, "script": "add account name=phys\n", "empty": ""}[wrong]
    with pytest.raises(InputError, match=r"qos: (has no QOS|is empty)"):
        _site(tmp_path, ACCOUNTS, qos=text)


def test_two_files_swapped_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no QOS"):
        _site(tmp_path, QOS, qos=TREE)


@pytest.mark.parametrize("kind", FILES)
def test_a_bad_limit_names_line_and_key_as_written(tmp_path: Path, kind: str) -> None:
    text = FILES[kind].replace("MaxJobs=5", "MaxJobs=abc").replace("||5|", "||abc|")
    line = {"script": 4, "dump": 6, "table": 5}[kind]
    with pytest.raises(InputError) as error:
        _site(tmp_path, text)
    assert str(error.value).startswith(f"{tmp_path / 'assoc'}:{line}: ada: MaxJobs is 'abc'")


@pytest.mark.parametrize(("text", "line"), [
    (SCRIPT + "add user name=ben DefaultAccount=nosuch\n", 5),
    (DUMP + "Parent - 'nosuch'\nUser - 'ben':Fairshare=1\n", 8),
    (TREE + "small|  nosuch|ben||1|||normal|\n", 6)])
def test_an_account_that_is_not_there_is_said_with_the_line(
    tmp_path: Path, text: str, line: int,
) -> None:
    with pytest.raises(InputError) as error:
        _site(tmp_path, text)
    assert str(error.value).startswith(
        f"{tmp_path / 'assoc'}:{line}: account 'nosuch', which 'ben' lies in")


@pytest.mark.parametrize("change", [
    "modify user where user=ada set MaxJobs=7", "modify user where users=ada set MaxJobs=7",
    "modify user ada set MaxJobs=7"])
def test_a_user_may_be_named_by_his_own_word(tmp_path: Path, change: str) -> None:
    found = _site(tmp_path, f"{SCRIPT}add user name=ben DefaultAccount=phys MaxJobs=6\n{change}\n")
    rows = found.machine.associations
    limits = {rows.users[user]: int(most) for user, most in
              zip(rows.user, rows.limits.max_jobs, strict=True) if user >= 0}
    assert (limits["ada"], limits["ben"]) == (7, 6)
