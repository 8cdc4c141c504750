"""A power to follow: read, bounded, forgotten when it is old, and errors told."""

from __future__ import annotations

import math
import os
import time
from pathlib import Path
from typing import Any

import pytest
from tests.unit.controller.test_keeping_cap import Site

from wattline.controller import target as target_module
from wattline.controller.configuration import read_configuration
from wattline.controller.target import FileSource, Target, TopicSource
from wattline.model.errors import InputError


def target(tmp_path: Path, said: str = "900W", at_s: float = 100.0, **more) -> Target:
    file = tmp_path / "target"
    file.write_text(said)
    os.utime(file, (at_s, at_s))
    return Target(FileSource(file), 1300.0, 10.0, [], **more)


def test_a_target_holds_until_it_is_old(tmp_path: Path) -> None:
    here = target(tmp_path)
    assert here.watts(105.0) == 900.0
    assert here.notes == []
    assert [here.watts(111.0), here.watts(112.0)] == [math.inf, math.inf]
    assert len(here.notes) == 1
    assert "has said nothing for 10 s" in here.notes[0]


@pytest.mark.parametrize(("ahead_s", "followed"), [(1.0, True), (9.9, True), (10.1, False),
                                                   (86400.0, False)])
def test_a_target_from_far_ahead_of_the_clock_is_of_no_known_age(
    tmp_path: Path, ahead_s: float, followed: bool
) -> None:
    here = target(tmp_path, at_s=100.0 + ahead_s)
    assert [here.watts(100.0), here.watts(100.01)] == [900.0 if followed else math.inf] * 2
    assert len(here.notes) == (not followed)
    assert followed or "ahead of this machine's clock" in here.notes[0]


def test_what_a_broker_kept_is_not_followed_until_something_new_is_said(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: dict[str, Any] = {}

    class Linked:
        def __init__(self, broker, client, topics, hear, *, retained) -> None:
            heard.update(new=hear, kept=retained)

    monkeypatch.setattr(target_module, "Link", Linked)
    here = Target(TopicSource(None, "grid/target", "me"), 1300.0, 10.0, [])
    heard["kept"]("grid/target", b"900W")
    now_s = time.time()
    assert [here.watts(now_s), here.watts(now_s)] == [math.inf, math.inf]
    assert len(here.notes) == 1
    assert "what the broker has kept (retain)" in here.notes[0]
    heard["new"]("grid/target", b"800W")
    assert here.watts(time.time()) == 800.0
    heard["kept"]("grid/target", b"900W")  # connected anew
    assert here.watts(time.time()) == 800.0


@pytest.mark.parametrize("said", ["", "much", "0", "-5", "nan", "1.4kW", "9" * 200])
def test_a_target_that_cannot_be_is_not_followed_and_said_once(tmp_path: Path, said: str) -> None:
    here = target(tmp_path, said)
    assert [here.watts(101.0), here.watts(102.0)] == [math.inf, math.inf]
    assert len(here.notes) == 1
    assert "no target is followed" in here.notes[0]


def test_errors_are_of_the_second_that_a_reading_is_of(tmp_path: Path) -> None:
    """At 100 s 900 W, at 102.5 s 1,000 W: the reading of 103 s is held to 950 W."""
    readings = {101.5: 930.0, 103.0: 940.0}
    here = target(tmp_path, measured=lambda now_s: (readings[now_s], now_s), reserve_w=100.0)
    assert here.status(101.0)["error_w_mean"] is None
    here.sample(101.5)
    os.utime(here.source.file, (102.5, 102.5))
    here.source.file.write_text("1kW")
    os.utime(here.source.file, (102.5, 102.5))
    here.sample(103.0)
    here.sample(103.0)
    said = here.status(103.0)
    assert (said["watts"], said["samples"]) == (1000.0, 2)
    assert said["error_w_mean"] == pytest.approx(20.0)
    assert said["error_of_reserve_p90"] == pytest.approx(0.28)


def test_nodes_meet_a_target_and_no_job_steps_aside_for_it() -> None:
    site = Site("suspend")
    site.keeper.target_w = lambda now_s: 500.0
    assert sum(site.keep(10.0).values()) == pytest.approx(500.0)
    site.keeper.target_w = lambda now_s: 200.0  # the lowest caps are 240 W
    for now_s in (11.0, 12.5, 14.0, 16.0):
        assert sum(site.keep(now_s).values()) == pytest.approx(240.0)
    assert site.slurm.told == []


def test_a_target_needs_one_source_and_nodes_that_take_caps(tmp_path: Path) -> None:
    file = tmp_path / "site.toml"
    good = 'nodes = "n1"\nnode_idle_w = 90\nnode_active_w = 300\ncap = 1300\n'
    for more, why in (('target_file = "a"\n', "broker"),
                      ('target_file = "a"\ntarget_topic = "b"\n', "take one of them")):
        file.write_text(good + more)
        with pytest.raises(InputError, match=why):
            read_configuration(file)


@pytest.mark.parametrize(("said", "watts"), [
    ("1300W", 1300.0), ("1300.1W", math.inf), ("0.1W", 0.1), ("0W", math.inf), ("-1W", math.inf)])
def test_a_target_lies_above_0_and_at_most_at_the_site_s_cap(
    tmp_path: Path, said: str, watts: float
) -> None:
    assert target(tmp_path, said).watts(105.0) == watts


@pytest.mark.parametrize(("error_w", "score"), [(29.9, 1.0), (30.0, 1.0), (30.1, 0.0)])
def test_an_error_of_just_the_limit_is_not_large(
    tmp_path: Path, error_w: float, score: float
) -> None:
    """Three tenths of a reserve of 100 W."""
    here = target(tmp_path, reserve_w=100.0)
    here._errors_w.extend([error_w, -error_w])
    found = here.status(105.0)
    assert (found["samples"], found["score"]) == (2, score)
    assert found["error_w_mean"] == found["error_w_p90"] == error_w
    assert found["error_of_reserve_p90"] == pytest.approx(error_w / 100.0)
