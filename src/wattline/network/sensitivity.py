"""Which applications suffer from congestion: from an MPI profile to sensitive or not."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from wattline.model.errors import InputError
from wattline.model.reading import read_toml

SENSITIVE_SHARE = 0.05
"""Above this share of time in synchronizing calls, congestion is expected to hurt."""


@dataclass(frozen=True)
class MpiProfile:
    """Shares of the execution time in MPI calls, and what else a profiler counted.

    `wait` stands for MPI_Wait and MPI_Waitall, `test` for MPI_Test and MPI_Testany, `sendrecv`
    for blocking and started sends. None means that it was not measured.
    """

    name: str
    mpi: float
    allreduce: float = 0.0
    sendrecv: float = 0.0
    bcast: float = 0.0
    test: float = 0.0
    wait: float = 0.0
    barrier: float = 0.0
    other: float = 0.0
    run_s: float | None = None
    ranks_per_node: int = 1
    data_bytes_s: float | None = None
    """What one rank transfers per second."""
    message_bytes: float | None = None
    mpi_calls: int | None = None
    allreduce_calls: int | None = None
    sendrecv_calls: int | None = None
    test_calls: int | None = None
    wait_calls: int | None = None

    def __post_init__(self) -> None:
        for share in ("mpi", "allreduce", "sendrecv", "bcast", "test", "wait", "barrier", "other"):
            value = getattr(self, share)
            if not 0.0 <= value <= 1.0:
                raise InputError(f"profile '{self.name}': {share} is {value}, must be a share of "
                                 "the execution time from 0 to 1")
        for name in ("data_bytes_s", "message_bytes", "run_s", "ranks_per_node"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InputError(f"profile '{self.name}': {name} is {value}, must be above 0")

    @property
    def node_bytes_s(self) -> float | None:
        """What a node of this application sends: as measured, or by its messages; else None."""
        rate = self.data_bytes_s
        if rate is None and self.message_bytes and self.sendrecv_calls and self.run_s:
            rate = self.message_bytes * self.sendrecv_calls / self.run_s
        return None if rate is None else rate * self.ranks_per_node

    @property
    def collectives(self) -> float:
        return self.allreduce + self.bcast + self.barrier

    @property
    def synchronizing(self) -> float:
        """Share of time in calls that end only when another task has done its part."""
        return self.collectives + self.wait + self.sendrecv

    @property
    def sensitive(self) -> bool:
        """Whether congestion is expected to stretch this application.

        Synchronizing calls must take more than 5 % of the time. Where most MPI time goes to
        MPI_Test, messages are not coupled to each other and a slow one holds up nobody.
        """
        coupled = self.test <= 0.5 * self.mpi
        return coupled and self.synchronizing > SENSITIVE_SHARE

    def stretch(self, communication: float) -> float:
        """Execution time over that without congestion, when communication takes this many times
        as long. Only the synchronizing part waits, and only in sensitive applications."""
        waiting = self.synchronizing if self.sensitive else 0.0
        return 1.0 + waiting * max(0.0, communication - 1.0)


@cache
def shipped_profiles() -> Mapping[str, MpiProfile]:
    """The eight applications of the published tables, by lower-case name."""
    text = resources.files("wattline.network").joinpath("data/applications.toml").read_text(
        encoding="utf-8")
    return _profiles(tomllib.loads(text), "applications.toml")


def read_profiles(path: Path) -> Mapping[str, MpiProfile]:
    """Profiles from a TOML file of the same form."""
    found = _profiles(read_toml(path), str(path))
    if not found:
        raise InputError(f"{path}: there is no profile in it; give each application a table, like "
                         "[HPCG]")
    return found


def find_profile(name: str) -> MpiProfile:
    """A shipped profile by the name of its application, in any case."""
    found = shipped_profiles().get(name.lower())
    if found is None:
        known = ", ".join(profile.name for profile in shipped_profiles().values())
        raise InputError(f"application '{name}' has no MPI profile; there are {known}")
    return found


def _profiles(tables: Mapping[str, Any], where: str) -> dict[str, MpiProfile]:
    known = {field.name for field in fields(MpiProfile)}
    found = {}
    for key, table in tables.items():
        if not isinstance(table, dict):
            raise InputError(f"{where}: '{key}' is not a table of an application")
        unknown = sorted(set(table) - known)
        if unknown:
            raise InputError(f"{where}, [{key}]: field '{unknown[0]}' is unknown; the fields are "
                             f"{', '.join(sorted(known))}")
        if "mpi" not in table:
            raise InputError(f"{where}, [{key}]: 'mpi', the share of time in MPI, is missing")
        found[key.lower()] = MpiProfile(**{"name": key, **table})
    return found
