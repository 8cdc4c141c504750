"""Time and power of one configuration, from a fitted model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattline.model.errors import InputError, warn
from wattline.model.shown import Shown
from wattline.model.units import part_of, plain_number, watts_of
from wattline.physics.configurations import MEASURED, PREDICTED
from wattline.physics.dimensions import WHOLE, is_cap
from wattline.physics.regression import ModelErrors, load_models, shipped_models
from wattline.physics.regression.base import interval_90
from wattline.physics.regression.files import find_model
from wattline.physics.regression.reach import Outside

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class PredictedConfiguration(Shown):
    """What a model says of a configuration, with intervals that hold 90 %."""

    application: str
    kind: str
    """Of the model."""
    note: str
    """What must be known of the figures that it was trained on."""
    nodes: int
    settings: dict[str, float]
    """What else was asked: cores, caps."""
    time_s: float
    time_s_interval_90: tuple[float, float]
    power_w: float
    power_w_interval_90: tuple[float, float]
    margin: float
    """For the power to reserve."""
    outside: tuple[Outside, ...]
    """How far it lies outside of what was measured; the intervals are widened by as much."""
    power_scope: str = ""
    """Of what the watts are: of devices, of the node or at the wall; empty where nobody said."""
    basis: str = PREDICTED
    """`measured` where just this configuration was; then nothing is added to its power."""
    errors: ModelErrors | None = None
    """Of the model about configurations that it has not seen; None where they are not known."""

    @property
    def cores(self) -> int:
        return int(self.settings["cores"])

    @property
    def cap_w(self) -> float:
        return self.settings["cap_w"]

    @property
    def power_w_to_reserve(self) -> float:
        return self.power_w * (1.0 + self.margin)

    @property
    def remarks(self) -> tuple[str, ...]:
        note = (f"{self.application}: {self.note}",) if self.note else ()
        return (*note, *(f"{one}; the intervals are widened by as much" for one in self.outside))

    def to_pandas(self) -> pd.DataFrame:
        """One row, so that several predictions stand below each other with `pandas.concat`."""
        import pandas as pd

        return pd.DataFrame([{
            "application": self.application, "nodes": self.nodes, **self.settings,
            "time_s": self.time_s, "time_s_low": self.time_s_interval_90[0],
            "time_s_high": self.time_s_interval_90[1], "power_w": self.power_w,
            "power_w_low": self.power_w_interval_90[0], "power_w_high": self.power_w_interval_90[1],
            "power_w_to_reserve": self.power_w_to_reserve}])

    def to_dict(self) -> dict[str, Any]:
        return {
            "application": self.application, "kind": self.kind, "note": self.note,
            "nodes": self.nodes, **self.settings, "time_s": self.time_s,
            "time_s_interval_90": list(self.time_s_interval_90), "power_w": self.power_w,
            "power_w_interval_90": list(self.power_w_interval_90),
            "power_w_to_reserve": self.power_w_to_reserve, "margin": self.margin,
            "basis": self.basis, "model_errors": self.errors and self.errors.as_dict(),
            "power_scope": self.power_scope or None, "outside_training": bool(self.outside),
            "outside": {one.name: one.as_dict() for one in self.outside},
        }


def predict(
    application: str, *, nodes: int, cores: int | None = None, cap: float | str | None = None,
    model: str | Path | None = None, margin: float | str = 0.15, extrapolate: bool = False,
    **settings: float | str,
) -> PredictedConfiguration:
    """Predict time and power of an application in one configuration.

    Where just this configuration was measured, that is the answer (`basis`). `cap` is of each
    socket; what else the model was trained by is given by its name (`gpus=4, gpu_cap_w="400W"`).
    `model` is a file that `fit` wrote, else the shipped ones. Beyond twice what the model was
    trained on an answer is refused unless it is to `extrapolate`.

    >>> import wattline as wl
    >>> found = wl.predict("BT-MZ", nodes=16, cores=16, cap="115W")
    >>> low_s, high_s = found.time_s_interval_90
    >>> low_s < found.time_s < high_s
    True
    """
    models = load_models(model) if model else shipped_models()
    found = find_model(models, application)
    part = part_of(margin)
    if part < 0:
        raise InputError(f"--margin is {margin}, must not be negative")
    given: dict[str, Any] = {"cores": cores, "cap_w": None if cap is None else watts_of(cap),
                             **{name: _value(name, value) for name, value in settings.items()}}
    asked = {name: value for name, value in given.items() if value is not None}
    predicted = found.predict(nodes, extrapolate=extrapolate, **asked)
    was_measured = predicted.measured is not None and bool(predicted.measured[0])
    made = PredictedConfiguration(
        found.application, found.kind, found.note, nodes,
        {name: asked[name] for name in found.grid.names[1:]},
        float(predicted.time_s[0]), interval_90(predicted.time_s[0], predicted.time_sd[0]),
        float(predicted.power_w[0]), interval_90(predicted.power_w[0], predicted.power_sd[0]),
        0.0 if was_measured else part,
        tuple(found.grid.outside([nodes, *(asked[name] for name in found.grid.names[1:])])),
        found.power_scope, MEASURED if was_measured else PREDICTED, found.known.errors,
    )
    warn(made.remarks)
    return made


def _value(name: str, given: float | str) -> float:
    if is_cap(name):
        return watts_of(given) if isinstance(given, str) else given
    try:
        value = plain_number(given) if isinstance(given, str) else given
    except ValueError:
        raise InputError(f"{name} is '{given}', must be a number") from None
    if name in WHOLE and value % 1:
        raise InputError(f"{name} is {value:g}, must be a whole number")
    return value
