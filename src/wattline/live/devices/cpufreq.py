"""The groups of cores that share a frequency: folders `policy0`, `policy1` of cpufreq."""

from __future__ import annotations

from pathlib import Path

from wattline.model.errors import InputError

FOLDER = Path("/sys/devices/system/cpu/cpufreq")


def policies_of(folder: Path) -> list[Path]:
    """Every group, by its number."""
    found = [each for each in folder.glob("policy*")
             if each.name[6:].isdecimal() and (each / "scaling_max_freq").exists()]
    if not found:
        raise InputError(f"{folder} has no cpufreq policies (folders policy0, policy1, ...)")
    return sorted(found, key=lambda each: int(each.name[6:]))
