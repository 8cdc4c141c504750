"""Names of Slurm's database in capitals and small letters.

sacctmgr(1): "The contents of Slurm's database are maintained in lower case"; a script of commands,
slurm.conf and what jobs ask for may have capitals.
"""

from __future__ import annotations

from collections.abc import Iterable


class Spelling:
    """How a name is written, of those that are known."""

    def __init__(self, known: Iterable[str]) -> None:
        self._known = {name: name for name in known}
        self._known |= {name.lower(): name for name in reversed(self._known)
                        if name.lower() not in self._known}

    def of(self, name: str) -> str:
        """As it is known; a name that is not known stays."""
        return self._known.get(name) or self._known.get(name.lower(), name)

    def listed(self, names: str) -> list[str]:
        """The names of a list with commas."""
        return [self.of(name.strip()) for name in names.split(",") if name.strip()]
