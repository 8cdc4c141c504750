"""Counters of Aries routers and what applications suffer."""

import numpy as np
import pytest

from wattline.model.errors import InputError
from wattline.model.signal import Signal
from wattline.network.counters import (
    counter_rates,
    readings_at,
    router_stalls,
    router_traffic,
    stall_flit_ratio,
)
from wattline.network.sensitivity import MpiProfile, find_profile, read_profiles, shipped_profiles
from wattline.network.topology import dragonfly


def test_stall_flit_ratio_is_the_mean_over_tiles():
    stalls = np.full((5, 8), 2e7)
    flits = np.full((5, 8, 8), 1e6)
    assert stall_flit_ratio(stalls, flits) == pytest.approx(2e7 / 8e6)
    stalls[3, 4] = 4e7
    assert stall_flit_ratio(stalls, flits) == pytest.approx((39 * 2.5 + 5.0) / 40)


def test_quiet_tiles_are_left_out_by_the_threshold_of_their_kind():
    stalls = np.zeros((5, 8))
    flits = np.ones((5, 8, 8))
    stalls[0, 0] = 5_410_793.0  # electrical, just below
    assert stall_flit_ratio(stalls, flits) == 0.0
    stalls[0, 1] = 1000.0  # optical, above 933
    assert stall_flit_ratio(stalls, flits) == pytest.approx(1000 / 8)
    stalls[0, 0] = 5_410_794.0
    assert stall_flit_ratio(stalls, flits) == pytest.approx((1000 / 8 + 5_410_794 / 8) / 2)


def test_counters_are_differenced_and_restarts_are_gaps():
    rates = counter_rates([0, 1, 3, 4], [10, 30, 50, 5])
    np.testing.assert_array_equal(rates, [20, 10, np.nan])


@pytest.mark.parametrize(("call", "message"), [
    (lambda: counter_rates([0], [1]), "two samples"),
    (lambda: counter_rates([0, 0], [1, 2]), "increase"),
    (lambda: stall_flit_ratio(np.zeros((6, 8)), np.zeros((5, 8, 8))), "5 x 8 network tiles"),
    (lambda: stall_flit_ratio(np.zeros((5, 8)), np.zeros((5, 8))), "8 channels"),
    (lambda: stall_flit_ratio(np.full((5, 8), -1.0), np.zeros((5, 8, 8))), "negative"),
])
def test_bad_counters(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_simulated_counters_by_router():
    machine = dragonfly(2, 4, 5)
    carried = np.zeros(machine.links + 2 * machine.nodes)
    carried[machine.links + 3] = 100.0
    carried[machine.links + machine.nodes + 2] = 50.0
    traffic = router_traffic(machine, carried, 2.0)
    assert traffic[1] == 75.0
    assert traffic.sum() == 75.0
    stalls = router_stalls(machine, np.ones_like(carried), 1.0)
    np.testing.assert_array_equal(stalls, np.bincount(machine.link_from))


def test_readings_come_from_signals():
    signals = [Signal.from_steps([(0, 1), (10, 5)]), Signal.constant(2.0)]
    assert readings_at(signals, 5).traffic.tolist() == [1, 2]
    assert readings_at(signals, 10).traffic.tolist() == [5, 2]
    assert readings_at(signals, 10, signals).stalls.tolist() == [5, 2]


def test_the_published_judgement_of_eight_applications():
    sensitive = {p.name for p in shipped_profiles().values() if p.sensitive}
    assert sensitive == {"HACC", "LAMMPS", "MILC", "miniAMR", "miniMD", "QMCPACK"}
    assert {p.name for p in shipped_profiles().values()} - sensitive == {"Graph500", "HPCG"}


def test_shares_of_the_shipped_profiles_add_up():
    for profile in shipped_profiles().values():
        parts = profile.synchronizing + profile.test + profile.other
        assert parts <= profile.mpi + 0.01, profile.name
        assert parts >= profile.mpi - 0.03, profile.name


def test_only_the_waiting_part_stretches():
    minimd, hpcg = find_profile("miniMD"), find_profile("HPCG")
    assert minimd.stretch(1.0) == 1.0
    assert minimd.stretch(5.0) == pytest.approx(1 + 0.832 * 4)
    assert hpcg.stretch(5.0) == 1.0


def test_bad_profiles(tmp_path):
    with pytest.raises(InputError, match="must be a share"):
        MpiProfile("x", mpi=1.5)
    with pytest.raises(InputError, match="has no MPI profile"):
        find_profile("doom")
    path = tmp_path / "p.toml"
    for text, message in (("[a]\nallreduce=0.1\n", "'mpi'"), ("[a]\nmpi=0.1\nx=1\n", "field 'x'"),
                          ("a = 3\n", "not a table"), ("[a", "not a TOML file")):
        path.write_text(text)
        with pytest.raises(InputError, match=message):
            read_profiles(path)
    path.write_text("[mine]\nmpi = 0.3\nallreduce = 0.2\n")
    assert read_profiles(path)["mine"].sensitive


@pytest.mark.parametrize(("test", "sensitive"), [(0.2, True), (0.2001, False)])
def test_an_application_is_uncoupled_where_most_of_its_mpi_time_goes_to_mpi_test(
    test: float, sensitive: bool
) -> None:
    assert MpiProfile("mine", mpi=0.4, test=test, wait=0.1).sensitive == sensitive


def test_faster_communication_makes_no_application_faster_than_it_was_measured() -> None:
    """A tenth of the time waits: three times as long, 0.2 more; half as long, no less."""
    profile = MpiProfile("mine", mpi=0.4, wait=0.1)
    assert profile.stretch(3.0) == pytest.approx(1.2)
    assert profile.stretch(0.5) == 1.0
