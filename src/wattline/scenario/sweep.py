"""A scenario once for each value of a field, or for each combination of several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from wattline.analysis.comparison import Comparison
from wattline.analysis.naming import unique_name
from wattline.analysis.result import Result
from wattline.model.errors import InputError, WattlineError, in_callers_terms, warn
from wattline.policies.declaration import AXES
from wattline.scenario.caps import CHOICES, NO_CAP, has_keeper
from wattline.scenario.in_python import Asked, Source, asked
from wattline.scenario.load import parse_value
from wattline.scenario.model import Scenario
from wattline.scenario.objects import Keeper, PolicyObject
from wattline.scenario.parameters import WORKLOAD
from wattline.traces.frames import is_table, rows_of

_PARAMETERS = ("trace", "machine", "cap", "watch_cap", "policy")
"""What `simulate` takes beside the axes and the fields of a scenario."""
_WORDS = ("assumed", "remarks")
"""Among the figures of a run, what is no figure."""
_SIZES = {"machine", "machine.nodes", "machine.classes"}
"""What decides how large a machine is."""
_MADE_FOR = "trace.parameters.nodes"
_FITTED = ("each machine has generated jobs of its own: the scenario names no size that they are "
           "made for (trace.parameters.nodes)")
USUAL_KEEPER = "dvfs"
"""Keeps a cap that is varied where no power policy is chosen."""


def sweep(
    scenario: Source | None = None, *, vary: Mapping[str, Iterable[Any]],
    allow_code: bool = False, progress: Callable[[float], None] | None = None, **given: Any,
) -> Comparison:
    """Simulate once for each combination of the values in `vary`, and compare with the first.

    `vary` names what `simulate` takes, or a field of the scenario with a dot; `given` is for all
    runs. All are checked before the first of them costs any time.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=30, nodes=32)
    >>> machine = wl.Machine(nodes=32, node_idle_w=90, node_active_w=300)
    >>> found = wl.sweep(trace, vary={"power": [None, wl.Dvfs(cap="80%")]}, machine=machine)
    >>> list(found.runs)
    ['lublin seed 1: power none', 'lublin seed 1: power dvfs, cap 80%']
    """
    todo: dict[str, Asked] = {}
    said: dict[str, tuple[str, ...]] = {}
    listed = {name: _listed(name, values) for name, values in vary.items()}

    def load(changes: Mapping[str, Any]) -> Scenario:
        return asked_for(scenario, changes, allow_code).scenario

    _refuse_twice(given, listed)
    same, fitted = same_jobs(load, given, listed)
    for varied in combinations(listed):
        changes, dropped = without_watched(load, {**given, **same, **varied}, varied)
        found = asked_for(scenario, changes, allow_code)
        name = unique_name(label(found.scenario.name, varied), todo)
        kept, keeper = with_keeper(found.scenario, varied, found.policy is not None)
        said[name] = (*fitted, *dropped, *keeper)
        todo[name] = _named(replace(found, scenario=kept), name)
    runs: dict[str, Result] = {}
    for name, found in todo.items():
        run = found.plan().run()
        runs[name] = replace(run, remarks=(*run.remarks, *said[name]))
        warn(runs[name].remarks)
        if progress is not None:
            progress(len(runs) / len(todo))
    compared = Comparison(runs)
    alike = all_alike(compared.figures, listed)
    warn(alike)
    return replace(compared, said=alike)


def _listed(name: str, values: Any) -> Any:
    """Of a cap None is a value, no cap, where elsewhere it is what was not given."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        return values
    return tuple(NO_CAP if value is None and name in ("cap", "watch_cap") else value
                 for value in values)


def all_alike(
    figures: Mapping[str, Mapping[str, Any]], varied: Mapping[str, Any]
) -> tuple[str, ...]:
    """A line where what was varied changed no figure of any run."""
    texts = {repr({name: value for name, value in found.items() if name not in _WORDS})
             for found in figures.values()}
    if len(figures) < 2 or not varied or len(texts) > 1:
        return ()
    return (f"all {len(figures)} runs come out alike: {' and '.join(varied)} changed nothing",)


def _refuse_twice(given: Mapping[str, Any], varied: Iterable[str]) -> None:
    """What is varied cannot be given too: it would be dropped without a word."""
    fields = {_field_of(name): name for name in given}
    for name in varied:
        other = fields.get(_field_of(name))
        if other is not None:
            raise InputError(f"{other} is given and {name} is varied, which is the same; leave one "
                             "out")


def _field_of(name: str) -> str:
    """The field of a scenario that a name of `simulate` stands for."""
    if name in AXES:
        return f"policy.{name}"
    return f"power.{name}" if name in ("cap", "watch_cap") else name.replace("__", ".")


def with_keeper(
    scenario: Scenario, varied: Iterable[str], in_python: bool = False
) -> tuple[Scenario, tuple[str, ...]]:
    """Let somebody keep a cap that is varied where nobody would, and say who it is.

    Where the power policy is varied too, that nobody keeps the cap is what was asked for.
    """
    names = {name.replace("__", ".") for name in varied}
    if (not {"cap", "power.cap"} & names
            or scenario.power.cap in (None, NO_CAP) or has_keeper(scenario, in_python)):
        return scenario, ()
    if {"power", "policy.power"} & names:
        raise InputError(f"policy.power 'none' keeps no cap, and power.cap is "
                         f"{scenario.power.cap}; {CHOICES}")
    policy = scenario.policy.model_copy(update={"power": USUAL_KEEPER})
    return scenario.model_copy(update={"policy": policy}), (in_callers_terms(
        f"no power policy is chosen: '{USUAL_KEEPER}' keeps the cap that is varied; --power-policy "
        "(policy.power) chooses another"),)


