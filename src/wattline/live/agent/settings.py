"""What an agent is told on its node: a small TOML file that no order can change."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field, ValidationError

from wattline.live.transport.link import LONGEST_NAME, PLAIN_NAME, BrokerSettings, beside
from wattline.model.errors import InputError
from wattline.model.fields import FileName, Name, Seconds, Section, Watts, Whole
from wattline.model.mistakes import first_mistake
from wattline.model.reading import read_toml

if TYPE_CHECKING:
    from wattline.live.transport.broker import BrokerFiles

USUAL_FOLDER = "/var/lib/wattline-agent"


class SensorSettings(Section):
    """What is read."""

    kind: Name = "powercap"
    place: FileName = ""
    """Where to look for it; empty: the usual place."""
    channels: tuple[Name, ...] = ()
    """Those that are added up; empty: the whole node, else its packages and memory."""


class LimitSettings(Section):
    """What orders may do here."""

    knobs: tuple[Name, ...] = ()
    """Those that may be set; empty: none, the agent only reads."""
    kind: Name = "powercap"
    place: FileName = ""
    low: Watts = Field(default=0.0, ge=0)
    high: Watts = Field(default=1e6, gt=0)
    safe: Watts | None = Field(default=None, gt=0)
    """The cap of the node when the controller is silent; needed where there are knobs."""
    lease: Seconds = Field(default=60.0, gt=0)
    """The longest lease that an order may have."""
    order_age: Seconds = Field(default=30.0, gt=0)
    """An order that is older, or younger than the present, by the node's clock is refused."""


class AgentSettings(Section):
    """All that an agent is told."""

    cluster: str = Field(pattern=PLAIN_NAME, max_length=LONGEST_NAME)
    node: str = Field(pattern=PLAIN_NAME, max_length=LONGEST_NAME)
    broker: BrokerSettings
    order_key: FileName
    """The file with the key that this node's orders are signed with."""
    folder: FileName = USUAL_FOLDER
    """Where readings and what was found before the first change are kept."""
    every: Seconds = Field(default=1.0, ge=0.1, le=60)
    readings: Whole = Field(default=7200, ge=60, le=1_000_000)
    """Kept on disk until their place is needed."""
    sensor: SensorSettings = SensorSettings()
    limits: LimitSettings = LimitSettings()


def read_settings(path: str | Path) -> AgentSettings:
    """Read agent.toml; names of files in it are relative to its folder."""
    base = Path(path).resolve().parent
    found = _with_places(read_toml(path), base)
    found.setdefault("node", platform.node().split(".")[0])
    try:
        settings = AgentSettings.model_validate(found)
    except ValidationError as error:
        raise InputError(f"{path}: {first_mistake(error, AgentSettings)}") from None
    limits = settings.limits
    if limits.knobs and limits.safe is None:
        raise InputError(f"{path}: limits.safe is missing: the cap of this node when the "
                         "controller is silent")
    if limits.low > limits.high:
        raise InputError(f"{path}: limits.low ({limits.low:g} W) is above limits.high "
                         f"({limits.high:g} W)")
    if limits.safe is not None and not limits.low <= limits.safe <= limits.high:
        raise InputError(f"{path}: limits.safe ({limits.safe:g} W) must lie from limits.low to "
                         f"limits.high ({limits.low:g} to {limits.high:g} W)")
    return settings


def write_settings(files: BrokerFiles, node: str) -> Path:
    """A file to begin with, beside the node's keys: it reads, and may set nothing."""
    file = files.folder / node / "agent.toml"
    file.write_text(f"""cluster = "{files.cluster}"
node = "{node}"
order_key = "order.key"
folder = "{USUAL_FOLDER}"

[broker]
host = "{files.host}"
port = {files.port}
ca = "ca.crt"
certificate = "own.crt"
key = "own.key"

# What orders may do here. Without knobs: nothing, the agent only reads.
# [limits]
# knobs = ["package-0@0", "package-1@1"]
# low = "150W"
# high = "600W"
# safe = "300W"  # when the controller is silent
# lease = "60s"
""", encoding="utf-8")
    return file


def _with_places(found: dict[str, Any], base: Path) -> dict[str, Any]:
    found = beside(found, base, ("order_key", "folder"))
    for table, names in (("broker", ("ca", "certificate", "key")), ("sensor", ("place",)),
                         ("limits", ("place",))):
        if table in found:
            found[table] = beside(found[table], base, names)
    return found
