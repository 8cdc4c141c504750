"""Objects that people make in Python from the same fields as a scenario's sections."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from wattline.model.errors import InputError
from wattline.model.fields import Section
from wattline.model.mistakes import first_mistake


class Given(Section):
    """A section made in Python: a mistake is an InputError of one line, as in a file."""

    if not TYPE_CHECKING:  # editors are to complete the fields

        def __init__(self, *unnamed: Any, **given: Any) -> None:
            name = type(self).__name__
            if unnamed:
                known = ", ".join(type(self).model_fields) or "it has none"
                raise InputError(f"{name} takes its fields by name: {known}")
            try:
                super().__init__(**given)
            except ValidationError as error:
                raise InputError(f"{name}: {first_mistake(error, type(self))}") from None

    def said(self) -> dict[str, Any]:
        """The fields that were given, as a scenario has them."""
        return self.model_dump(mode="python", exclude_unset=True, by_alias=True)

    def __repr_args__(self) -> Iterable[tuple[str, Any]]:
        return [(name, getattr(self, name)) for name in type(self).model_fields
                if name in self.model_fields_set]

    __str__ = Section.__repr__
