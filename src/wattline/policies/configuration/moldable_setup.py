"""Declarations of the configuration rules: what was requested, or one of a table's rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field

from wattline.model.errors import InputError
from wattline.model.fields import FileName, Fraction, Said, Watts, Weight, Whole
from wattline.model.machine import MOST_CORES
from wattline.physics.dimensions import kind_of
from wattline.physics.power_scope import Words, with_scope
from wattline.policies.configuration.bounded_tables import placeable
from wattline.policies.declaration import Declaration, Parameters, of_numbers
from wattline.policies.going_together import MOLDABLE
from wattline.policies.setting import Outside, Setting

if TYPE_CHECKING:
    from wattline.model.jobs import JobTable
    from wattline.physics.configurations import ConfigurationTable
    from wattline.policies.configuration.offers import Offers

Tables = Mapping[str, "ConfigurationTable"]
_WORDS = Words("policy.configure.power_scope", "machine.node_base_w", "machine.node_idle_w")


class MoldableParameters(Parameters):
    """Where the configurations come from: a table (with a map of its columns), a model file or a
    store, else the shipped models."""

    table: FileName | None = None
    map: Annotated[str, Said("forms", "NAME=COLUMN, separated by commas")] | None = None
    model: FileName | None = None
    store: Annotated[FileName, Said("forms", "a file or a database's URL")] | None = None
    margin: Fraction = Field(0.0, ge=0, le=1000)
    power_scope: Literal["devices", "node", "wall"] | None = None
    """Of what the watts of the configurations are, where their source does not say it: counters of
    CPUs, memory or GPUs, meters of nodes, or the wall. The cap is kept at the wall."""
    threshold: Annotated[Fraction, Field(ge=0)] | Literal["none", "unbounded", "inf"] = 0.0
    unknown: Literal["traditional", "refuse"] = "traditional"
    """A job whose application has no table runs as requested, for the time and at the watts of the
    log, or the rated power of its nodes; or the run is refused, and live the job."""


class FixedParameters(MoldableParameters):
    cores: Whole | None = Field(None, ge=1, le=MOST_CORES)
    cap_w: Watts | None = Field(None, gt=0)
    settings: dict[str, Annotated[Weight, Field(gt=0)]] = Field(default_factory=dict)
    """Whatever else a table sets, by the name of its column: `{gpus = 2, gpu_cap_w = 300}`."""

    def asked(self) -> dict[str, float]:
        """The settings that all jobs are given; the others are the most of each table."""
        named = {name: float(value) for name, value in (("cores", self.cores),
                                                        ("cap_w", self.cap_w))
                 if value is not None}
        twice = sorted(set(named) & set(self.settings))
        if twice:
            raise InputError(f"policy.configure: give {twice[0]} or settings.{twice[0]}, not both")
        return named | self.settings


class WeightedParameters(MoldableParameters):
    weights: dict[str, Annotated[Weight, Field(gt=0)]] = Field(default_factory=dict)
    holds: Literal["draw", "share"] = "draw"
    """Of the power, while a job runs: what its configuration draws, or what it was chosen for."""
    above_share: Literal["wait", "least-power"] = "wait"
    """A job of which every configuration draws more than its share: it waits for a cap that gives
    it more, and is refused where no cap to come does; or it runs in the one that draws least."""


def offers_of(setting: Setting) -> Offers:
    """The configurations that the choice along `configure` names, for these jobs."""
    from wattline.policies.configuration.offers import make_offers

    chosen = setting.chosen["configure"]
    if chosen.name not in MOLDABLE:
        raise InputError(f"policy.configure must be one of {', '.join(MOLDABLE)} here")
    given = chosen.given
    if setting.made.tables is None:
        setting.made.tables = _at_cap(read_tables(given, setting.outside), setting)
        setting.made.placeable = placeable(_used(setting.made.tables, setting.jobs), setting)
    if setting.made.offers is not None:  # the axes must hold the same, to see what jobs hold
        return setting.made.offers
    setting.made.offers = make_offers(
        setting.jobs, setting.made.tables,
        asked=given.asked() if isinstance(given, FixedParameters) else {},
        weights=_weights(setting.jobs, getattr(given, "weights", {})),
        placeable=setting.made.placeable, refuse_unknown=given.unknown == "refuse",
        logged=setting.logged,
    )
    setting.made.assumed += _without_table(setting.jobs, setting.made.offers)
    return setting.made.offers


def _at_cap(tables: Tables, setting: Setting) -> Tables:
    """The tables, those that jobs use with their watts where the cap is kept.

    Where jobs are yet to come, a table whose watts cannot be is left out and does not stop others.
    """
    power, used = setting.node_power, _used(tables, setting.jobs)
    found, wrong = dict(tables), []
    for name, table in used.items():
        try:
            found[name] = power.at_bound(table, _WORDS)
        except InputError as error:
            if len(setting.jobs):
                raise
            wrong.append(f"{error}; '{name}' counts as not measured")
            del found[name]
    if not found:
        raise InputError(wrong[0].rpartition("; ")[0])
    said = (power.remark(*(used[name] for name in used if name in found), words=_WORDS), *wrong)
    setting.made.assumed += tuple(f"policy.configure: {line}" for line in said if line)
    return found


def _without_table(jobs: JobTable, offers: Offers) -> tuple[str, ...]:
    """Say how many jobs have an application that nobody measured, and what becomes of them."""
    rows = np.flatnonzero(offers.code < 0)
    if not rows.size:
        return ()
    codes = jobs.application[rows]
    names = [f"'{jobs.name_of('application', int(code))}'" for code in dict.fromkeys(
        codes[codes >= 0].tolist())]
    unnamed = int((codes < 0).sum())
    said = ", ".join([*names[:3], *(["..."] if len(names) > 3 else []),
                      *([f"{unnamed:,} without a name"] if unnamed else [])])
    return (f"policy.configure: {rows.size:,} of {len(jobs):,} jobs have no measured application "
            f"({said}) and run as requested, for the time of the log, at its watts or the rated "
            f"power of nodes (unknown = 'traditional'); the first is job {jobs.job_id[rows[0]]}",)


def unmeasured_jobs(policy: Any) -> int:
    """Jobs of a policy that chooses configurations whose application has none."""
    from wattline.policies.configuration.moldable import Moldable

    rule = getattr(policy, "configuration", None)
    return int((rule.offers.code < 0).sum()) if isinstance(rule, Moldable) else 0


def _used(tables: Tables, jobs: JobTable) -> Tables:
    """Those that these jobs use; all where they are yet to come."""
    from wattline.policies.configuration.offers import tables_used

    return {name: tables[name] for name in tables_used(jobs, tables)[0]} if len(jobs) else tables


def read_tables(given: MoldableParameters, outside: Outside) -> Tables:
    """The tables that parameters name, by application."""
    return {name: with_scope(table, given.power_scope or "")
            for name, table in _read(given, outside).items()}


def _read(given: MoldableParameters, outside: Outside) -> Tables:
    sources = [name for name in ("table", "model", "store") if getattr(given, name) is not None]
    if len(sources) > 1:
        raise InputError(f"policy.configure: give one of {' and '.join(sources)}")
    if given.map is not None and "=" not in given.map:
        raise InputError(f"policy.configure: the map '{given.map}' must be NAME=COLUMN, separated "
                         "by commas, like gpu_cap_w=POWER_LIMIT")
    if given.table is not None:
        from wattline.physics.measurements import read_measurements

        return read_measurements(given.table, columns=given.map)
    if given.map is not None:
        raise InputError("policy.configure: a map names columns of a table; give the table too")
    if given.store is not None:
        return outside.configurations(given.store)
    from wattline.physics.regression import load_models, shipped_models

    models = shipped_models() if given.model is None else load_models(given.model)
    return {name: model.table(given.margin) for name, model in models.items()}


def columns_of(tables: Tables, jobs: JobTable) -> dict[str, Any]:
    """What the numbers of configurations in a run mean, in columns; number 1 is the first."""
    from wattline.policies.configuration.offers import tables_used

    used = [tables[name] for name in tables_used(jobs, tables)[0]]
    names = dict.fromkeys(name for one in used for name in one.names)
    settings = {name: np.concatenate([one.settings.get(name, np.full(len(one), np.nan))
                                      for one in used]) for name in names}
    whole = {name: values.astype(np.int64) for name, values in settings.items()
             if kind_of(name) == "count" and np.isfinite(values).all()}
    columns = {name: np.concatenate([getattr(one, name) for one in used])
               for name in ("nodes", "time_s", "power_w")}
    return {"application": np.repeat([one.application for one in used], [len(t) for t in used]),
            "nodes": columns["nodes"], **settings, **whole, "time_s": columns["time_s"],
            "power_w": columns["power_w"]}


def notes_of(tables: Tables, jobs: JobTable) -> list[str]:
    """What must be known of the tables that these jobs use."""
    from wattline.policies.configuration.offers import tables_used

    used = sorted(tables_used(jobs, tables)[0])
    return [f"{name}: {tables[name].note}" for name in used if tables[name].note]


def _weights(jobs: JobTable, by_queue: Mapping[str, float]) -> Mapping[str, float]:
    """The weight of each job's share of the power, by the name of its queue."""
    unknown = set(by_queue) - {jobs.name_of("queue", int(code)) for code in jobs.queue}
    if unknown:
        raise InputError(f"policy.configure.weights: no job is in the queue '{min(unknown)}'")
    return by_queue


