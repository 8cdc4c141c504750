"""The bodies of requests: scenarios with the fields of a file, under the rules of the web."""

from __future__ import annotations

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from wattline.scenario.load import validate
from wattline.scenario.model import Scenario
from wattline.web.whatif.guard import refuse_unsafe


class WebScenario(Scenario):
    """A scenario as JSON: the fields of a scenario file.

    A log is `bundled:NAME` or `upload:ID`; policies and networks are those of the package; no field
    may name a file, a database, an address or code.
    """

    @model_validator(mode="before")
    @classmethod
    def _without_places(cls, given: Any) -> Any:
        return refuse_unsafe(given)

    def fields(self) -> dict[str, Any]:
        """As a file would have them, without what has its default: equal questions, equal fields.

        The comparison, where there is one, is a question of its own.
        """
        return self.model_dump(mode="json", by_alias=True, exclude_defaults=True,
                               exclude={"baseline"})

    def checked(self) -> Self:
        """Refused, like a file, where texts cannot be written down or tables lie too deep."""
        validate(self.fields(), self.name)
        return self


class WhatIf(WebScenario):
    """A scenario, and what to compare it with."""

    baseline: WebScenario | None = None
    """Without it: the same without a cap; where it has none, under the usual policies."""


class ShareText(BaseModel):
    """What a link holds behind `#/whatif?s=`."""

    model_config = ConfigDict(extra="forbid")

    share: str = Field(max_length=400_000)
