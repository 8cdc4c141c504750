"""Actuators: each held to the contract on a device that behaves, and to what is special to it."""

from __future__ import annotations

import math

import pytest
from tests.support.bmcs import USER, Played, ipmi, redfish
from tests.support.cards import Card, FakeNvml

from wattline.live.actuators.nvml import NvmlLimit
from wattline.live.found import ACTUATORS, open_actuator
from wattline.model.errors import InputError
from wattline.testing import ActuatorContract

pytestmark = pytest.mark.waits

WAYS = ["#environment", "#controls", "#power"]


@pytest.fixture
def played(tmp_path) -> Played:
    return Played(tmp_path)


@pytest.fixture
def cores(tmp_path):
    """Two fast groups of cores and a slow one, each with a limit of its own."""
    for number, high_khz, limit_khz in ((0, 3_000_000, 2_900_000), (4, 3_000_000, 3_000_000),
                                        (8, 1_800_000, 1_700_000)):
        folder = tmp_path / f"policy{number}"
        folder.mkdir()
        for name, khz in {"cpuinfo_min_freq": 800_000, "cpuinfo_max_freq": high_khz,
                          "scaling_max_freq": limit_khz, "scaling_cur_freq": 1_000_000}.items():
            (folder / name).write_text(f"{khz}\n")
    return tmp_path


def limits_khz(cores) -> list[int]:
    return [int(file.read_text()) for file in sorted(cores.glob("policy*/scaling_max_freq"))]


class TestContractOfPowercap(ActuatorContract):
    @pytest.fixture(autouse=True)
    def _node(self, played):
        self.played = played

    def make_actuator(self):
        return open_actuator("powercap", self.played.folder / "powercap")

    def held(self, knob):
        return float((self.played.node.zone / "constraint_0_power_limit_uw").read_text()) / 1e6


class TestContractOfCpufreq(ActuatorContract):
    @pytest.fixture(autouse=True)
    def _cores(self, cores):
        self.cores = cores

    def make_actuator(self):
        return open_actuator("cpufreq", self.cores)

    def held(self, knob):
        return 1e3 * max(limits_khz(self.cores))


class TestContractOfIpmi(ActuatorContract):
    @pytest.fixture(autouse=True)
    def _place(self, played, monkeypatch):
        with ipmi(played, monkeypatch) as (self.place, self.bmc):
            yield

    def make_actuator(self):
        return open_actuator("ipmi", self.place)

    def order(self, knob):
        return 230.0

    def held(self, knob):
        return self.bmc.node.limit_w if self.bmc.node.active else math.inf


class TestContractOfRedfish(ActuatorContract):
    @pytest.fixture(autouse=True, params=WAYS)
    def _place(self, played, monkeypatch, request):
        self.played = played
        with redfish(played, monkeypatch) as place:
            self.place = place + request.param
            yield

    def make_actuator(self):
        return open_actuator("redfish", self.place)

    def order(self, knob):
        return 230.0

    def held(self, knob):
        return float((self.played.node.zone / "constraint_0_power_limit_uw").read_text()) / 1e6


class TestContractOfNvml(ActuatorContract):
    @pytest.fixture(autouse=True)
    def _cards(self):
        self.cards = [Card(limit_mw=700_000), Card(limit_mw=500_000)]

    def make_actuator(self):
        return NvmlLimit(nvml=FakeNvml(*self.cards))

    def held(self, knob):
        return self.cards[int(knob.removeprefix("gpu"))].limit_mw / 1e3


def test_a_node_keeps_the_limit_that_its_zone_is_given(played):
    actuator = open_actuator("powercap", played.folder / "powercap")
    assert played.power_w == 350.0
    assert actuator.apply("psys@0", 200.0).value == 200.0
    assert played.power_w == 200.0
    assert [held.value for held in actuator.restore()] == [400.0]
    assert played.power_w == 350.0


@pytest.mark.parametrize("way", WAYS)
def test_a_node_keeps_the_limit_that_redfish_is_given(played, monkeypatch, way):
    with redfish(played, monkeypatch) as place:
        actuator = open_actuator("redfish", place + way)
        assert actuator.apply("limit", 200.0).value == 200.0
        assert played.power_w == 200.0
        assert [held.value for held in actuator.restore()] == [math.inf]
        assert played.power_w == 350.0


def test_a_node_keeps_the_limit_that_ipmitool_gives(played, monkeypatch):
    with ipmi(played, monkeypatch) as (place, _):
        actuator = open_actuator("ipmi", place)
        assert actuator.apply("limit", 200.0).value == 200.0
        assert played.power_w == 200.0
        assert [held.value for held in actuator.restore()] == [math.inf]
        assert played.power_w == 350.0