def _make(rule: str) -> Callable[[Setting, Any], Any]:
    def make(setting: Setting, given: MoldableParameters) -> Any:
        from wattline.policies.configuration import moldable

        if setting.cap_w is None:
            raise InputError(f"power.cap: the configuration policy '{rule}' needs a cap, like 70%, "
                             "1.4MW or a file")
        offers = offers_of(setting)
        _check_bound(setting, offers)
        _check_holding(setting, given)
        if not isinstance(given, WeightedParameters):
            return moldable.traditional(offers)
        holds, least = int(given.holds == "share"), int(given.above_share == "least-power")
        if rule == "naive":
            return moldable.naive(offers, holds, least)
        threshold = given.threshold  # in words: none, unbounded
        return moldable.adaptive(
            offers, np.inf if isinstance(threshold, str) else threshold, holds, least)

    return make


def _check_bound(setting: Setting, offers: Offers) -> None:
    """A bound that is too small for an application is a mistake, not a reason to wait for ever.

    Where jobs are yet to come, those of such an application are refused when they do.
    """
    assert setting.cap_w is not None
    if not len(setting.jobs):
        return
    highest_w = float(setting.cap_w.value.max())
    for code in range(len(offers.first_row) - 1):
        own = slice(offers.first_row[code], offers.first_row[code + 1])
        smallest_w = float(offers.row_power_w[own].min())
        if smallest_w > highest_w:
            row = int(setting.jobs.application[offers.code == code][0])
            name = setting.jobs.name_of("application", row)
            raise InputError(f"power.cap: {highest_w:g} W is below the smallest configuration of "
                             f"'{name}', which draws {smallest_w:.0f} W")


