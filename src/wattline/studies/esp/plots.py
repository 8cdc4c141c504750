"""Pictures of the ESP study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from wattline.studies.esp.study import EspCase

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def pictures(found: list[EspCase]) -> dict[str, Figure]:
    """Power and utilisation over time, a panel per case."""
    from wattline.analysis import plots

    return {
        f"{name}-{group}": drawn({case.title: case.run for case in members})
        for group, members in (("one-mix", found[:3]), ("leaning", found[3:]))
        for name, drawn in (("power", plots.power), ("utilisation", plots.utilisation))
    }


def write_pictures(found: list[EspCase], folder: Path) -> list[Path]:
    """Write them as PNG."""
    from wattline.analysis.drawing import png

    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, figure in pictures(found).items():
        written.append(folder / f"esp-{name}.png")
        written[-1].write_bytes(png(figure))
    return written
