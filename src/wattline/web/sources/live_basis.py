"""How the joules of a measured job are known: read, told or filled in, and what others say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wattline.account.measured.records import Source
from wattline.web.sources.shape import EnergyFigure, EnergyPart

SOURCES = {str(Source.SERIES): "the meters of its nodes",
           str(Source.SLURM_JOB): "Slurm, of the job",
           str(Source.SLURM_STEPS): "Slurm, of its steps"}
ONE_SOURCE = "one source alone knows its joules, so nothing says how far they may be off"


def energy_parts(life: Mapping[str, Any] | None) -> list[EnergyPart]:
    """Parts of the joules that count; none where there are none."""
    if life is None or not life["energy_j"]:
        return []
    filled = min(max(float(life["filled_j"]) / float(life["energy_j"]), 0.0), 1.0)
    if life["source"] == Source.SERIES:
        known = EnergyPart("measured", 1.0 - filled, "read from the meters of its nodes")
        rest = "filled in where the meters were silent, by the site's rule for gaps"
    else:
        known = EnergyPart("told", 1.0 - filled, "told by Slurm, from its own counters")
        rest = "shared out by time among steps that overlap"
    parts = [known, EnergyPart("filled", filled, rest)]
    return [part for part in parts if part.share > 0]


def other_figures(life: Mapping[str, Any] | None) -> list[EnergyFigure]:
    """What the sources that do not count have for the same job."""
    if life is None:
        return []
    return [EnergyFigure(SOURCES.get(source, source), float(energy_j))
            for source, energy_j in life["sources"].items()
            if source != life["source"] and energy_j > 0]


def no_range(life: Mapping[str, Any] | None) -> dict[str, str]:
    """Why there is no spread, where there is none."""
    if life is None or life["energy_j"] is None or other_figures(life):
        return {}
    return {"energy_range": ONE_SOURCE}
