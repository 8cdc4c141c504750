"""`wattline replay` of a controller on shared nodes, whose decisions lie beside the journal."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.commands import call, ok
from tests.unit.controller.test_shared_deciding import JOB, NODES, WISH, picture, place

from wattline.controller.configuration import read_configuration
from wattline.controller.remembering import open_remembered
from wattline.controller.sharing.deciding import Decisions, decided
from wattline.controller.sharing.parts import read_section

__all__ = ["place"]
BEGIN_S = 1_790_000_000.25


def journal_of(place: Path, *decided_s: float, begin_s: float = BEGIN_S) -> Path:
    """A controller's folder with a journal, and two starts at each of these times."""
    site = read_configuration(place / "site.toml")
    folder = Path(site.folder)
    folder.mkdir(exist_ok=True)
    kept = open_remembered(site, folder, begin_s, act=True)
    with closing(kept):
        kept.books.step(begin_s + 1.0)
        kept.end(kept.books)
    section = read_section(site.twin)
    for time_s in decided_s:
        at = replace(picture((JOB, WISH), (replace(JOB, label="8"), WISH)), time_s=time_s)
        Decisions(folder / "decisions.jsonl").write(at, decided(section, at, NODES).starts)
    return kept.path


def test_what_was_decided_beside_a_journal_is_counted_and_compared(place: Path, capsys) -> None:
    journal = journal_of(place, BEGIN_S + 2.0, BEGIN_S + 3.0)
    found = json.loads(ok(capsys, "replay", journal, "--json"))
    assert (found["decisions"], found["equal"], found["first_difference"]) == (4, True, None)
    said = ok(capsys, "replay", journal)
    assert "4 decisions" in said
    assert "every decision is the same" in said


def test_a_start_on_another_node_is_a_difference(place: Path, capsys) -> None:
    journal = journal_of(place, BEGIN_S + 2.0)
    file = journal.parent / "decisions.jsonl"
    file.write_text(file.read_text().replace('["7", ["n1"]]', '["7", ["n2"]]'))
    status, out, _ = call(capsys, "replay", journal, "--json")
    found = json.loads(out)
    assert (status, found["equal"]) == (1, False)
    assert found["first_difference"] == {
        "time_s": BEGIN_S + 2.0, "journal": ["start 7 on n2", "start 8 on n1"],
        "here": ["start 7 on n1", "start 8 on n1"]}
    status, out, _ = call(capsys, "replay", journal)
    assert status == 1
    assert "first difference on shared nodes, 2026-09-21 14:13:22 UTC:" in out
    assert "every decision" not in out


@pytest.mark.parametrize("why", ["guard", "no machine file"])
def test_where_nothing_can_be_compared_it_is_said_and_nothing_assured(
    place: Path, why: str, capsys
) -> None:
    journal = journal_of(place, *([] if why == "guard" else [BEGIN_S + 2.0]))
    if why != "guard":
        (place / "twin.toml").unlink()
    found = json.loads(ok(capsys, "replay", journal, "--json"))
    assert (found["decisions"], found["equal"]) == (0, None)
    assert bool(found["remarks"]) is (why != "guard")
    said = ok(capsys, "replay", journal)
    assert "there is no decision to compare" in said
    assert "every decision is the same" not in said
    assert ("cannot be compared" in said) is (why != "guard")


def test_each_journal_of_a_folder_has_the_decisions_of_its_time(place: Path, capsys) -> None:
    """Another cap is another site: the books begin anew, in another journal."""
    first = journal_of(place, BEGIN_S + 2.0, BEGIN_S + 60.0, BEGIN_S + 61.0)
    site = place / "site.toml"
    site.write_text(site.read_text().replace("cap = 2000", "cap = 1900"))
    second = journal_of(place, begin_s=BEGIN_S + 60.0)
    counts = [json.loads(ok(capsys, "replay", each, "--json"))["decisions"]
              for each in (first, second)]
    assert first != second
    assert counts == [4, 2], "what was decided as a journal was put away belongs to that"
