"""Things that a controller leaves behind: the net below its cap, and nothing that is held for
ever."""

from __future__ import annotations

import errno
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests.support.thinned import crossed
from tests.unit.controller.test_modes import NAMES, SITE, OneSlurm, ordered

from wattline.controller import serving as serving_module
from wattline.controller.configuration import SiteConfig, read_configuration
from wattline.controller.resting import resting_w
from wattline.controller.serving import run, serving
from wattline.controller.speaking import live_status
from wattline.live.slurm.client import Seen
from wattline.live.slurm.commands import SlurmError
from wattline.model.errors import WattlineError


@pytest.mark.parametrize(("mode", "when_stopped", "cap_w", "waits", "busy"), crossed(
    ["decide", "guard"], ["held", "guard"], [None, 700.0, 400.0], [False, True], [0, 1, 4],
    later=pytest.mark.long, together=2))
def test_a_clean_stop_leaves_no_more_licences_than_the_cap_that_held(
    slurm: OneSlurm, site: SiteConfig, mode: str, when_stopped: str, cap_w: float | None,
    waits: bool, busy: int
) -> None:
    """Four nodes draw 360 W idle; the site's cap is 900 W. Which of them are busy at the stop does
    not count: the jobs end, and others come, while nobody looks."""
    said = site.model_copy(update={"when_stopped": when_stopped, "mode": mode})
    for number in range(busy):
        slurm.submit(f"{number + 1}", comment="", licenses={"watts": 100})
        slurm.run(f"{number + 1}", NAMES[number])
    if waits:
        slurm.submit("9", nodes=4, licenses={"watts": 1000})  # no cap here lets it start
    with serving(said, act=True) as here:
        here.cycle()
        if cap_w is not None:
            ordered(here, said, "set_cap", watts=cap_w)
        here.cycle()
    assert slurm.commands.allowed() == (cap_w or 900.0) - 360.0
    if waits:
        left = mode == "guard" or when_stopped == "guard"
        assert slurm.jobs["9"].held == (not left)
    with serving(said, act=True) as here:  # and goes on under it
        here.cycle()
        assert here.books.state.clock[0].cap_w == (cap_w or 900.0)


@dataclass(frozen=True)
class Drained(OneSlurm):
    """The last node is drained."""

    def look(self) -> Seen:
        seen = super().look()
        return replace(seen, nodes=(*seen.nodes[:-1],
                                    replace(seen.nodes[-1], states=("drained", "idle"))))


@pytest.mark.parametrize("mode", ["decide", "guard"])
def test_nodes_count_as_their_class_does_in_guard_mode_when_drained_and_at_a_stop(
    tmp_path: Path, mode: str
) -> None:
    """Two nodes draw 50 W idle and two 200 W, 500 W in all, where one figure for all says 360."""
    file = tmp_path / "site.toml"
    file.write_text(SITE + 'classes = [{ name = "small", nodes = "n[1-2]", idle_w = 50 }, '
                    '{ name = "big", nodes = "n[3-4]", idle_w = 200, active_w = 400 }]\n')
    said, slurm = read_configuration(file), Drained()
    with serving(said, act=True, mode=mode, slurm=slurm) as here:
        here.cycle()
        assert resting_w(here.books) == 200.0
        if mode == "guard":
            assert slurm.commands.allowed() == 900 - 500
            slurm.submit("1", comment="")
            slurm.run("1", "n3")  # without licences
            here.cycle()
            assert slurm.commands.allowed() == 900 - 400 - 2 * 50 - 200
            slurm.submit("2", nodes=1)
            here.cycle()
            assert slurm.jobs["2"].licenses == {"watts": 400}, "it may get a node of either class"
            del slurm.jobs["1"], slurm.jobs["2"]
            here.cycle()
    assert slurm.commands.allowed() == 900 - 500


def test_what_a_clean_stop_has_left_is_said_until_the_next_start(
    slurm: OneSlurm, site: SiteConfig
) -> None:
    file = Path(site.folder).parent / "site.toml"
    with serving(site, act=True) as here:
        here.cycle()
        ordered(here, site, "set_cap", watts=700.0)
        assert live_status(file)["cap_w"] == 700.0
    with pytest.raises(WattlineError, match="was stopped 0 s ago; under its cap of 700 W it left"):
        live_status(file)
    with serving(site, act=True) as here:
        here.cycle()
        assert live_status(file)["cap_w"] == 700.0


def no_room(*given: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def half_a_start(slurm: OneSlurm, label: str, nodes: Any, **more: Any) -> None:
    """The job is changed and not released."""
    slurm.license(slurm.jobs[label], more["licence"])
    fails()


@pytest.mark.parametrize("answers", [True, False])
def test_on_a_full_disk_what_waits_is_left_to_slurm_under_licences(
    slurm: OneSlurm, site: SiteConfig, monkeypatch: pytest.MonkeyPatch, answers: bool
) -> None:
    slurm.submit("1", nodes=2)
    slurm.submit("2", nodes=2)
    slurm.submit("3", comment="")
    if not answers:
        monkeypatch.setattr(OneSlurm, "release", lambda *given, **more: fails())
    wanted = ("2 waiting jobs left to Slurm, with watts as licences under 900 W" if answers
              else "waiting jobs stay held until the watchdog, or the next start: no answer")
    monkeypatch.setattr(serving_module, "renew", no_room)
    # The first cycle would start the first job: it must not, and both wait.
    monkeypatch.setattr(OneSlurm, "start", half_a_start)
    with (pytest.raises(WattlineError, match=f"No space left on device.*{wanted}"),
          serving(site, act=True) as here):
        run(here, 0.0, lambda cycle: None, cycles=3)
    assert [slurm.jobs[label].held for label in "123"] == [not answers, not answers, True]
    assert slurm.jobs["1"].licenses == {"watts": 600}
    assert slurm.commands.allowed() <= 900


def fails() -> None:
    raise SlurmError("no answer")


@pytest.mark.parametrize(("act", "mode"), [(False, "decide"), (True, "guard"), (True, "decide")])
def test_only_a_controller_that_starts_jobs_has_some_to_leave(
    slurm: OneSlurm, site: SiteConfig, act: bool, mode: str
) -> None:
    with (pytest.raises(WattlineError, match="the disk is full") as error,
          serving(site, act=act, mode=mode)):
        raise WattlineError("the disk is full")
    assert ("left to Slurm" in str(error.value)) == (act and mode == "decide")
