"""The picture of the fair-share study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from wattline.studies.fairshare.study import ShareResult, stretches

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def picture(found: ShareResult) -> Figure:
    """The distribution of the stretch by user: one panel per order."""
    from wattline.analysis.drawing import COLOURS, DASHES, INK, legend_above, sheet

    figure, panels = sheet(len(found.runs), 2.6 * len(found.runs) + 0.6)
    for axes, (order, run) in zip(panels, found.runs.items(), strict=True):
        for number, (user, values) in enumerate(stretches(run).items()):
            part = np.arange(1, values.size + 1) / values.size
            axes.step(np.append(1.0, values), np.append(0.0, part), where="post", label=user,
                      color=COLOURS[number], linestyle=DASHES[number], linewidth=2.0)
        axes.set_title(order, loc="left", fontsize="medium", color=INK)
        axes.set_ylabel("part of the jobs", color=INK)
        axes.set_ylim(0, 1.02)
    panels[-1].set_xlabel("stretch: turnaround over run time", color=INK)
    legend_above(panels[0])
    return figure


def write_pictures(found: ShareResult, folder: Path) -> list[Path]:
    """Write it as PNG."""
    from wattline.analysis.drawing import png

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "fairshare-stretch.png"
    path.write_bytes(png(picture(found)))
    return [path]
