"""Caches that begin with parts of what is compiled already.

A test of what is compiled anew needs a cache of its own. From nothing a combination of policies
takes a quarter of a minute, and half of that goes into kernels that no such test is about.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import wattline as wl
from wattline.model.kernel_cache import cache_folder

UNFINISHED = shutil.ignore_patterns("*.lock", "*.tmp.*", "compiling*")
"""Files that another process is about to write."""


def hand_on_parts(home: Path) -> None:
    """Let a cache know the kernels that kernels call; those that Python calls are compiled anew."""
    # A run compiles them, whichever test is the first.
    wl.simulate(trace=wl.generate("lublin", seed=1, jobs=20, nodes=16), machine__nodes=16,
                machine__node_idle_w=90, machine__node_active_w=300)
    shutil.copytree(cache_folder(), home / "wattline" / "kernels" / cache_folder().name,
                    ignore=_all_but_parts)


def _all_but_parts(folder: str, names: list[str]) -> set[str]:
    called_by_python = {name for name in names
                        if "inner." not in name and not Path(folder, name).is_dir()}
    return UNFINISHED(folder, names) | called_by_python
