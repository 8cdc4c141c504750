"""Synthetic workloads: one model a file; the same seed gives the same trace, bit for bit."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from wattline.model.errors import InputError
from wattline.model.machine import MOST_NODES
from wattline.model.nearest import did_you_mean
from wattline.traces.generators.common import whole
from wattline.traces.trace import Trace

MODELS: Mapping[str, str] = {
    "leadership": "four months on a 49,152-node machine: two quiet, two busy",
    "lublin": "the Lublin-Feitelson model: sizes, run times and a daily cycle of arrivals",
    "poisson": "a mix of job types that arrive as a Poisson process",
    "esp2": "the Effective System Performance benchmark, version 2: 230 jobs of 14 types",
}
"""Name of each model and what it makes."""


MOST_JOBS = 10_000_000
"""That a generator makes; each takes some 250 bytes on the way."""


def generate(
    name: str,
    *,
    seed: int = 0,
    jobs: int | None = None,
    nodes: int | None = None,
    **options: Any,
) -> Trace:
    """Make a trace with the model of this name; `None` takes the model's own default.

    >>> import wattline as wl
    >>> len(wl.generate("lublin", seed=1, jobs=50, nodes=32))
    50
    """
    if name not in MODELS:
        raise InputError(f"there is no generator '{name}'; there are {', '.join(MODELS)}"
                         + did_you_mean(name, MODELS))
    for what, value, most in (("jobs", jobs, MOST_JOBS), ("nodes", nodes, MOST_NODES)):
        if value is not None:
            whole(what, value, 1, most)
    whole("seed", seed, 0)
    module = importlib.import_module(f"wattline.traces.generators.{name}")
    model: Callable[..., Trace] = module.generate
    chosen = {"jobs": jobs, "nodes": nodes, **options}
    try:
        return model(seed=seed, **{key: v for key, v in chosen.items() if v is not None})
    except TypeError as error:
        if "unexpected keyword argument" not in str(error):
            raise
        option = str(error).rsplit(" ", 1)[-1]
        raise InputError(f"the generator '{name}' has no option {option}") from None
