"""The reservation that keeps licences under the cap, when others touch it."""

from __future__ import annotations

import pytest

from wattline.controller.licences import LOOK_S, LicenceNet


class Scontrol:
    """Answers as Slurm 22.05 does, with one reservation at most."""

    def __init__(self) -> None:
        self.total, self.held, self.calls = 2400, 0, 0

    def run(self, *command: str) -> str:
        self.calls += 1
        words = dict(word.split("=", 1) for word in command if "=" in word)
        if command[1:3] == ("show", "licenses"):
            return f"LicenseName=watts\n    Total={self.total} Used=0 Free=0 Reserved={self.held}"
        if "show" in command:
            return ("ReservationName=wattline-cap-2 Licenses=watts:7 State=ACTIVE\n"
                    + (f"ReservationName=wattline-cap StartTime=x Users=root Accounts=(null) "
                       f"Licenses=watts:{self.held} State=ACTIVE\n" if self.held else ""))
        self.held = 0 if command[1] == "delete" else int(words["Licenses"].removeprefix("watts:"))
        assert words["ReservationName"] == "wattline-cap"
        assert (command[1] == "create") == ("Users" in words)
        return ""


@pytest.fixture
def slurm() -> Scontrol:
    return Scontrol()


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_what_somebody_removed_or_changed_is_put_back_and_said(slurm: Scontrol) -> None:
    clock = Clock()
    net = LicenceNet(slurm, clock=clock)  # type: ignore[arg-type]
    net.allow(1300.0)
    assert (slurm.held, net.remarks) == (1100, [])
    for touched, word in ((0, "removed"), (5, "changed")):
        slurm.held = touched
        net.allow(1300.0)
        assert slurm.held == touched, "it is not looked at in every cycle"
        clock.now_s += LOOK_S
        net.allow(1300.0)
        assert slurm.held == 1100
        assert word in net.remarks.pop()
    clock.now_s += LOOK_S
    net.allow(1300.0)
    assert net.remarks == []


def test_a_changed_number_of_licences_is_followed_without_a_word(slurm: Scontrol) -> None:
    clock = Clock()
    net = LicenceNet(slurm, clock=clock)  # type: ignore[arg-type]
    net.allow(1300.0)
    slurm.total = 3000
    clock.now_s += LOOK_S
    net.allow(1300.0)
    assert (slurm.held, net.remarks) == (1700, [])


def test_between_looks_a_cap_that_stays_costs_no_command(slurm: Scontrol) -> None:
    net = LicenceNet(slurm, clock=Clock())  # type: ignore[arg-type]
    net.allow(1300.0)
    before = slurm.calls
    net.allow(1300.0)
    assert slurm.calls == before


def test_fewer_licences_than_the_cap_leaves_watts_are_said_once(slurm: Scontrol) -> None:
    net = LicenceNet(slurm)  # type: ignore[arg-type]
    for watts in (2400.0, 2401.0, 2500.0, 2300.0):
        net.say_too_few(watts)
    said, = net.remarks
    assert "the cap is 2,401 W and Slurm has 2,400 licences called watts" in said


def test_what_is_left_is_what_slurm_says(slurm: Scontrol) -> None:
    net = LicenceNet(slurm)  # type: ignore[arg-type]
    assert net.left() == 2400
    net.allow(1000.0)
    assert (net.left(), LicenceNet(slurm).left()) == (1000, 1000)  # type: ignore[arg-type]
    slurm.total = 1200  # somebody configures fewer than are taken away
    assert LicenceNet(slurm).left() == 0  # type: ignore[arg-type]
