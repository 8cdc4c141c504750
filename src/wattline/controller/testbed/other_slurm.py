"""A Slurm of another version than the machine's: Debian's packages in a folder of their own.

Its programs find their libraries, plugins and each other only at the root of a file system, so
they are run by `chroot`, in mounts of their own that show them the bed. Munge, MariaDB and the
emulator stay those of the machine.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from wattline.controller.testbed.layout import Bed
from wattline.model.errors import InputError

PLACE = Path("/var/cache/wattline")
"""Where `scripts/install-slurm24` puts it; WATTLINE_SLURM names another place."""
PROGRAMS = ("slurmctld", "slurmd", "slurmdbd", "slurmrestd", "sacct", "sacctmgr", "salloc",
            "sbatch", "scancel", "scontrol", "sinfo", "squeue", "srun", "sstat")
WRAPPER = """#!/bin/sh
# {name} of the Slurm in {root}, which sees this bed at the same place.
exec unshare -m --propagation private sh -c '
for each in proc sys dev; do mount --rbind "/$each" "{root}/$each"; done
mount --bind /etc/hosts "{root}/etc/hosts"
mount --bind "{folder}" "{root}{folder}"
PATH=/usr/sbin:/usr/bin:/sbin:/bin exec chroot "{root}" "$@"' {name} {name} "$@"
"""


def root_of(version: str) -> str:
    """The folder of a Slurm of this version; empty where it is the machine's own."""
    if not version or version == machine_version():
        return ""
    place = Path(os.environ.get("WATTLINE_SLURM", PLACE)) / f"slurm-{version}"
    if not (place / "usr/sbin/slurmctld").is_file():
        raise InputError(f"there is no Slurm {version} in {place}: scripts/install-slurm24 puts "
                         f"24.11 there; the machine's own is {machine_version() or 'missing'}")
    return str(place)


def machine_version() -> str:
    """The version of the machine's own Slurm, as 22.05; empty where it has none."""
    try:
        said = subprocess.run(["sinfo", "-V"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""
    return ".".join(said.split()[-1].split(".")[:2]) if said.split() else ""


def write_commands(bed: Bed) -> None:
    """Programs of the bed's own Slurm, to be found before those of the machine."""
    if not bed.root:
        return
    bed.programs.mkdir(exist_ok=True)
    Path(f"{bed.root}{bed.folder}").mkdir(parents=True, exist_ok=True)
    for name in PROGRAMS:
        file = bed.programs / name
        file.write_text(WRAPPER.format(name=name, root=bed.root, folder=bed.folder),
                        encoding="utf-8")
        file.chmod(0o755)


def remove_traces(bed: Bed) -> None:
    """Take the empty folder away that the bed was shown at."""
    if bed.root:
        place = Path(f"{bed.root}{bed.folder}")
        if place.is_dir() and not any(place.iterdir()):
            place.rmdir()
