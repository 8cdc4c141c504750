"""Learn the priors of the capping model from whole tables.

    python scripts/learn_priors.py FOLDER

FOLDER holds `configs.csv.xz` and `sphot_grid.csv`. The priors learned from all applications are
printed, for `src/wattline/physics/regression/terms.py`. What they are worth on applications that
they have not seen is measured by `wattline study rmap --part unseen`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from wattline.physics.regression.learning import fit_widely, learn_priors
from wattline.physics.regression.terms import PARTS
from wattline.studies.rmap.tables import tables_of
from wattline.studies.rmap.unseen import application_of, knows, usable


def main() -> None:
    folder = Path(sys.argv[1])
    tables, _ = tables_of((folder / "configs.csv.xz", folder / "sphot_grid.csv"), None, 32)
    priors = learn_priors(fit_widely(usable(tables)[0]), application_of, knows)
    for part in PARTS:
        print(part, *(f"    {prior.name:14} {prior.mean:6.2f} {prior.sd:6.3f}"
                      for prior in getattr(priors, part)), sep="\n")


if __name__ == "__main__":
    main()
