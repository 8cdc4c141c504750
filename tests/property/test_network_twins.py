"""Compiled and plain code agree on paths, routing, flows, packets and placements."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from wattline.network.flows import Exchange, flow_book, flow_times
from wattline.network.packets import packet_book, packet_times
from wattline.network.placement import Placer, Readings
from wattline.network.rounds import in_steps
from wattline.network.topology import dragonfly
from wattline.network.traffic import map_tasks, pattern
from wattline.policies.placement.network.placements import PLACEMENTS


def figures():
    """Placements, flow times and packet times of a few jobs, as plain numbers."""
    machine = dragonfly(2, 3, 4)
    rng = np.random.default_rng(4)
    found = {"nodes": {}, "flows": {}, "packets": {}}
    for name in sorted(PLACEMENTS):
        readings = Readings(rng.random(machine.routers), rng.random(machine.routers))
        placer = Placer(machine, name, 3, readings)
        placer.free[[2, 9, 17]] = False
        placed = [placer.place(size) for size in (2, 5, 9)]
        found["nodes"][name] = [nodes.tolist() for nodes in placed]
        if name not in ("level-spread", "rdn"):
            continue
        work = []
        for nodes, kind in zip(placed, ("all-to-all", "halo3d", "fft3d"), strict=True):
            traffic = pattern(kind, 2 * len(nodes))
            work.append(Exchange(nodes, map_tasks(nodes, traffic.tasks, "random", rng), traffic))
        for routing in ("minimal", "valiant", "adaptive", "ugal"):
            flows = flow_times(flow_book(machine, routing), work, routing=routing)
            found["flows"][f"{name} {routing}"] = [*flows.time_s.tolist(), flows.sweeps]
            packets = packet_times(packet_book(machine, routing), work, np.random.default_rng(1),
                                   routing=routing)
            found["packets"][f"{name} {routing}"] = [*packets.time_s.tolist(), packets.hops,
                                                     packets.detoured]
    stepped = []
    for nodes, kind in zip(placed, ("broadcast", "all-to-all", "halo2d"), strict=True):
        traffic, step = in_steps(kind, 2 * len(nodes))
        tasks = map_tasks(nodes, traffic.tasks, "random", rng)
        stepped.append(Exchange(nodes, tasks, traffic, 3000.0, step))
    packets = packet_times(packet_book(machine), stepped, np.random.default_rng(1))
    found["packets"]["in steps"] = [*packets.time_s.tolist(), packets.hops, packets.detoured]
    return found


@pytest.mark.compiled
def test_compiled_and_plain_agree():
    root = os.fspath(Path(__file__).resolve().parents[2])
    script = (f"import sys; sys.path.insert(0, {root!r})\nimport json\n"
              "from tests.property.test_network_twins import figures\n"
              "print(json.dumps(figures()))")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                          env={**os.environ, "WATTLINE_PLAIN": "1"}, check=True)
    plain, compiled = json.loads(done.stdout), figures()
    assert plain["nodes"] == compiled["nodes"]
    for part in ("flows", "packets"):
        for name, values in compiled[part].items():
            np.testing.assert_allclose(plain[part][name], values, rtol=1e-9, err_msg=name)
