"""Pictures of the regulation study: savings beside the published ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wattline.studies.regulation.parts import PolicyOutcome
from wattline.studies.regulation.published import TRACES

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def savings(rows: Sequence[PolicyOutcome]) -> dict[str, tuple[float, float]]:
    """By workload, the saving of AQA's bid where it holds (else 0), and the published one."""
    return {row.name: (row.saving if row.met else 0.0, TRACES[row.name].saving)
            for row in rows if row.policy == "aqa" and row.name in TRACES}


def draw_savings(rows: Sequence[PolicyOutcome]) -> Figure:
    """A pair of bars per workload."""
    from matplotlib.figure import Figure

    found = savings(rows)
    figure = Figure(figsize=(10, 3.6), layout="constrained")
    axes = figure.subplots()
    for offset, number, word, colour in ((-0.2, 0, "here", "#0072B2"),
                                         (0.2, 1, "published", "#E69F00")):
        axes.bar([place + offset for place in range(len(found))],
                 [100 * pair[number] for pair in found.values()], 0.38, label=word, color=colour)
    axes.set_xticks(range(len(found)), list(found))
    axes.set_ylabel("saving, %")
    axes.set_title("AQA on the planned hour; no bar where no bid meets all constraints",
                   loc="left", fontsize=10)
    axes.legend(fontsize=8)
    return figure


def write_pictures(rows: Sequence[PolicyOutcome], folder: Path) -> list[Path]:
    """Write them as PNG; nothing where the 14 workloads were not run."""
    if not savings(rows):
        return []
    from wattline.analysis.drawing import png

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "regulation-savings.png"
    path.write_bytes(png(draw_savings(rows)))
    return [path]
