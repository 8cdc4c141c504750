"""Fit the models that the package ships, from the public measurement tables.

    python scripts/fit_shipped_models.py FOLDER

FOLDER holds `configs.csv.xz` and `sphot_grid.csv`. Only coefficients and errors are written; the
tables are not part of the project.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from wattline.physics.measurements import read_measurements
from wattline.physics.regression import Model, fit_with_errors, save_models
from wattline.physics.regression.base import Known

# Name in the package: (file, table).
APPLICATIONS = {
    "BT-MZ": ("configs.csv.xz", "bt-mz_8-32nodes_5caps"),
    "SPhot": ("sphot_grid.csv", "sphot"),
    "SC": ("configs.csv.xz", "synthetic_scale-cpu_8-16-32nodes"),
    "NSC": ("configs.csv.xz", "synthetic_noscale-cpu_8-16-32nodes"),
    "SM": ("configs.csv.xz", "synthetic_scale-mem_8-16-32nodes"),
    "NSM": ("configs.csv.xz", "synthetic_noscale-mem_8-16-32nodes"),
    "NAS-CG": ("configs.csv.xz", "nas_apr20_cg"),
    "NAS-EP": ("configs.csv.xz", "nas_apr20_ep"),
    "NAS-FT": ("configs.csv.xz", "nas_apr20_ft"),
    "NAS-LU": ("configs.csv.xz", "nas_apr20_lu"),
    "NAS-MG": ("configs.csv.xz", "nas_apr20_mg"),
    "Sweep3D": ("configs.csv.xz", "nas_apr20_sweep"),
}
TARGET = Path("src/wattline/physics/regression/shipped.json")


def main() -> None:
    folder = Path(sys.argv[1])
    models: dict[str, Model] = {}
    for name, (file, table) in APPLICATIONS.items():
        found = read_measurements(folder / file, "sphot")[table]
        made: Any = fit_with_errors(replace(found, application=name))
        models[name] = replace(made, known=Known(made.known.errors))
        print(name, models[name].trained_on, "configurations")
    save_models(models, TARGET)


if __name__ == "__main__":
    main()
