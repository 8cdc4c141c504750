"""A node's powercap tree in a folder, whose counter a test moves, and an agent's file for it."""

from __future__ import annotations

from pathlib import Path

from wattline.live.transport.broker import BrokerFiles

RANGE_J = 100_000.0
FOUND_W = 400.0
KNOB = "psys@0"


class EmulatedNode:
    def __init__(self, folder: Path, energy_j: float = 1000.0) -> None:
        self.tree = folder / "powercap"
        self.zone = self.tree / "intel-rapl:0"
        self.zone.mkdir(parents=True)
        for name, value in {"name": "psys", "enabled": 1,
                            "max_energy_range_uj": int(RANGE_J * 1e6),
                            "constraint_0_name": "long_term",
                            "constraint_0_max_power_uw": int(FOUND_W * 1e6),
                            "constraint_0_power_limit_uw": int(FOUND_W * 1e6)}.items():
            (self.zone / name).write_text(f"{value}\n")
        self._energy_j = energy_j
        self.draw(0.0)

    def draw(self, energy_j: float) -> None:
        self._energy_j += energy_j
        beside = self.zone / ".new"
        beside.write_text(f"{int(self._energy_j % RANGE_J * 1e6)}\n")
        beside.replace(self.zone / "energy_uj")  # an agent never reads a half

    @property
    def cap_w(self) -> float:
        text = (self.zone / "constraint_0_power_limit_uw").read_text()
        return float(text) / 1e6 if text.strip() else FOUND_W

    @cap_w.setter
    def cap_w(self, cap_w: float) -> None:
        (self.zone / "constraint_0_power_limit_uw").write_text(f"{int(cap_w * 1e6)}\n")


def write_agent_file(
    place: Path, files: BrokerFiles, name: str, node: EmulatedNode, *, more: str = "",
    lease: str = "60s", knobs: str = f'["{KNOB}"]', every: str = "0.2s",
) -> Path:
    """agent.toml of a node whose keys are those of `files`."""
    broker = files.of(name)
    file = place / f"{name}.toml"
    file.write_text(f"""cluster = "{files.cluster}"
node = "{name}"
order_key = "{files.order_key(name)}"
folder = "{place / ('agent-' + name)}"
every = "{every}"
{more}
[broker]
host = "{broker.host}"
port = {broker.port}
ca = "{broker.ca}"
certificate = "{broker.certificate}"
key = "{broker.key}"
[sensor]
kind = "powercap"
place = "{node.tree}"
[limits]
kind = "powercap"
place = "{node.tree}"
knobs = {knobs}
low = "100W"
high = "400W"
safe = "150W"
lease = "{lease}"
""")
    return file
