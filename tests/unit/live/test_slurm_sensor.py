"""The watts that Slurm knows, from what its own commands print."""

from __future__ import annotations

import lzma
import time

import pytest
from tests.shared_data import shared

from wattline.live.sensor import Quality
from wattline.live.sensors.slurm import SlurmWatts
from wattline.live.slurm.commands import Commands
from wattline.model.errors import InputError
from wattline.testing import SensorContract

CONFIG = "AcctGatherEnergyType    = acct_gather_energy/{}\nAcctGatherNodeFreq      = {} sec\n"


class Printed(Commands):
    """Commands that print what they are told to."""

    def __init__(self, node: str, plugin: str = "pm_counters", every_s: int = 1) -> None:
        super().__init__()
        object.__setattr__(self, "said", {"config": CONFIG.format(plugin, every_s), "node": node})

    def run(self, *command: str) -> str:
        return self.said["config" if "config" in command else "node"]


class TestContract(SensorContract):
    def make_sensor(self):
        return SlurmWatts("n1", commands=Printed("NodeName=n1 CurrentWatts=235 AveWatts=200"))


@pytest.mark.parametrize(("plugin", "domain"), [
    ("rapl", "package"), ("ipmi", "node"), ("pm_counters", "node"), ("gpu", "gpu"),
    ("gpu,acct_gather_energy/ipmi", "node")])
def test_domain_is_what_the_plugin_measures(plugin, domain):
    assert SlurmWatts("n1", commands=Printed("", plugin)).channels()[0].domain == domain


@pytest.mark.parametrize("said", ["CurrentWatts=0", "CurrentWatts=n/s", "State=IDLE", ""])
def test_node_that_was_not_measured_is_a_gap(said):
    reading, = SlurmWatts("n1", commands=Printed(f"NodeName=n1 {said}")).read()
    assert reading.quality is Quality.MISSING
    assert "n1" in reading.reason


@pytest.mark.parametrize(("plugin", "every_s", "message"), [
    ("none", 30, "AcctGatherEnergyType"), ("(null)", 30, "AcctGatherEnergyType"),
    ("ipmi", 0, "AcctGatherNodeFreq")])
def test_slurm_that_does_not_measure_is_refused(plugin, every_s, message):
    with pytest.raises(InputError, match=message):
        SlurmWatts("n1", commands=Printed("", plugin, every_s))


def test_recorded_nodes_are_read():
    file = shared("fixtures/slurm/argo_scontrol_show_node_energy.csv.xz")
    with lzma.open(file, "rt", encoding="utf-8") as text:
        lines = [line for line in text if "NodeName=gpu01 " in line]
    assert SlurmWatts("gpu01", commands=Printed(lines[0])).read()[0].value == 26.0


def test_slurm_that_hangs_is_a_gap_within_the_time_limit(tmp_path, monkeypatch):
    program = tmp_path / "scontrol"
    program.write_text(f"#!/bin/sh\ncase \"$*\" in *config*) printf '{CONFIG.format('ipmi', 30)}';;"
                       "*) exec sleep 30;; esac\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    sensor = SlurmWatts("n1", timeout_s=0.5)
    begin_s = time.monotonic()
    reading, = sensor.read()
    assert time.monotonic() - begin_s < 2.0
    assert "no answer in 0.5 s" in reading.reason
