"""Marks through a pipe, without an agent behind it."""

from __future__ import annotations

import pytest

from wattline.live.agent.marks import Marks, mark
from wattline.model.errors import InputError, WattlineError


def test_names_come_in_their_order_and_once(tmp_path):
    marks = Marks(tmp_path)
    mark(tmp_path, "12")
    mark(tmp_path, "13_4.batch")
    assert marks.jobs() == ["12", "13_4.batch"]
    assert marks.jobs() == []
    marks.close()


def test_what_is_no_name_is_left_out_and_harms_no_other(tmp_path):
    marks = Marks(tmp_path)
    with (tmp_path / "mark").open("wb") as pipe:
        pipe.write(b"\n" + b"x" * 5000 + b"\n\x00\x01\n12\n1")
    assert marks.jobs() == ["12"]
    with (tmp_path / "mark").open("wb") as pipe:
        pipe.write(b"3\n")
    assert marks.jobs() == ["13"]
    marks.close()


def test_without_an_agent_it_is_said_and_nothing_waits(tmp_path):
    with pytest.raises(WattlineError, match="no agent runs"):
        mark(tmp_path, "12")
    Marks(tmp_path).close()
    with pytest.raises(WattlineError, match="nobody reads"):
        mark(tmp_path, "12")


@pytest.mark.parametrize("job", ["", "a\nb", "x" * 41])
def test_a_name_that_cannot_be_one_is_refused(tmp_path, job):
    with pytest.raises(InputError, match="printable"):
        mark(tmp_path, job)
