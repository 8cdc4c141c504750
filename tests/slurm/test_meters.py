"""A node of the bed by every meter that it has: files, management controller, Slurm itself."""

from __future__ import annotations

import shutil

import pytest

from tests.slurm.bedside import runs, slurm, submit, until
from wattline.controller.testbed.bmc.ipmi import Bmc
from wattline.controller.testbed.bmc.node import ManagedNode
from wattline.controller.testbed.bmc.redfish import NodeResources
from wattline.controller.testbed.bmc.serving import PASSWORD, USER, serve_ipmi, serve_redfish
from wattline.controller.testbed.layout import Bed
from wattline.live.found import open_actuator, open_sensor
from wattline.live.sensor import Quality, Sensor
from wattline.live.sensors.slurm import SlurmWatts
from wattline.live.slurm.commands import Commands


def shows(sensor: Sensor, power_w: float) -> bool:
    reading = next(each for each, channel in zip(sensor.read(), sensor.channels(), strict=True)
                   if channel.unit == "W")
    return reading.quality is Quality.GOOD and abs(reading.value - power_w) <= 1.0


def test_all_meters_of_a_node_show_its_job_and_its_cap(
    bed: Bed, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("ipmitool") is None:
        pytest.skip("ipmitool is not installed (Debian package ipmitool)")
    monkeypatch.setenv("IPMI_PASSWORD", PASSWORD)
    monkeypatch.setenv("REDFISH_PASSWORD", PASSWORD)
    node = ManagedNode(bed.meters / "n0002")
    job = submit(bed, 600.0, 310.0, "-w", "n0002")
    with (serve_ipmi(Bmc(node, USER, PASSWORD)) as ipmi,
          serve_redfish(NodeResources(node), USER, PASSWORD) as redfish):
        until(lambda: runs(bed, job))
        place = f"http://{USER}@127.0.0.1:{redfish}"
        sensors = [open_sensor("ipmi", f"lan://{USER}@127.0.0.1:{ipmi}"),
                   open_sensor("redfish", place),
                   open_sensor("pm_counters", node.folder / "pm_counters"),
                   SlurmWatts("n0002", commands=Commands(bed.environment))]
        for sensor in sensors:
            until(lambda sensor=sensor: shows(sensor, 310.0))  # type: ignore[misc]
        actuator = open_actuator("redfish", place)
        assert actuator.apply("limit", 200.0).ok
        for sensor in sensors:
            until(lambda sensor=sensor: shows(sensor, 200.0))  # type: ignore[misc]
        assert all(held.ok for held in actuator.restore())
        until(lambda: shows(sensors[0], 310.0))
    slurm(bed, "scancel", job)
