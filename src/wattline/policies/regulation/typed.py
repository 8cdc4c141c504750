"""Which jobs a contract can take: those of its types, by the number of their application.

A contract counts jobs, servers and watts by type. One job of another size, or under another type's
number, would be given servers that are not free.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.policies.memory import Find


def of_types(servers: npt.ArrayLike, names: Sequence[str]) -> Find:
    """Refuse jobs that are not of these types; of the others there is nothing to remember yet."""
    sizes = np.asarray(servers)

    def find(jobs: JobTable, logged: Mapping[str, Any]) -> Any:
        said = jobs.names.get("application", ())
        if _are_all_known(jobs, sizes, names, said):
            return np.zeros(len(jobs))
        for kind, procs in sorted(set(zip(jobs.application.tolist(), jobs.procs.tolist(),
                                          strict=True))):
            _check(kind, procs, sizes, names, said)
        return np.zeros(len(jobs))

    return find


def _are_all_known(
    jobs: JobTable, sizes: npt.NDArray[Any], names: Sequence[str], said: Sequence[str]
) -> bool:
    """Whether nothing is to be refused; where something may be, each kind of job is looked at."""
    if names and any(own and own != name for own, name in zip(said, names, strict=False)):
        return False
    kinds = jobs.application
    if not len(kinds) or kinds.min() < 0 or kinds.max() >= sizes.size:
        return False
    return bool((jobs.procs == sizes[kinds]).all())


def _check(
    kind: int, procs: int, sizes: npt.NDArray[Any], names: Sequence[str], said: Sequence[str]
) -> None:
    if not 0 <= kind < sizes.size:
        raise InputError("every job needs a type: its application must name a row of the types")
    own = said[kind] if kind < len(said) else ""
    if names and own and own != names[kind]:
        raise InputError(f"application '{own}' has the number {kind}, which is that of type "
                         f"'{names[kind]}': tell each type's own number (codes)")
    if procs != sizes[kind]:
        raise InputError(f"a job of {procs} servers; those of type "
                         f"{names[kind] if names else kind} have {sizes[kind]}")
