"""Learning time and power of an application from a few measured configurations."""

from wattline.physics.regression.base import Grid, Model, ModelErrors, Prediction, error_summary
from wattline.physics.regression.design import suggest
from wattline.physics.regression.files import load_models, save_models, shipped_models
from wattline.physics.regression.fitting import (
    KINDS,
    Fit,
    TooFewError,
    fit,
    fit_and_check,
    fit_with_errors,
)

__all__ = [
    "KINDS", "Fit", "Grid", "Model", "ModelErrors", "Prediction", "TooFewError", "error_summary",
    "fit", "fit_and_check", "fit_with_errors", "load_models", "save_models", "shipped_models",
    "suggest",
]
