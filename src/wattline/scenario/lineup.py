"""What is compared: scenarios, logs and folders of runs, each with every value that is varied."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattline.analysis.rundir import is_run
from wattline.model.errors import InputError
from wattline.scenario.sweep import combinations, label, same_jobs, with_keeper, without_watched

if TYPE_CHECKING:
    from wattline.scenario.build import Plan
    from wattline.scenario.model import Scenario

Changes = Mapping[str, Any]


@dataclass(frozen=True)
class Contender:
    """A scenario to simulate, or the folder of a run that is done."""

    name: str
    scenario: Scenario | None = None
    may_run_code: bool = False
    folder: str = ""
    remarks: tuple[str, ...] = ()
    """What was chosen for it that nobody chose."""

    def plan(self, name: str) -> Plan:
        from wattline.scenario.build import plan

        assert self.scenario is not None
        return plan(self.scenario.model_copy(update={"name": name}), allow_code=self.may_run_code)

    def compile_ahead(self) -> None:
        """Begin to compile its policies while another entry is simulated."""
        from wattline.scenario.ahead import compile_all

        if self.scenario is not None:
            compile_all(self.scenario, self.may_run_code)


@dataclass(frozen=True)
class Lineup:
    """How the scenarios are found; a place that is None is the command line alone."""

    load: Callable[[str | None, Changes], Scenario]
    may_run_code: Callable[[str | None, Scenario, Changes], bool]

    def contenders(
        self, places: Sequence[str | None], given: Changes, variations: Changes
    ) -> list[Contender]:
        """All places once for each combination of values; all are checked by that."""
        return [self._contender(place, given, varied)
                for varied in combinations(variations) for place in places]

    def _contender(self, place: str | None, given: Changes, varied: Changes) -> Contender:
        if place is not None and is_run(place):
            return Contender(Path(place).resolve().name, folder=place)
        load = partial(self.load, place)
        same, fitted = same_jobs(load, given, varied)
        changes, dropped = without_watched(load, {**given, **same, **varied}, varied)
        scenario, kept = with_keeper(load(changes), varied)
        allowed = self.may_run_code(place, scenario, changes)
        return Contender(label(scenario.name, varied), scenario, allowed,
                     remarks=(*fitted, *dropped, *kept))


def refuse_changed_runs(places: Sequence[str | None], changed_by: Sequence[str]) -> None:
    """A run that is done cannot be done otherwise."""
    done = [place for place in places if place is not None and is_run(place)]
    if done and changed_by:
        raise InputError(f"{done[0]} is the folder of a run that is done, which {changed_by[0]} "
                         f"cannot change; name its scenario instead: "
                         f"{Path(done[0]) / 'scenario.toml'}")
