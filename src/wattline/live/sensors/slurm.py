"""Power of a node as Slurm knows it: CurrentWatts of `scontrol show node`."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable, Sequence

from wattline.live.sensor import Channel, Domain, Quality, Reading, missing
from wattline.live.slurm.commands import Commands, SlurmError
from wattline.model.errors import InputError

PATIENCE_S = 5.0
_DOMAINS: dict[str, Domain] = {"rapl": "package", "gpu": "gpu"}
"""What Slurm's plugins measure, where that is not the whole node."""


class SlurmWatts:
    """What Slurm's own energy plugin measured last; a place is the name of a node."""

    def __init__(
        self, place: str = "", clock: Callable[[], float] = time.monotonic, *,
        timeout_s: float = PATIENCE_S, commands: Commands | None = None,
    ) -> None:
        self._node = str(place) or socket.gethostname().partition(".")[0]
        self._clock = clock
        self._commands = commands or Commands(patience_s=timeout_s)
        self._channel = Channel("power", "W", self._domain())

    def channels(self) -> Sequence[Channel]:
        return [self._channel]

    def read(self) -> Sequence[Reading]:
        try:
            power_w = self._power_w()
        except (SlurmError, InputError) as error:
            return [missing("power", self._clock(), str(error))]
        return [Reading("power", self._clock(), power_w, Quality.GOOD)]

    def _power_w(self) -> float:
        text = self._commands.run("scontrol", "-o", "show", "node", self._node)
        found = re.search(r"\bCurrentWatts=(\S+)", text)
        said = found[1] if found else "nothing"
        # 0 is what Slurm says of a node that it has not measured yet.
        if not said.isdecimal() or int(said) == 0:
            raise SlurmError(f"Slurm says {said} for the watts of {self._node}")
        return float(said)

    def _domain(self) -> Domain:
        """What the plugin measures; without one there is nothing to read."""
        try:
            text = self._commands.run("scontrol", "show", "config")
        except SlurmError as error:
            raise InputError(f"Slurm does not answer: {error}") from None
        plugins = re.search(r"^AcctGatherEnergyType\s*=\s*(\S+)", text, re.MULTILINE)
        names = [name.rpartition("/")[2] for name in plugins[1].split(",")] if plugins else []
        if not names or set(names) <= {"none", "(null)"}:
            raise InputError("Slurm measures no power here (AcctGatherEnergyType)")
        every = re.search(r"^AcctGatherNodeFreq\s*=\s*(\d+)", text, re.MULTILINE)
        if every is None or int(every[1]) == 0:
            raise InputError("Slurm does not read its meter by itself (AcctGatherNodeFreq is 0)")
        whole = [name for name in names if name not in _DOMAINS]
        return "node" if whole else _DOMAINS[names[0]]
