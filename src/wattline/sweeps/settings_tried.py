"""Which settings a search has tried: what is known is not paid for again."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np

from wattline.sweeps.notes import Row
from wattline.sweeps.space import Space

MOST_DRAWS = 100
"""So often a setting is drawn at random before those that are left are counted off."""


class SettingsTried:
    """Settings by name, each with its rows; a setting that was given up has none."""

    def __init__(self, space: Space) -> None:
        self._choices = space.choices()
        self.count = (math.inf if space.intervals
                      else math.prod(len(choices) for choices in self._choices))
        """How many settings there are."""
        self._rows: dict[str, list[Row] | None] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._rows

    def __len__(self) -> int:
        return len(self._rows)

    def keep(self, name: str, rows: list[Row] | None) -> None:
        self._rows[name] = rows

    def rows(self, name: str) -> list[Row] | None:
        return self._rows[name]

    @property
    def is_all(self) -> bool:
        """Whether nothing is left to try."""
        return len(self._rows) >= self.count

    def first_left(self) -> dict[str, int]:
        """The first setting that was not tried, as Optuna names it: by places in lists."""
        return next(self._left())

    def any_left(self, random: np.random.Generator) -> dict[str, int]:
        """One of those that were not tried."""
        sizes = [len(choices) for choices in self._choices]
        for _ in range(MOST_DRAWS):
            places = tuple(int(each) for each in random.integers(sizes))
            if self._name(places) not in self._rows:
                return self._params(places)
        return self.first_left()

    def _left(self) -> Iterator[dict[str, int]]:
        for places in product(*(range(len(choices)) for choices in self._choices)):
            if self._name(places) not in self._rows:
                yield self._params(places)

    def _name(self, places: tuple[int, ...]) -> str:
        setting: dict[str, Any] = {}
        for choices, place in zip(self._choices, places, strict=True):
            setting |= choices[place]
        return setting_name(setting)

    def _params(self, places: tuple[int, ...]) -> dict[str, int]:
        return {choice_name(choices[0]): place
                for choices, place in zip(self._choices, places, strict=True)}


def setting_name(setting: Mapping[str, Any]) -> str:
    return json.dumps(setting, default=str)


def choice_name(choice: Mapping[str, Any]) -> str:
    """How Optuna names what is chosen along one axis, or along some that go together."""
    return " and ".join(choice)


def fixed_sampler(optuna: Any, params: Mapping[str, int]) -> Any:
    """Has Optuna try this setting."""

    class Fixed(optuna.samplers.BaseSampler):  # type: ignore[misc]
        def infer_relative_search_space(self, study: Any, trial: Any) -> dict[str, Any]:
            return {}

        def sample_relative(self, study: Any, trial: Any, search_space: Any) -> dict[str, Any]:
            return {}

        def sample_independent(
            self, study: Any, trial: Any, param_name: str, param_distribution: Any
        ) -> int:
            return params[param_name]

    return Fixed()