def _check_holding(setting: Setting, given: MoldableParameters) -> None:
    """Only where watts are a resource somebody asks what jobs hold beside their draw."""
    power = setting.chosen["power"].name
    if getattr(given, "holds", "draw") == "share" and power not in ("watts", "lending"):
        raise InputError(f"policy.configure.holds = 'share' does not go with policy.power "
                         f"'{power}', which goes by what jobs draw; use watts or lending")


def _rule(name: str, summary: str, parameters: type[MoldableParameters]) -> Declaration:
    return Declaration("configure", name, summary, _make(name), parameters,
                       needs="a cap (power.cap) and jobs that name their application")


REQUESTED = Declaration("configure", "requested", "The size and time that the user asked for.",
                        of_numbers("configuration.requested", "Requested"))
TRADITIONAL = _rule(
    "traditional",
    "The requested nodes, all cores, no cap; fewer nodes where power does not suffice.",
    MoldableParameters)
FIXED = _rule("fixed", "The requested nodes with the same cores, cap and other settings for all.",
              FixedParameters)
NAIVE = _rule("naive", "The fastest configuration under the job's fair share of the power.",
              WeightedParameters)
ADAPTIVE = _rule(
    "adaptive", "The same, or at once with the power there is, if not much slower than requested.",
    WeightedParameters)
