"""One thing that was looked at."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Check:
    """What was found, whether it is as it should be, and otherwise how to mend it.

    >>> import wattline as wl
    >>> check = wl.Check("cgroups", ok=False, found="version 1", mend="boot with version 2")
    >>> check.to_dict()["mend"]
    'boot with version 2'
    """

    name: str
    ok: bool
    found: str
    mend: str = ""
    """Empty where nothing has to be mended."""
    must: bool = True
    """Whether a controller cannot work without it; otherwise something is missing."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def checked(name: str, ok: bool, found: str, mend: str, *, must: bool = True) -> Check:
    """A check whose advice is given only where it is needed."""
    return Check(name, ok, found, "" if ok else mend, must)
