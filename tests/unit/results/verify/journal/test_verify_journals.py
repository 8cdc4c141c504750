"""Journals judged by their lines: healthy ones, and the same with one thing changed.

`bed.journal` was recorded on a Slurm 22.05 with four emulated nodes of 90 to 300 W under a cap of
900 W: six jobs in 53 s, of which job 4 asks for all nodes.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.commands import call, ok

import wattline as wl
from wattline.results.verify.journal.rules import verify_journal

BED = Path(__file__).with_name("bed.journal")
Change = Callable[[list[Any]], None]


def written(folder: Path, change: Change) -> Path:
    """The recorded journal with its values changed, and checksums that fit."""
    values = [json.loads(line.partition(" ")[2]) for line in BED.read_text().splitlines()]
    change(values)
    if isinstance(values[-1], dict) and "entries" in values[-1]:
        values[-1]["entries"] = len(values) - 2
    summed, lines = 0, []
    for value in values:
        text = json.dumps(value, separators=(",", ":"))
        summed = zlib.crc32(text.encode(), summed)
        lines.append(f"{summed:08x} {text}\n")
    path = folder / "changed.journal"
    path.write_text("".join(lines))
    return path


def broken(path: Path) -> dict[str, str]:
    """The first finding of each rule that is broken."""
    return {found.rule: found.sentence for found in reversed(verify_journal(path).findings)}


def test_nothing_is_found_in_the_journal_of_a_real_run() -> None:
    found = verify_journal(BED)
    assert found.sentences == []
    assert [each.rule for each in found.judged] == [
        f"journal.{rule}" for rule in ("lines", "time", "events", "orders", "nodes", "units", "cap",
                                       "measured", "carried-out", "energy")]
    assert [each.rule for each in found.skipped] == ["journal.licences", "journal.ledger"]


def later(values: list[Any], line: int, **changed: Any) -> None:
    """Change fields of the first event of a line; lines are counted from 1."""
    values[line - 1][1][0][1].update(changed)


def order(values: list[Any], line: int) -> list[Any]:
    return values[line - 1][2][0]  # type: ignore[no-any-return]


def _node_twice(values: list[Any]) -> None:
    order(values, 5)[4]["nodes"] = [1]
    later(values, 6, nodes=[1])


def _too_many_watts(values: list[Any]) -> None:
    order(values, 5)[3] = 400.0  # beside 500 W of job 1 and 90 W of the free node


def _ordered_twice(values: list[Any]) -> None:
    values[3][2] = [order(values, 2)]  # job 1, which was seen to run by then


def _never_seen(values: list[Any]) -> None:
    values[16] = [values[16][0] + 70.0, [], []]  # job 6 was seen to run
    values[17][0] += 80.0


def _on_other_nodes(values: list[Any]) -> None:
    later(values, 6, nodes=[3])


def _ended_twice(values: list[Any]) -> None:
    values[-2][1] = [["ended", {"job": "3"}], *values[-2][1]]


def _more_than_nodes(values: list[Any]) -> None:
    values[9][2] = [["start", "4", 1.0, 300.0, {"units": 3}]]


def _too_many_joules(values: list[Any]) -> None:
    later(values, 10, energy_j=90_000.0)  # 10 s on one node of 300 W


def _fewer_joules(values: list[Any]) -> None:
    values[8][1] = [["measured", {"job": "1", "watts": 480.0, "energy_j": 7_700.0}]]


def _meters_that_stood_still(values: list[Any]) -> None:
    later(values, 10, energy_j=200.0)  # 10.338 s less 5 s at 90 W idle are 480.4 J, half is 240


def _time_goes_back(values: list[Any]) -> None:
    values[4][0] -= 100.0


def _above_for_long(values: list[Any]) -> None:
    time_s = values[-2][0]
    values[-1:-1] = [[time_s + late, [["measured", {"watts": 950.0}]], []] for late in (1, 40, 70)]


def _out_of_order(values: list[Any]) -> None:
    values[1][1].insert(0, ["nodesdown", {"nodes": [1]}])


CASES: dict[str, tuple[Change, str, str]] = {
    "a node given twice": (_node_twice, "nodes", "job 3 gets node 1, which job 1 holds"),
    "a node out of order": (_out_of_order, "nodes", "job 1 gets node 1, which is out of order"),
    "a start above the cap": (_too_many_watts, "cap", "990 W are drawn, where the cap is 900 W"),
    "a start ordered twice": (_ordered_twice, "orders", "start is ordered of job 1, which runs"),
    "a start nobody saw": (_never_seen, "carried-out", "is neither seen nor taken back"),
    "a start on other nodes": (_on_other_nodes, "carried-out", "on other nodes than it runs on"),
    "an end twice": (_ended_twice, "events", "something is told of job 3, which is over"),
    "more nodes than there are": (_more_than_nodes, "units", "jobs hold 5 nodes of 4"),
    "joules of many nodes": (_too_many_joules, "energy", "J at most in its time"),
    "joules that become less": (_fewer_joules, "energy", "showed 7700 J before"),
    "joules of less than idle nodes": (_meters_that_stood_still, "energy",
                                       "its nodes draw 480.4"),
    "time that goes back": (_time_goes_back, "time", "time goes back"),
    "measured above the cap": (_above_for_long, "measured", "950 W, above its cap of 900 W"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_changed_journal_is_found_out(tmp_path: Path, name: str) -> None:
    change, rule, sentence = CASES[name]
    assert sentence in broken(written(tmp_path, change))[f"journal.{rule}"]


def test_the_time_before_a_pause_counts_for_the_joules_of_a_job(tmp_path: Path) -> None:
    """Job 7 has a node of 300 W for 100 s, pauses for 100 s and has it for 50 s more: with the 5 s
    that a meter may be late 46.5 kJ, of which it may be off by a tenth."""
    def paused(energy_j: float) -> Callable[[list[Any]], None]:
        def change(values: list[Any]) -> None:
            end_s = values[-2][0]

            def at(late_s: float, events: list[Any], *orders: list[Any]) -> list[Any]:
                return [end_s + late_s, events, list(orders)]

            asked = {"job": "7", "units": 1, "requested_s": 900.0, "watts": 300.0}
            values[-1:-1] = [
                at(1, [["submitted", asked]], ["start", "7", 1.0, 300.0, {"nodes": [0]}]),
                at(2, [["started", {"job": "7", "nodes": [0]}]]),
                at(101, [], ["pause", "7", 0.0, 0.0, {}]),
                at(201, [], ["resume", "7", 1.0, 300.0, {"nodes": [1]}]),
                at(202, [["started", {"job": "7", "nodes": [1]}]]),
                at(251, [["ended", {"job": "7", "energy_j": energy_j}]])]
        return change

    assert broken(written(tmp_path, paused(45_000.0))) == {}
    said = broken(written(tmp_path, paused(52_000.0)))
    assert "its nodes draw 46500 J at most" in said["journal.energy"]


def test_less_than_a_minute_above_the_cap_is_the_time_to_react(tmp_path: Path) -> None:
    def shorter(values: list[Any]) -> None:
        _above_for_long(values)
        values[-2][1][0][1]["watts"] = 890.0

    assert broken(written(tmp_path, shorter)) == {}


def test_a_line_that_was_changed_does_not_fit_its_checksum(tmp_path: Path) -> None:
    path = tmp_path / "edited.journal"
    path.write_text(BED.read_text().replace('"watts":500.0', '"watts":501.0', 1))
    assert "the checksum of line 2 does not fit" in broken(path)["journal.lines"]


def test_a_journal_that_was_cut_off_says_so(tmp_path: Path) -> None:
    path = tmp_path / "cut.journal"
    path.write_text("".join(BED.read_text().splitlines(keepends=True)[:-1]))
    found = verify_journal(path)
    assert found.sentences == []
    assert any(each.rule == "journal.lines" and "no last line" in each.why
               for each in found.skipped)


@pytest.mark.parametrize("power", ["none", "watts", "block", "wait", "adaptive"])
def test_journals_of_simulations_hold_together(tmp_path: Path, power: str) -> None:
    trace = wl.generate("lublin", seed=4, jobs=60, nodes=16)
    machine = wl.Machine(nodes=16, node_idle_w=90, node_active_w=300)
    cap = {} if power == "none" else {"cap": "3kW"}
    wl.simulate(trace, machine=machine, power=power, journal=tmp_path / "journal", **cap)
    found = verify_journal(tmp_path / "journal")
    assert found.sentences == []
    assert "journal.orders" in [each.rule for each in found.judged]


def test_the_command_takes_journals_beside_run_folders(tmp_path: Path, capsys: Any) -> None:
    said = ok(capsys, "verify", BED)
    assert "nothing is broken" in said
    assert "journal.cap" in said
    status, out, _ = call(capsys, "verify", written(tmp_path, _node_twice), "--json")
    assert status == 1
    (run,) = json.loads(out)["runs"]
    assert run["findings"][0]["rule"] == "journal.nodes"
    assert run["findings"][0]["job"] == 3
