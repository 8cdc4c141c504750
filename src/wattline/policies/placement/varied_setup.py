"""From factors of nodes, drawn or measured, to the placement that knows them."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from pydantic import Field

from wattline.model.errors import InputError
from wattline.model.fields import FileName, Fraction, Whole
from wattline.policies.configuration.moldable_setup import offers_of
from wattline.policies.declaration import Declaration, Parameters
from wattline.policies.setting import Setting


class VariedParameters(Parameters):
    """Factors drawn with `sd` and `seed`, or from a `file`."""

    nodes: Literal["first", "thrifty"] = "first"
    caps: Literal["equal", "fitted"] = "equal"
    sd: Fraction | None = Field(None, ge=0, lt=1)
    seed: Whole = Field(1, ge=0)
    file: FileName | None = None


def _make(setting: Setting, given: VariedParameters) -> Any:
    from wattline.physics.variability import MEASURED_SD, NodeFactors, read_node_factors
    from wattline.policies.placement.varied import Varied

    count = setting.machine.node_count
    if given.file is not None:
        factors = read_node_factors(given.file)
        if len(factors.factor) < count:
            raise InputError(f"{given.file} has {len(factors.factor)} nodes, the machine {count}")
    else:
        sd = MEASURED_SD if given.sd is None else given.sd
        factors = NodeFactors.drawn(count, given.seed, sd)
    factor = np.array(factors.factor[:count])
    thrifty = given.nodes == "thrifty"
    order = np.argsort(factor, kind="stable") if thrifty else np.arange(count)
    return Varied(offers_of(setting), factor, order.astype(np.int64), int(given.caps == "fitted"))


VARIED = Declaration(
    "placement", "varied", "Nodes differ by manufacture; choose thrifty ones, fit their caps.",
    _make, VariedParameters)
