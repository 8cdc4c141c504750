"""The answer to a what-if, made in a worker: baseline and variant, side by side.

Logs that were read and baselines that were run are kept by their content: who drags the cap asks
for one baseline and a new variant each time.
"""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from wattline.analysis.other_caps import ABOVE_CAP_OF, against_other_caps
from wattline.analysis.result import Result
from wattline.model.errors import InputError, WattlineError
from wattline.scenario.build import plan, read_trace
from wattline.scenario.load import validate
from wattline.scenario.model import Scenario
from wattline.traces import Trace
from wattline.web.whatif.baseline import GIVEN, baseline_of
from wattline.web.whatif.curves import curves
from wattline.web.whatif.hurt import MOST_ROWS, who_is_hurt

Kept = TypeVar("Kept")


class LatestKept(Generic[Kept]):
    """The last few of what took long to make."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._held: OrderedDict[str, Kept] = OrderedDict()

    def get(self, key: str, make: Callable[[], Kept]) -> Kept:
        if key not in self._held:
            self._held[key] = make()
            while len(self._held) > self.most:
                self._held.popitem(last=False)
        self._held.move_to_end(key)
        return self._held[key]

    def __contains__(self, key: str) -> bool:
        return key in self._held


@dataclass(frozen=True, eq=False)
class Side:
    """One of the two runs, and what is said of it."""

    run: Result
    metrics: dict[str, Any]
    curves: dict[str, Any]


_TRACES: LatestKept[Trace] = LatestKept(4)
_BASELINES: LatestKept[Side] = LatestKept(6)


def content_key(fields: Mapping[str, Any]) -> str:
    """What a scenario asks, whatever it is called."""
    asked = {name: value for name, value in fields.items() if name != "name"}
    return json.dumps(asked, sort_keys=True, separators=(",", ":"))


def what_if(given: Mapping[str, Any]) -> dict[str, Any]:
    """Both runs; `given` has `variant`, `baseline` or nothing, and `files`: uploads by name."""
    begun_s = time.perf_counter()
    fields, files = given["variant"], given.get("files") or {}
    said = GIVEN
    base = given.get("baseline")
    if base is None:
        base, said = baseline_of(fields)
    known = content_key(base) in _BASELINES
    first = _in_words("baseline", lambda: _BASELINES.get(
        content_key(base), lambda: _side(base, files)))
    second = _side(fields, files)
    hurt = who_is_hurt(first.run, second.run)
    remarks = [f"baseline: {line}" for line in first.run.remarks
               if line not in second.run.remarks and line not in first.run.assumed]
    return {
        "baseline": {"said": said, "metrics": _held_against(first, second.run), "cached": known},
        "variant": {"said": str(fields.get("name", "variant")), "metrics": second.metrics},
        "curves": {"baseline": first.curves, "variant": second.curves},
        "hurt": hurt["jobs"], "hurt_users": hurt["users"],
        "counts": {name: hurt[name] for name in ("compared", "hurt", "gained", "lost")},
        "assumptions": list(dict.fromkeys((*second.run.assumed, *first.run.assumed))),
        "remarks": [*(line for line in second.run.remarks if line not in second.run.assumed),
                    *remarks, *hurt["remarks"]],
        "seconds": round(time.perf_counter() - begun_s, 4),
    }


def _in_words(side: str, make: Callable[[], Side]) -> Side:
    """The same; what is wrong with a scenario is said of the one that it is wrong with."""
    try:
        return make()
    except InputError as error:
        raise InputError(f"{side}: {error}") from None


def _side(fields: Mapping[str, Any], files: Mapping[str, str]) -> Side:
    file = (fields.get("trace") or {}).get("file")
    path = files.get(str(file))
    try:
        scenario = _scenario(fields, path)
        run = plan(scenario, _trace(scenario, str(file or ""))).run()
    except WattlineError as error:
        if path is None:
            raise
        # Where the server keeps uploads is nobody's business.
        raise type(error)(str(error).replace(path, str(file))) from None
    return Side(run, _metrics(run), curves(run))


def _held_against(first: Side, second: Result) -> dict[str, Any]:
    """The baseline's figures; one without a cap is measured against the variant's."""
    found = against_other_caps({"baseline": first.run, "variant": second},
                               {"baseline": first.metrics, "variant": {}})["baseline"]
    found.pop(ABOVE_CAP_OF, None)
    return found


def _metrics(run: Result) -> dict[str, Any]:
    """The figures; of jobs without room in a budget the first, how many there are is remarked."""
    found = {name: value for name, value in run.metrics().items()
             if name not in ("assumed", "remarks")}
    if "no_room" in found["budget"]:
        found["budget"] = {**found["budget"], "no_room": found["budget"]["no_room"][:MOST_ROWS]}
    return found


def _scenario(fields: Mapping[str, Any], path: str | None) -> Scenario:
    if path is None:
        return validate(fields, "scenario")
    trace = {**fields["trace"], "file": path}
    return validate({**fields, "trace": trace}, "scenario")


def _trace(scenario: Scenario, called: str) -> Trace:
    """The jobs; read once, and called what the request calls them."""
    section, machine = scenario.trace, scenario.machine
    asked: list[Any] = [section.model_dump(mode="json"), machine.granularity]
    if section.file is None:  # a generated workload fits the machine
        asked += [machine.nodes, [each.count for each in machine.classes]]

    def make() -> Trace:
        trace = read_trace(scenario)
        return replace(trace, source=called) if section.file is not None else trace

    return _TRACES.get(json.dumps(asked), make)
