"""Two models of time at once: what processors do, and what was measured nearby.

On applications that the priors of the capping model were not learned from, a model that knows
nothing of processors is now and then the better one for time. The mean of both logarithms is never
as wrong as the worse of them. For power the capping model alone was better throughout.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from wattline.model.signal import FloatArray
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.regression.base import Grid, Model, Prediction
from wattline.physics.regression.capping import CappingModel, fit_capping
from wattline.physics.regression.smooth import SmoothModel, fit_smooth
from wattline.physics.regression.terms import SHIPPED, Priors


@dataclass(frozen=True, eq=False)
class MixedModel(Model):
    """Power of the capping model; time as the mean of its logarithm and the smooth model's."""

    application: str
    grid: Grid
    trained_on: int
    capping: CappingModel
    smooth: SmoothModel
    kind: str = "mixed"
    note: str = ""

    def predict_points(self, points: FloatArray) -> Prediction:
        one, other = self.capping.predict_points(points), self.smooth.predict_points(points)
        apart = np.log(one.time_s / other.time_s)
        # Half of what they differ by is unknown, beside what each says of itself.
        sd = np.sqrt((one.time_sd**2 + other.time_sd**2) / 2.0 + apart**2 / 4.0)
        return Prediction(np.sqrt(one.time_s * other.time_s), one.power_w, sd, one.power_sd)

    def as_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "grid": self.grid.as_dict(), "trained_on": self.trained_on,
                "capping": self.capping.as_dict(), "smooth": self.smooth.as_dict()}

    @classmethod
    def from_dict(cls, application: str, grid: Grid, stored: Mapping[str, Any]) -> MixedModel:
        return cls(application, grid, int(stored["trained_on"]),
                   CappingModel.from_dict(application, grid, stored["capping"]),
                   SmoothModel.from_dict(application, grid, stored["smooth"]),
                   note=str(stored.get("note", "")))


def fit_mixed(
    table: ConfigurationTable, grid: Grid, sockets: int = 2, priors: Priors = SHIPPED
) -> MixedModel:
    """Fit both to every row of a table."""
    one = fit_capping(table, grid, sockets, priors)
    return MixedModel(table.application, grid, len(table), one, fit_smooth(table, grid, priors),
                      note=one.note)
