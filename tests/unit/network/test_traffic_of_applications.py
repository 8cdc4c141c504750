"""Traffic of a node of a profiled application: as was measured, not how long it waits."""

import pytest

import wattline as wl
from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.network.fabric import Behaviour, Uses
from wattline.network.sensitivity import MpiProfile, find_profile, read_profiles
from wattline.network.topology import aries

NETWORK = aries(groups=2, rows=2, columns=2, node_gbit_s=80.0)


def jobs_of(*names):
    return JobTable.build(submit_s=[0.0] * len(names), run_s=[10.0] * len(names),
                          procs=[4] * len(names), application=range(len(names)),
                          names={"application": names})


def test_measured_rates_count_for_all_ranks_of_a_node():
    jobs = jobs_of("LAMMPS", "QMCPACK", "HPCG", "other")
    found = Uses(NETWORK, Behaviour(node_traffic_gbit_s=2.0)).gbit_s(jobs, {})
    assert found.tolist() == pytest.approx([5e6 * 32 * 8e-9, 600e3 * 32 * 8e-9, 3e6 * 32 * 8e-9,
                                            2.0])


def test_without_a_rate_it_follows_from_messages_else_it_is_guessed_and_said():
    uses = Uses(NETWORK, Behaviour())
    minimd = find_profile("miniMD")
    assert minimd.data_bytes_s is None
    assert minimd.node_bytes_s == pytest.approx(32 * 3000.0 * 2_064_036 / 65.0)
    milc = find_profile("MILC")
    assert milc.node_bytes_s is None
    jobs = jobs_of("miniMD", "MILC")
    assert uses.gbit_s(jobs, {}).tolist() == pytest.approx(
        [minimd.node_bytes_s * 8e-9, milc.mpi * 80.0])
    (said,) = uses.assumed(jobs)
    assert said.startswith("no data rate of MILC is known")


def test_no_node_sends_more_than_its_link():
    fast = {"fast": MpiProfile("fast", mpi=0.5, data_bytes_s=1e12)}
    uses = Uses(NETWORK, Behaviour(), fast)
    assert uses.gbit_s(jobs_of("fast"), {}).tolist() == [80.0]
    assert uses.assumed(jobs_of("fast")) == [
        "a node of fast sends 8e+03 Gbit/s, more than its link carries: 80 Gbit/s are taken, all "
        "of the time"]
    assert uses.assumed(jobs_of("other")) == []


def test_a_file_without_profiles_is_refused(tmp_path):
    empty = tmp_path / "empty.toml"
    empty.write_text("")
    with pytest.raises(InputError, match=r"empty\.toml: there is no profile in it"):
        read_profiles(empty)


def test_a_rate_of_nothing_is_refused():
    with pytest.raises(InputError, match="data_bytes_s is 0, must be above 0"):
        MpiProfile("x", mpi=0.5, data_bytes_s=0)


def test_a_simulation_says_what_it_takes_a_network_to_be(tmp_path):
    (tmp_path / "topology.conf").write_text(
        "SwitchName=a Nodes=n[1-4]\nSwitchName=b Nodes=n[5-8]\nSwitchName=t Switches=a,b\n")
    with pytest.warns(wl.WattlineWarning, match="has no bandwidths"):
        run = wl.simulate(jobs_of("MILC", "HPCG"), placement="level-spread", network={
            "topology": "slurm", "file": str(tmp_path / "topology.conf")})
    assert any("has no bandwidths" in line for line in run.assumed)
