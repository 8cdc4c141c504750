"""Figures of a sweep in words and units that people read."""

from __future__ import annotations

import math
import re

from wattline.analysis.expressions import figure_of
from wattline.analysis.summary import (
    ENERGY,
    FIGURES,
    PLAIN,
    POWER,
    TIME,
    Scale,
    number_text,
)
from wattline.sweeps.results import SweptSetting

LABELS = {**{figure.key: figure.label for figure in FIGURES}, "jobs.completed": "Jobs completed"}
_NAME = re.compile(r"[\w.]+")


def heading(expression: str) -> str:
    """What an expression is, without the unit that ends its name: figures show one of their own."""
    known = figure_of(expression, LABELS)
    if known is not None:
        return LABELS[known]
    if not _NAME.fullmatch(expression):
        return expression
    stem, *rest = expression.split(".")
    return ".".join((re.sub("_[sjw]$", "", stem), *rest))


def in_sentence(expression: str) -> str:
    """The same within a sentence."""
    words = heading(expression)
    return words[0].lower() + words[1:] if words in LABELS.values() else words


def with_unit(words: str, scale: Scale) -> str:
    return f"{words} ({scale.sign})" if scale.sign else words


def mean_text(expression: str, each: SweptSetting) -> str:
    """The mean of a figure or an expression, ± half its interval where there is one."""
    return spread_text(expression, *each.spread_of(expression))


def spread_text(expression: str, mean: float, half: float) -> str:
    text = figure_text(expression, mean)
    return f"{text} ± {figure_text(expression, half)}" if math.isfinite(half) else text


def figure_text(name: str, value: float) -> str:
    """With its unit, where the name has one."""
    if not math.isfinite(value):
        return "-"
    scale = scale_of(name, value)
    return f"{number_text(value / scale.size)} {scale.sign}".rstrip()


def scale_of(name: str, value: float) -> Scale:
    """The unit in which people read a figure of such a size; that of an expression is its own."""
    stem = name.split(".", maxsplit=1)[0]
    if value >= 0 and _NAME.fullmatch(name):
        for ending, scales in (("_s", TIME), ("_j", ENERGY), ("_w", POWER)):
            if stem.endswith(ending):
                return next(scale for scale in scales if value >= scale.least)
    return PLAIN[0]
