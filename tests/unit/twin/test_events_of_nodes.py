"""Nodes that were down: states that are known, times that can be placed, a log that agrees."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.support.twin_sites import CONF, sacct, site, submit

from wattline.model.errors import InputError
from wattline.scenario.twin.site import Site
from wattline.site.down import DOWN, DRAINS, SLEEPS, STRANGE, Down

HEADER = "NodeName|TimeStart|TimeEnd|State|Reason\n"
FLAGS = ("", "*", "~", "#", "!", "%", "$", "@", "+", "^", "-")


def _events(folder: Path, rows: str, log: str = "", conf: str = CONF) -> Site:
    (folder / "down").write_text(HEADER + rows)
    return site(folder, log or submit("-n 1") + submit("-n 1", 1000), conf,
                down=str(folder / "down"))


def _logged(folder: Path, rows: str) -> Site:
    """Jobs 1 to 12, one after the other on n1 to n4: 240 s each, from 08:00:05 to 08:15:05."""
    (folder / "down").write_text(HEADER + rows)
    return site(folder, sacct(folder)["sacct.txt"].read_text(), kind="sacct",
                down=str(folder / "down"))


@pytest.mark.parametrize("flag", FLAGS)
@pytest.mark.parametrize("state", ["FOO", "DWN", "OK", ""])
def test_an_unknown_state_is_named_and_no_outage(tmp_path: Path, state: str, flag: str) -> None:
    found = _events(tmp_path, f"n1|0|Unknown|{state}{flag}|x\n")
    assert found.outages is None
    (said,) = [line for line in found.lists.unknown if "down:" in line]
    assert said.startswith(f"{tmp_path / 'down'}:2: State={state}{flag} of n1: ")
    assert said.endswith("it counts as no outage")
    assert not any("of nodes" in line for line in found.lists.understood)


def test_states_that_nobody_knows_are_counted(tmp_path: Path) -> None:
    found = _events(tmp_path, "".join(f"n{row}|0|9|FOO|x\n" for row in (1, 2, 3))
                    + "n4|0|9|DOWN+BAR|x\n")
    said = [line.partition(": ")[2] for line in found.lists.unknown if "down:" in line]
    assert said == [
        "State=FOO of n1 and 2 spans more: 'FOO' is no state of a node that is known here; it "
        "counts as no outage",
        "State=DOWN+BAR of n4: 'BAR' is no state of a node that is known here"]
    assert found.outages is not None
    assert [found.machine.nodes.names[row] for row in found.outages.node] == ["n4"]


@pytest.mark.parametrize("flag", FLAGS)
@pytest.mark.parametrize(("state", "effect"), [
    ("DOWN", DOWN), ("DRAIN", DRAINS), ("DRAINING", DRAINS), ("DRAINED", DRAINS), ("FAIL", DRAINS),
    ("FAILING", DRAINS), ("MAINT", DRAINS), ("NOT_RESPONDING", DRAINS),
    ("IDLE+NOT_RESPONDING", DRAINS), ("DOWN+NOT_RESPONDING", DOWN), ("DOWN+DRAIN", DOWN),
    ("MAINT+DRAIN", DRAINS), ("INVAL", DRAINS), ("POWER_DRAIN", DRAINS)])
def test_slurms_states_are_known_with_every_flag(state: str, effect: str, flag: str) -> None:
    found = Down("n1", 0.0, None, f"{state}{flag}")
    assert (found.effect, found.strange) == (effect, ())


@pytest.mark.parametrize("state", ["POWERED_DOWN", "POWERING_DOWN", "POWERING_UP", "POWER_DOWN",
                                   "POWRING_DN", "POW_UP", "IDLE+POWERED_DOWN", "idle~", "mixed#"])
def test_words_about_power_are_no_outage(state: str) -> None:
    found = Down("n1", 0.0, None, state)
    assert (found.effect, found.strange) == (SLEEPS, ())
    assert Down("n1", 0.0, None, f"{state}+FOO").strange == ("FOO",)
    assert Down("n1", 0.0, None, "FOO~").effect == STRANGE


@pytest.mark.parametrize("where", ["node", "down"])
@pytest.mark.parametrize(("state", "out"), [("DOWN", True), ("DRAIN", True), ("FAIL", True),
                                            ("FOO", None), ("UNKNOWN", False)])
def test_states_of_slurm_conf_are_known_or_named(
    tmp_path: Path, state: str, out: bool | None, where: str,
) -> None:
    conf = CONF + f"DownNodes=n1 State={state}\n" if where == "down" else CONF.replace(
        "NodeName=g1", f"NodeName=g1 State={state}")
    found = site(tmp_path, submit("-n 1"), conf)
    assert (found.outages is not None) == bool(out)
    assert any("State=FOO is no state" in line for line in found.lists.unknown) == (out is None)


@pytest.mark.parametrize("end", ["2025-03-04T09:00:00", "Unknown", "2025-03-04T09:00:00+01:00"])
@pytest.mark.parametrize("start", ["2025-03-04T08:00:00", "2025-03-04T08:00:00+01:00"])
def test_times_of_day_do_not_go_with_submissions(tmp_path: Path, start: str, end: str) -> None:
    with pytest.raises(InputError, match=r"down:2: has a time of day, and the log has none"):
        _events(tmp_path, f"n1|{start}|{end}|DOWN|x\n")


def test_reservations_by_the_clock_do_not_go_with_submissions(tmp_path: Path) -> None:
    (tmp_path / "resv").write_text("ReservationName=a StartTime=2025-03-04T08:00:00 "
                                   "EndTime=2025-03-04T09:00:00 Nodes=n1 Flags=MAINT\n")
    with pytest.raises(InputError, match=r"resv:1: has a time of day, and the log has none"):
        site(tmp_path, submit("-n 1"), reservations=str(tmp_path / "resv"))


def test_a_reservation_of_before_the_log_is_named(tmp_path: Path) -> None:
    (tmp_path / "resv").write_text("ReservationName=a StartTime=2025-03-01T08:00:00 "
                                   "EndTime=2025-03-01T09:00:00 Nodes=n1 Flags=MAINT\n")
    found = site(tmp_path, sacct(tmp_path)["sacct.txt"].read_text(), kind="sacct",
                 reservations=str(tmp_path / "resv"))
    assert any("'a' ended before the log begins" in line for line in found.lists.contradictions)


def test_a_span_after_the_last_submission_is_said(tmp_path: Path) -> None:
    for start, said in ((500, False), (999, False), (1000, True), (10**9, True)):
        found = _events(tmp_path, f"n1|{start}|Unknown|DOWN|x\n")
        assert any("1 span after the last submission" in line
                   for line in found.lists.assumed) == said
        assert found.outages is not None


BEFORE = "n1|2025-03-03T08:00:00|2025-03-03T09:00:00|DOWN|x\n"
AFTER = "n1|2025-03-05T08:00:00|Unknown|DOWN|x\n"
SECONDS = "n1|100|200|DOWN|x\n"
WITHIN = "g1|2025-03-04T08:05:00|2025-03-04T08:06:00|DOWN|x\n"


@pytest.mark.parametrize("outside", [BEFORE, AFTER, SECONDS, BEFORE + AFTER])
@pytest.mark.parametrize("within", ["", WITHIN])
def test_spans_outside_of_a_log_are_said(tmp_path: Path, outside: str, within: str) -> None:
    lists = _logged(tmp_path, outside + within).lists
    count = outside.count("\n")
    none = [line for line in lists.contradictions if "lies in the time of the log" in line]
    some = [line for line in lists.understood if "outside of the time of the log" in line]
    assert (len(none), len(some)) == ((0, 1) if within else (1, 0))
    said = f"{count} of {count + 1} spans" if within else f"{count} span"
    assert said in (some or none)[0]
    assert "2025-03-04T08:00:00 to 2025-03-04T08:15:05" in (some or none)[0]


def test_spans_within_a_log_need_no_word(tmp_path: Path) -> None:
    lists = _logged(tmp_path, WITHIN).lists
    assert not any("time of the log" in line for line in (*lists.contradictions, *lists.understood))
    assert not any("by the files" in line for line in lists.contradictions)


@pytest.mark.parametrize(("row", "said"), [
    # Jobs 1, 5, 9 ran on n1 from 08:00:05, 08:04:05, 08:08:05 for 240 s each.
    ("n1|2025-03-04T08:00:00|2025-03-04T09:00:00|DOWN|x", "3 jobs ran on nodes while they were "
     "down by the files (n1): 1, 5, 9"),
    ("n1|2025-03-04T08:06:00|2025-03-04T08:07:30|DOWN*|x", "1 job ran on nodes while they were "
     "down by the files (n1): 5"),
    ("n1|2025-03-04T08:06:00|2025-03-04T09:00:00|DRAIN|x", "1 job started on nodes while they were "
     "drained by the files (n1): 9"),
    ("n[1-2]|2025-03-04T07:00:00|Unknown|DRAIN|x", "6 jobs started on nodes while they were "
     "drained by the files (n1, n2): 1, 2, 5, 6, 9, ..."),
    ("n1|2025-03-04T08:12:05|2025-03-04T09:00:00|DOWN|its last job was lost", ""),
    ("n1|2025-03-04T08:08:00|2025-03-04T09:00:00|DRAIN|within a minute", ""),
    ("n1|2025-03-04T08:00:00|2025-03-04T09:00:00|POW_DN|x", ""),
    ("g1|2025-03-04T08:00:00|2025-03-04T09:00:00|DOWN|nobody was there", "")])
def test_jobs_that_ran_on_nodes_that_were_out_are_counted(
    tmp_path: Path, row: str, said: str,
) -> None:
    found = _logged(tmp_path, f"{row}\n")
    lines = [line for line in found.lists.contradictions if "by the files" in line]
    assert [line.partition(": ")[2] for line in lines] == ([said] if said else [])
    assert np.isfinite([job.start_s for job in found.log.jobs]).all()


@pytest.mark.parametrize("text", [
    "", "n1|0|9|DOWN|x\n", "NodeName TimeStart TimeEnd State\n-------- ---\nn1 0 9 DOWN\n",
    "Cluster|Account|User|Share\nsmall|root||1\n", "Name|Priority\nnormal|0\n"])
def test_a_wrong_file_of_events_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "down").write_text(text)
    with pytest.raises(InputError) as error:
        site(tmp_path, submit("-n 1"), down=str(tmp_path / "down"))
    assert str(error.value).startswith(str(tmp_path / "down"))
    assert "\n" not in str(error.value)