def test_a_limit_that_was_active_before_is_active_again(played, monkeypatch):
    with ipmi(played, monkeypatch) as (place, bmc):
        bmc.node.limit(320.0, active=True)
        actuator = open_actuator("ipmi", place)
        actuator.apply("limit", 200.0)
        assert [held.value for held in actuator.restore()] == [320.0]
        assert (bmc.node.limit_w, bmc.node.active) == (320.0, True)


def test_a_controller_that_would_switch_the_node_off_is_not_limited(played, monkeypatch):
    with ipmi(played, monkeypatch) as (place, bmc):
        bmc.action = 0x01
        held = open_actuator("ipmi", place).apply("limit", 200.0)
    assert not held.ok
    assert "sel_logging" in held.reason
    assert not bmc.node.active


def test_a_controller_that_goes_away_is_said_and_put_back_later(played, monkeypatch):
    with ipmi(played, monkeypatch) as (place, bmc):
        actuator = open_actuator("ipmi", place, timeout_s=2.0)
        actuator.apply("limit", 200.0)
        answer, bmc.answer = bmc.answer, lambda packet: None
        lost, = actuator.restore()
        assert not lost.ok
        assert math.isnan(lost.value)
        assert "2 s" in lost.reason or "session" in lost.reason
        assert played.power_w == 200.0
        bmc.answer = answer
        assert [held.ok for held in actuator.restore()] == [True]
    assert played.power_w == 350.0


def test_someone_elses_change_is_read_before_it_is_overwritten(played, monkeypatch):
    """The first PATCH comes with the ETag of before that change, and is refused with 412."""
    with redfish(played, monkeypatch) as place:
        actuator = open_actuator("redfish", place)
        from wattline.live.devices import redfish as device

        refused, patch = [], device.Exchange.patch

        def meddled(self, path, body, etag):
            if not refused:
                refused.append(path)
                etag = '"stale"'
            patch(self, path, body, etag)

        monkeypatch.setattr(device.Exchange, "patch", meddled)
        assert actuator.apply("limit", 210.0).ok
    assert refused
    assert played.power_w == 210.0


def test_a_change_with_an_old_etag_is_refused(played, monkeypatch):
    from wattline.live.devices.http import HttpError
    from wattline.live.devices.redfish import Redfish

    with redfish(played, monkeypatch) as place:
        exchange = Redfish.at(place).begin()
        path = exchange.look("limit").path
        with pytest.raises(HttpError, match="412"):
            exchange.patch(path, {"PowerLimitWatts": {"SetPoint": 210}}, '"stale"')


def test_a_limit_that_the_firmware_has_locked_is_said(played):
    actuator = open_actuator("powercap", played.folder / "powercap")
    limit = played.node.zone / "constraint_0_power_limit_uw"
    from wattline.live.actuators import powercap

    original = powercap.write_number
    try:
        powercap.write_number = lambda file, value: None
        held = actuator.apply("psys@0", 200.0)
    finally:
        powercap.write_number = original
    assert (held.ok, held.value) == (False, 400.0)
    assert held.reason == "it was told 200 W and holds 400 W"
    assert int(limit.read_text()) == 400_000_000


def test_a_zone_that_is_off_is_switched_on_and_off_again(played):
    enabled = played.node.zone / "enabled"
    enabled.write_text("0\n")
    actuator = open_actuator("powercap", played.folder / "powercap")
    assert actuator.apply("psys@0", 200.0).ok
    assert enabled.read_text() == "1\n"
    assert [held.value for held in actuator.restore()] == [math.inf]
    assert enabled.read_text() == "0\n"


def test_slow_cores_keep_their_own_highest_frequency(cores):
    actuator = open_actuator("cpufreq", cores)
    assert actuator.apply("max-frequency", 2.4e9).value == 2.4e9
    assert limits_khz(cores) == [2_400_000, 2_400_000, 1_800_000]
    actuator.restore()
    assert limits_khz(cores) == [2_900_000, 3_000_000, 1_700_000]


def test_a_card_that_may_not_be_set_is_said():
    card = Card(locked=True)
    held = NvmlLimit(nvml=FakeNvml(card)).apply("gpu0", 400.0)
    assert (held.ok, held.value) == (False, 700.0)
    card.lost = True
    with pytest.raises(InputError, match="lost"):
        NvmlLimit(nvml=FakeNvml(card))


def test_kinds_and_places_that_are_not_there_are_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("REDFISH_PASSWORD", "x")
    with pytest.raises(InputError, match=", ".join(ACTUATORS)):
        open_actuator("valve")
    with pytest.raises(InputError, match="no powercap zones"):
        open_actuator("powercap", tmp_path)
    with pytest.raises(InputError, match="cannot be limited"):
        open_actuator("redfish", f"http://{USER}@127.0.0.1:9", timeout_s=0.5)
