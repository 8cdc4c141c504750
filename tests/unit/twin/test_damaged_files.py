"""Files of a site that are cut, packed up twice or of another encoding: never without a word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.twin_sites import ACCOUNTS, CONF, sacct, site, submit

from wattline.model.errors import InputError
from wattline.scenario.twin.from_events import NO_SCRIPT, read_events
from wattline.scenario.twin.from_sacct import read_sacct
from wattline.scenario.twin.site import Site
from wattline.site.associations import read_associations
from wattline.site.down import read_down
from wattline.site.qos import read_qos
from wattline.site.reservations import read_reservations

SWITCHES = "SwitchName=a Nodes=n[1-4]\nSwitchName=b Nodes=g1\nSwitchName=top Switches=a,b\n"
EVENTS = "NodeName|TimeStart|TimeEnd|State|Reason\nn1|0|9|DOWN|x\n"
RESERVED = "ReservationName=a StartTime=10 EndTime=20 Nodes=n1\n"


def _site(folder: Path, **texts: str) -> Site:
    for name, text in texts.items():
        (folder / name).write_text(text)
    return site(folder, submit("-n 1"), CONF, ACCOUNTS,
                **{name: str(folder / name) for name in texts})


def _unknown(folder: Path, script: str) -> list[str]:
    found = site(folder, submit("-n 1"), CONF, script).lists.unknown
    return [line.partition(": ")[2] for line in found if "assoc:" in line]


@pytest.mark.parametrize(("line", "said"), [
    ("add qos Name=long Priorit", "'Priorit' has no value, and counts as the name of a further "
     "QOS"),
    ("add account name=chem Fairs", "'Fairs' has no value, and counts as the name of a further "
     "account"),
    ("add user name=eve DefaultAccount=phys MaxSubm", "'MaxSubm' has no value, and counts as the "
     "name of a further user"),
    ("modify user name=ada se", "modifies a user without 'set', which changes nothing"),
    ("modify account phys", "modifies an account without 'set', which changes nothing"),
    ("modify qos high se", "modifies a QOS without 'set', which changes nothing"),
    ("add account name=phys Fairshare=3", "adds account 'phys', which is there already: changes "
     "nothing"),
    ("add user name=ada DefaultAccount=phys", "adds user 'ada' in account 'phys', which is there "
     "already: changes nothing"),
    ("add qos long", ""), ("add account chem", ""), ("add user eve DefaultAccount=phys", "")])
def test_a_command_that_may_be_cut_is_said(tmp_path: Path, line: str, said: str) -> None:
    assert _unknown(tmp_path, f"{ACCOUNTS}{line}\n") == ([said] if said else [])


@pytest.mark.parametrize("line", ["add user", "add account Fairshare=3", "add cluster Fairshare=1",
                                  "add qos Priority=3"])
def test_what_is_added_needs_a_name(tmp_path: Path, line: str) -> None:
    with pytest.raises(InputError, match=r"assoc:5: adds an? \w+ without a name"):
        _unknown(tmp_path, f"{ACCOUNTS}{line}\n")


def test_a_user_who_is_added_twice_keeps_his_limits(tmp_path: Path) -> None:
    line = "add user name=eve DefaultAccount=phys MaxJobs=3\n"
    once, twice = (site(tmp_path, submit("-n 1"), CONF, ACCOUNTS + number * line).machine
                   for number in (1, 2))
    most = [each.associations.limits.max_jobs.tolist() for each in (once, twice)]
    assert most[0] == most[1]
    assert 3 in most[1]


@pytest.mark.parametrize("cut", ["Feature=ib,", "Gres=gpu:1,", "Feature=a,b,"])
def test_a_list_that_ends_with_a_comma_is_said(tmp_path: Path, cut: str) -> None:
    found = site(tmp_path, submit("-n 1"), f"{CONF}NodeName=x1 {cut}\n")
    assert [line.partition(": ")[2] for line in found.lists.contradictions] == [
        f"{cut} ends with a comma, and may be cut off"]


@pytest.mark.parametrize(("text", "said"), [
    (SWITCHES, []), (SWITCHES.replace(" Nodes=g1", ""), ["no switch with g1"]),
    (SWITCHES.replace("[1-4]", "[1-2]"), ["no switch with n[3-4]"]),
    ("\n".join(SWITCHES.splitlines()[:2]), ["no switch is above all: a, b have none above them"]),
    ("SwitchName=a Nodes=n[1-4]\n", ["no switch with g1"])])
def test_a_tree_that_is_not_whole_is_said(tmp_path: Path, text: str, said: list[str]) -> None:
    lines = _site(tmp_path, topology=text).lists.contradictions
    assert len(lines) == len(said)
    assert all(part in line for part, line in zip(said, lines, strict=True))


def test_added_nodes_are_no_lack_of_a_tree(tmp_path: Path) -> None:
    (tmp_path / "topology").write_text(SWITCHES)
    found = site(tmp_path, submit("-n 1"), topology=str(tmp_path / "topology"),
                 add_nodes={"like": "n1", "count": 2})
    assert found.lists.contradictions == ()
    assert "nodes that are added hang on a switch of their own" in found.lists.assumed


@pytest.mark.parametrize(("name", "read"), [
    ("assoc", read_associations), ("qos", read_qos), ("down", read_down),
    ("reservations", read_reservations)])
def test_a_nul_character_is_said_with_its_line(
    tmp_path: Path, name: str, read: Callable[[Path], object],
) -> None:
    text = {"assoc": ACCOUNTS, "qos": "Name|Priority\nnormal|0\n", "down": EVENTS,
            "reservations": RESERVED}[name]
    path = tmp_path / name
    path.write_text(text + "\n# a \0 comment\n")
    line = text.count("\n") + 2
    with pytest.raises(InputError, match=f"{name}:{line}: has a NUL character"):
        read(path)


@pytest.mark.parametrize("name", ["gres", "topology"])
def test_a_key_that_cannot_be_printed_is_refused(tmp_path: Path, name: str) -> None:
    text = {"gres": "NodeName=g1 Na\0me=gpu Count=2\n",
            "topology": SWITCHES.replace("SwitchName=b", "Switch\0Name=b")}[name]
    with pytest.raises(InputError, match=rf"{name}:[12]: '.*\\x00.*' is no key"):
        _site(tmp_path, **{name: text})


@pytest.mark.parametrize("kind", ["events", "sacct"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "crlf"])
def test_logs_of_other_encodings_are_read_or_refused(
    tmp_path: Path, kind: str, encoding: str,
) -> None:
    text = submit("-n 1 -t 5") if kind == "events" else sacct(tmp_path)["sacct.txt"].read_text()
    path, read = tmp_path / "a.log", {"events": read_events, "sacct": read_sacct}[kind]
    data = text.replace("\n", "\r\n").encode() if encoding == "crlf" else text.encode(encoding)
    path.write_bytes(data)
    if "16" in encoding:
        with pytest.raises(InputError, match="not a text file in UTF-8"):
            read(path)
        return
    found = read(path)
    (tmp_path / "plain").write_text(text)
    assert [job.job_id for job in found.jobs] == [job.job_id
                                                  for job in read(tmp_path / "plain").jobs]
    assert found.left_out == ()


@pytest.mark.parametrize("cut", ["-n 1 -t 0", "-n 1 -t 5 -", "-n 1"])
def test_a_submission_without_its_script_is_said(tmp_path: Path, cut: str) -> None:
    head = "-dt 0 -e submit_batch_job | -sim-walltime 5 "
    (tmp_path / "log").write_text(f"{head}-n 1 -t 5 a.sh\n{head}{cut}\n")
    assert read_events(tmp_path / "log").filled == (f"1 job: {NO_SCRIPT} (2)",)
    (tmp_path / "log").write_text(f"{head}{cut}\n{head}{cut}\n")
    assert read_events(tmp_path / "log").filled == ()


@pytest.mark.parametrize("column", ["Submit", "Start", "End"])
@pytest.mark.parametrize("cell", ["2025-03-04T08:0x:00", "2025-03-04T", "abc"])
def test_a_time_that_cannot_be_read_is_no_job_that_never_started(
    tmp_path: Path, column: str, cell: str,
) -> None:
    lines = sacct(tmp_path)["sacct.txt"].read_text().splitlines()
    place = lines[0].split("|").index(column)
    cells = lines[3].split("|")
    lines[3] = "|".join((*cells[:place], cell, *cells[place + 1:]))
    (tmp_path / "log").write_text("\n".join(lines) + "\n")
    found = read_sacct(tmp_path / "log")
    assert found.left_out == (f"1 job: its {column} cannot be read (3)",)
    assert len(found.jobs) == 11


@pytest.mark.parametrize("cell", ["Unknown", "None", ""])
def test_a_time_that_is_not_there_is_as_before(tmp_path: Path, cell: str) -> None:
    lines = sacct(tmp_path)["sacct.txt"].read_text().splitlines()
    cells = lines[3].split("|")
    at = lines[0].split("|").index("End")
    cells[at], cells[-1] = cell, "RUNNING"
    lines[3] = "|".join(cells)
    (tmp_path / "log").write_text("\n".join(lines) + "\n")
    found = read_sacct(tmp_path / "log")
    assert found.left_out == ()
    assert any("still ran" in line for line in found.filled)
