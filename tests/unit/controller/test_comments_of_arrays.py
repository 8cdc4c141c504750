"""Joules in the comments of jobs that share a number: tasks of an array, parts of a job."""

from __future__ import annotations

import re

import pytest

from wattline.controller.joules.commenting import Commenter


class Accounting:
    """By a label `sacctmgr` changes one row, by the number of the whole all of its rows."""

    def __init__(self, labels: list[str]) -> None:
        self.comments = {label: f"text of {label}" for label in labels}

    def run(self, *command: str) -> str:
        if command[0] == "sacctmgr":
            meant = command[command.index("where") + 1].removeprefix("jobid=")
            field, _, text = command[-1].partition("=")
            assert field == "AdminComment"
            for label in self._rows(meant):
                self.comments[label] = text
            return ""
        separator = command[command.index("--delimiter") + 1]
        return "".join(
            separator.join((label, "2026-10-05T10:00:12", self.comments[label], "")) + "\n"
            for label in self._rows(command[command.index("-j") + 1]))

    def _rows(self, meant: str) -> list[str]:
        return [label for label in self.comments
                if meant in (label, re.split(r"[_+]", label)[0])]


@pytest.mark.parametrize("last_first", [False, True])
@pytest.mark.parametrize("labels", [["33_1", "33_2", "33_3"], ["4+0", "4+1"], ["7"]])
def test_each_has_its_own_joules_behind_its_own_text(labels: list[str], last_first: bool) -> None:
    accounting = Accounting(labels)
    for label in labels[::-1] if last_first else labels:
        assert Commenter(accounting).say(label, 100.0 * (1 + labels.index(label))) == ""
    assert accounting.comments == {
        label: f"text of {label}; energy={100 * number}j" for number, label in enumerate(labels, 1)}
