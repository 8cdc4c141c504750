"""Words of slurm.conf that say yes or no, or name one of several ways.

A word that is not known is listed and changes nothing: what Slurm has without it counts.
"""

from __future__ import annotations

from collections.abc import Mapping

from wattline.scenario.twin.settings import SlurmSettings
from wattline.scenario.twin.told import Told

_YES = ("yes", "up", "true", "1")
_NO = ("no", "down", "false", "0")


def says_yes(text: str, what: str, where: str, told: Told) -> bool:
    """A flag as Slurm reads it (s_p_handle_boolean)."""
    word = text.strip().lower()
    if word not in (*_YES, *_NO):
        told.unknown.append(f"{where}: {what}={text}: taken as NO")
    return word in _YES


def one_of(
    settings: SlurmSettings, key: str, usual: str, choices: Mapping[str, str], matters: bool = True
) -> str:
    """What a word of the whole cluster stands for."""
    text = settings.text(key, usual, matters)
    word = text.strip().lower()
    if word not in choices:
        settings.told.unknown.append(f"{settings.where(key)}: {key}={text}: taken as {usual}")
        word = usual
    return choices[word]


PART_LIMITS = {"all": "all", "any": "any", **dict.fromkeys(_YES, "any"), **dict.fromkeys(_NO, "no")}
"""Of `EnforcePartLimits`: yes is any of the partitions (parse_part_enforce_type)."""
