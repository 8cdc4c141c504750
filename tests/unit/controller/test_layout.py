"""The place of a bed: ports that nobody takes away while it starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from wattline.controller.testbed import layout


@pytest.mark.parametrize("pid", range(0, 40_000, 777))
@pytest.mark.parametrize("nodes", [1, layout.MOST_NODES])
def test_ports_lie_below_those_of_outgoing_connections(monkeypatch, pid, nodes):
    monkeypatch.setattr(layout.os, "getpid", lambda: pid)
    monkeypatch.setattr(layout, "_is_free", lambda port: True)
    bed = layout.lay_out(Path("/tmp/no-such-bed"), nodes)
    assert bed.broker_port < bed.node_ports[0]
    assert bed.node_ports[1] < 32_768
