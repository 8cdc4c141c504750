"""What jobs ask for beside nodes and CPUs: asked only where a decision goes by it."""

from __future__ import annotations

from dataclasses import dataclass

from wattline.live.slurm.reading import SEPARATOR, moment_s, rows_of

WISH_COLUMNS = ("JobArrayID", "NumTasks", "cpus-per-task", "ntpernode", "Feature", "tres-per-node",
                "tres-per-job", "tres-per-task", "QOS", "Dependency", "EligibleTime",
                "OverSubscribe")
WISH_FORMAT = ",".join(f"{name}:{SEPARATOR}" for name in WISH_COLUMNS)
_NOTHING = ("", "N/A", "(null)", "NONE", "None")


@dataclass(frozen=True)
class Wish:
    """Of one job; numbers are -1 and texts empty where nothing is said."""

    tasks: int = -1
    cpus_per_task: int = -1
    tasks_per_node: int = -1
    features: str = ""
    per_node: str = ""
    """Devices of each node, `gres:gpu:2`; and of the job and of each task."""
    per_job: str = ""
    per_task: str = ""
    qos: str = ""
    dependency: str = ""
    """Of what is left of it: Slurm takes away what was met."""
    eligible_s: float = float("nan")
    exclusive: bool = False


def read_wishes(text: str) -> dict[str, Wish]:
    """By label, as `squeue -O` with `WISH_FORMAT` prints them."""
    found = {}
    for cells in rows_of(text, len(WISH_COLUMNS), "squeue"):
        said = {name: "" if cell in _NOTHING else cell
                for name, cell in zip(WISH_COLUMNS, cells, strict=True)}
        found[said["JobArrayID"]] = Wish(
            _number(said["NumTasks"]), _number(said["cpus-per-task"]), _number(said["ntpernode"]),
            said["Feature"], said["tres-per-node"], said["tres-per-job"], said["tres-per-task"],
            said["QOS"], said["Dependency"], moment_s(said["EligibleTime"]),
            said["OverSubscribe"] == "NO")
    return found


def _number(cell: str) -> int:
    return int(cell) if cell.isdecimal() and int(cell) > 0 else -1