def same_jobs(
    load: Callable[[Mapping[str, Any]], Scenario], given: Mapping[str, Any], varied: Iterable[str]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What to change so that a generated workload has the same jobs on every machine that is
    varied: those for the scenario's own. Where it has none, a line says that they differ."""
    names = {name.replace("__", ".") for name in varied}
    if not names & _SIZES or _MADE_FOR in names:
        return {}, ()
    try:
        base = load(given)
    except WattlineError:  # it lacks what is varied, or has a mistake that is named later
        return {}, ()
    if base.trace.generate in (None, WORKLOAD) or "nodes" in base.trace.parameters:
        return {}, ()
    nodes = base.machine.nodes or sum(each.count for each in base.machine.classes)
    return ({_MADE_FOR: nodes}, ()) if nodes else ({}, (_FITTED,))


def without_watched(
    load: Callable[[Mapping[str, Any]], Scenario], changes: Mapping[str, Any],
    varied: Iterable[str],
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What to change where a cap is varied, so that the one which the scenario only watches does
    not contradict it; and a line that says so.

    A policy that is varied may bring a cap of its own; then a cap that the caller watches is
    measured in the runs beside it that have none.
    """
    fields = {name: name.replace("__", ".") for name in changes}
    caps = {name for name, field in fields.items() if field in ("cap", "power.cap")
            or (isinstance(changes[name], Keeper) and changes[name].cap is not None)}
    asked = {name for name, field in fields.items() if field in ("watch_cap", "power.watch_cap")}
    named = {name for name in caps & set(varied) if not isinstance(changes[name], Keeper)}
    if not caps & set(varied) or (asked and named):
        return dict(changes), ()
    watched = load({name: value for name, value in changes.items() if name not in caps})
    if watched.power.watch_cap in (None, NO_CAP):
        return dict(changes), ()
    left = {name: value for name, value in changes.items() if name not in asked}
    return {**left, "power.watch_cap": NO_CAP}, (
        f"power.watch_cap {watched.power.watch_cap}{'' if asked else ' of the scenario'} is left "
        "out: the cap is varied",)


def combinations(vary: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Every combination of the values, the last name's changing first; one where none varies."""
    for name, values in vary.items():
        if isinstance(values, str) or not isinstance(values, Sequence) or not values:
            raise InputError(f"vary: {name} needs a list of values, like [0.6, 0.7, 0.8]")
    for values in product(*vary.values()):
        yield dict(zip(vary, values, strict=True))


def label(name: str, varied: Mapping[str, Any]) -> str:
    """What a run of a sweep is called: the scenario, and what is special about it."""
    said = ", ".join(f"{field.replace('__', '.').split('.')[-1]} {_in_words(value)}"
                     for field, value in varied.items())
    return f"{name}: {said}"[:200] if said else name


def _in_words(value: Any) -> str:
    """A choice with its parameters as people say it: `wfp, exponent 2`."""
    if isinstance(value, PolicyObject):
        value = {"name": value.NAME, **value.said()}
    if is_table(value):
        value = rows_of(value)
    if isinstance(value, list | tuple) and all(isinstance(each, Mapping) for each in value):
        return " then ".join(map(_in_words, value))
    if isinstance(value, Mapping):
        named = [str(value["name"])] if "name" in value else []
        return ", ".join(named + [f"{field} {_in_words(each)}" for field, each in value.items()
                                  if field != "name"])
    return "none" if value is None else str(value)


def parse_variations(texts: Iterable[str]) -> dict[str, list[Any]]:
    """`power.cap=60%,70%` as typed on the command line: the field and its values."""
    found: dict[str, list[Any]] = {}
    for text in texts:
        field, equals, values = text.partition("=")
        field = field.strip()
        if not equals or not values:
            raise InputError(f"'{text}' is no variation; write it like power.cap=60%,70%,80%")
        if field in found:
            raise InputError(f"{field} is varied twice; give all its values at once")
        found[field] = [parse_value(value) for value in split_values(values)]
    return found


def asked_for(
    scenario: Source | None, given: Mapping[str, Any], allow_code: bool = False
) -> Asked:
    """What `simulate` takes, given by name."""
    own = {name: given[name] for name in _PARAMETERS if name in given}
    policies = {axis: given[axis] for axis in AXES if axis in given}
    fields = {name: value for name, value in given.items()
              if name not in own and name not in policies}
    return asked(scenario, policies=policies, allow_code=allow_code, fields=fields, **own)


def _named(found: Asked, name: str) -> Asked:
    return replace(found, scenario=found.scenario.model_copy(update={"name": name}))


def split_values(values: str) -> list[str]:
    """Split at commas, but not inside tables, lists and quotes."""
    parts, depth, quoted = [""], 0, False
    for sign in values:
        quoted ^= sign == '"'
        depth += (sign in "[{") - (sign in "]}")
        if sign == "," and depth == 0 and not quoted:
            parts.append("")
        else:
            parts[-1] += sign
    return parts
