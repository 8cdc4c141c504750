"""What a policy says of itself, once: axis, name, summary, parameters, and how it is made.

Built-in policies and those of other packages declare themselves in the same way; see
`wattline.policies.registry` for how they are found. Nothing here imports a compiler, so that
policies can be listed and scenarios read at once: kernels are imported by `make`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from pydantic import BaseModel, ValidationError

from wattline.model.errors import InputError, PolicyError
from wattline.model.fields import Section
from wattline.model.mistakes import first_mistake
from wattline.policies.setting import Chosen, Setting

AXES = ("order", "backfill", "power", "configure", "placement")
"""As fields of a scenario's `[policy]`."""
REGULATION = "regulation"
"""The axis of contracts with the grid, in which queues by type of job take the others' place."""
ALL_AXES = (*AXES, REGULATION)


class Parameters(Section):
    """Base of a policy's parameters: fields with types, ranges and defaults, no others allowed.

    >>> import wattline as wl
    >>> class Weight(wl.Parameters):
    ...     weight: float = 0.5
    >>> Weight(weight=1).weight
    1.0
    """


class NoParameters(Parameters):
    pass


NOTHING_GIVEN = NoParameters()
"""What every policy without parameters is given."""


@dataclass(frozen=True)
class Declaration:
    """A policy that a scenario can name.

    >>> import wattline as wl
    >>> from wattline.policies.order.fcfs import Fcfs
    >>> first = wl.Declaration("order", "first", "The first first.", lambda setting, given: Fcfs())
    >>> trace = wl.generate("lublin", seed=1, jobs=20, nodes=32)
    >>> len(wl.simulate(trace, machine=wl.Machine(nodes=32), order=first).jobs())
    20
    """

    axis: str
    name: str
    summary: str
    """One line."""
    make: Callable[[Any, Any], Any]
    """From the setting and the parameters, checked, to the NamedTuple that slots know.

    Of a contract the setting is its `Desk`.
    """
    parameters: type[BaseModel] = NoParameters
    needs: str = ""
    """What a scenario with it must have beside it."""

    def __call__(self, **given: Any) -> Chosen:
        """The policy with parameters, for `simulate(order=MINE(weight=0.3))`."""
        try:
            return Chosen(self, self.parameters.model_validate(given))
        except ValidationError as error:
            raise InputError(f"'{self.name}': {first_mistake(error, self.parameters)}") from None

    def __post_init__(self) -> None:
        if self.axis not in ALL_AXES:
            raise PolicyError(f"policy '{self.name}': there is no axis '{self.axis}'; there are: "
                              f"{', '.join(ALL_AXES)}")
        if not self.name or ":" in self.name:
            raise PolicyError(f"'{self.name}' is no name of a policy; it has letters, no colon")
        if not self.summary.strip() or "\n" in self.summary:
            raise PolicyError(f"policy '{self.name}' needs a summary of one line")
        if not (isinstance(self.parameters, type) and issubclass(self.parameters, BaseModel)):
            raise PolicyError(f"policy '{self.name}': its parameters must be a pydantic model")


def of_numbers(module: str, name: str) -> Callable[[Setting, Any], Any]:
    """Make a policy whose fields are its parameters, importing it only when it is used."""

    def make(setting: Setting, given: BaseModel) -> Any:
        return class_of(module, name)(**given.model_dump())

    return make


@cache
def class_of(module: str, name: str) -> Any:
    """A class of a module of policies; a sweep asks for the same few at each of its points."""
    return getattr(import_module(f"wattline.policies.{module}"), name)
