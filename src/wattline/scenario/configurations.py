"""Policies for jobs that can run in several configurations, as a scenario names them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wattline.model.errors import InputError
from wattline.model.reading import is_file
from wattline.policies.going_together import MOLDABLE
from wattline.scenario.model import name_of
from wattline.scenario.parameters import policy_parameters

if TYPE_CHECKING:
    from wattline.model.jobs import JobTable
    from wattline.physics.configurations import ConfigurationTable
    from wattline.policies.configuration.offers import Offers
    from wattline.scenario.axes import Setting


def make_rule(rule: str) -> Callable[..., Any]:
    """How a scenario makes one of the rules; all take `table`, `model`, `store` and `margin`."""

    def make(setting: Setting, **parameters: Any) -> Any:
        from wattline.policies.configuration import moldable

        if setting.cap_w is None:
            raise InputError(f"power.cap: the configuration policy '{rule}' needs a cap, like 0.7, "
                             "1.4MW or a file")
        offers = make_offers_of(setting)
        _check_bound(setting, offers)
        if rule == "adaptive":
            threshold = parameters.get("threshold", 0.0)
            # In words: none, unbounded.
            return moldable.adaptive(offers, np.inf if isinstance(threshold, str) else threshold)
        return moldable.naive(offers) if rule == "naive" else moldable.traditional(offers)

    return make


def make_watts(lends: int) -> Callable[..., Any]:
    """Watts as a resource; for moldable jobs with or without loans of what is not used."""

    def make(setting: Setting) -> Any:
        if not is_moldable(setting.scenario.policy.configure):
            from wattline.policies.admission.watts import Watts

            return Watts()
        from wattline.policies.admission.lending import Lending, LendingMemory

        return Lending(make_offers_of(setting), LendingMemory.start(), lends)

    return make


def make_varied(
    setting: Setting, nodes: str = "first", caps: str = "equal", sd: float | None = None,
    seed: int = 1, file: str | None = None,
) -> Any:
    """Nodes that differ by manufacture: factors drawn with `sd` and `seed`, or from a `file`."""
    from wattline.physics.variability import MEASURED_SD, NodeFactors, read_node_factors
    from wattline.policies.placement.varied import Varied

    count = setting.machine.node_count
    if file is not None:
        factors = read_node_factors(file)
        if len(factors.factor) < count:
            raise InputError(f"{file} has {len(factors.factor)} nodes, the machine {count}")
    else:
        factors = NodeFactors.drawn(count, seed, MEASURED_SD if sd is None else sd)
    factor = np.array(factors.factor[:count])
    order = np.argsort(factor, kind="stable") if nodes == "thrifty" else np.arange(count)
    return Varied(make_offers_of(setting), factor, order.astype(np.int64), int(caps == "fitted"))


def is_moldable(choice: Any) -> bool:
    """Whether this choice along the axis `configure` lets jobs change their size."""
    return name_of(choice) in MOLDABLE


def make_offers_of(setting: Setting) -> Offers:
    """The configurations that the scenario's `policy.configure` names, for its jobs."""
    from wattline.policies.configuration.offers import make_offers

    choice = setting.scenario.policy.configure
    given = policy_parameters("configure", choice)
    if not is_moldable(choice):
        raise InputError(f"policy.configure must be one of {', '.join(MOLDABLE)} here")
    return make_offers(
        setting.jobs, _tables(given), cores=given.get("cores"), cap_w=given.get("cap_w"),
        weights=_weights(setting.jobs, given.get("weights", {})),
    )


def configurations_of(choice: Any, jobs: JobTable) -> dict[str, Any]:
    """What the numbers of configurations in a run mean, in columns; number 1 is the first."""
    from wattline.policies.configuration.offers import tables_used

    tables = _tables(policy_parameters("configure", choice))
    used = [tables[name] for name in tables_used(jobs, tables)[0]]
    columns = {name: np.concatenate([getattr(one, name) for one in used])
               for name in ("nodes", "cores", "cap_w", "time_s", "power_w")}
    return {"application": np.repeat([one.application for one in used], [len(t) for t in used]),
            **columns}


def notes_of(choice: Any, jobs: JobTable) -> list[str]:
    """What must be known of the tables that these jobs use."""
    from wattline.physics.measurements import find_application

    tables = _tables(policy_parameters("configure", choice))
    used = {find_application(tables, jobs.name_of("application", int(code)))[0].application
            for code in set(jobs.application.tolist())}
    return [f"{name}: {tables[name].note}" for name in sorted(used) if tables[name].note]


def _weights(jobs: JobTable, by_queue: Mapping[str, float]) -> Mapping[str, float]:
    """The weight of each job's share of the power, by the name of its queue."""
    unknown = set(by_queue) - {jobs.name_of("queue", int(code)) for code in jobs.queue}
    if unknown:
        raise InputError(f"policy.configure.weights: no job is in the queue '{min(unknown)}'")
    return by_queue


def _tables(given: dict[str, Any]) -> dict[str, ConfigurationTable]:
    sources = [name for name in ("table", "model", "store") if given.get(name) is not None]
    if len(sources) > 1:
        raise InputError(f"policy.configure: give one of {' and '.join(sources)}")
    margin = given.get("margin", 0.0)
    if given.get("table") is not None:
        path = Path(given["table"])
        return _measured(path, path.stat().st_mtime_ns if is_file(path) else 0)
    if given.get("store") is not None:
        from wattline.account.configurations import read_catalogue

        return dict(read_catalogue(given["store"]).by_name)
    from wattline.physics.regression import load_models, shipped_models

    models = load_models(given["model"]) if given.get("model") is not None else shipped_models()
    return {name: model.table(margin) for name, model in models.items()}


@lru_cache(maxsize=1)
def _measured(path: Path, _changed_ns: int) -> dict[str, ConfigurationTable]:
    """A file of tables, read once for the rule, the loans, the remarks and the run folder."""
    from wattline.physics.measurements import read_measurements

    return read_measurements(path)


def _check_bound(setting: Setting, offers: Offers) -> None:
    """A bound that is too small for an application is a mistake, not a reason to wait for ever."""
    assert setting.cap_w is not None
    highest_w = float(setting.cap_w.value.max())
    for code in range(len(offers.first_row) - 1):
        own = slice(offers.first_row[code], offers.first_row[code + 1])
        smallest_w = float(offers.row_power_w[own].min())
        if smallest_w > highest_w:
            row = int(setting.jobs.application[offers.code == code][0])
            name = setting.jobs.name_of("application", row)
            raise InputError(f"power.cap: {highest_w:g} W is below the smallest configuration of "
                             f"'{name}', which draws {smallest_w:.0f} W")
