"""Pages from their templates, which lie in the rooms that make them and share their parts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import resources
from typing import TYPE_CHECKING, Any

from wattline.analysis import bundle

if TYPE_CHECKING:
    from markupsafe import Markup


def render(template: str, data: Mapping[str, Any], **known: Any) -> str:
    """The page of a template, named like `analysis/report.html.j2`, with the bundle in it.

    `data` is what the scripts of the page read.
    """
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(loader=FunctionLoader(_source), autoescape=True,
                              undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["breakable"] = breakable
    return environment.get_template(template).render(
        **known, policy=bundle.content_policy(), style=Markup(bundle.style()),
        script=Markup(bundle.script()), data=Markup(bundle.script_json(data)))


def breakable(name: str) -> Markup:
    """A name like `policy.power` for HTML, which a narrow column breaks behind its dots only."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"(?<=[^\W\d])([._])(?=\w)", r"\1<wbr>", str(escape(name))))


def _source(template: str) -> str:
    room, name = template.split("/")
    place = resources.files("wattline").joinpath(room, "templates", name)
    return place.read_text(encoding="utf-8")
