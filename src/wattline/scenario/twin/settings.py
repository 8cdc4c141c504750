"""Settings of `slurm.conf` by key, each read once and put into one of the lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from wattline.model.errors import InputError
from wattline.scenario.twin.told import Told
from wattline.site.conf_keys import HARMLESS, NOT_MODELLED, USED
from wattline.site.limits import clock_s
from wattline.site.slurm_conf import SlurmConf

MOST = 10**15
TRIED = "twin.settings"
OPTIONS = "schedulerparameters"
"""A list of options, of which a what-if changes some and leaves the others."""
_OFF = ("", "none", "(null)", "0", "no")


@dataclass
class SlurmSettings:
    """What the cluster's lines say; each question leaves its answer in the lists."""

    values: Mapping[str, str]
    places: Mapping[str, str]
    told: Told
    source: str
    asked: set[str] = field(default_factory=set)

    def where(self, key: str) -> str:
        return self.places.get(key.lower(), self.source)

    def text(self, key: str, usual: str, matters: bool = True) -> str:
        """A value, or what Slurm takes without one, which is said where it matters."""
        small = key.lower()
        if small in self.values:
            if small not in self.asked:
                self.told.understood.append(f"{key}={self.values[small]}")
            self.asked.add(small)
            return self.values[small]
        if matters and small not in self.asked:
            self.told.assumed.append(f"{key}={usual} (not in slurm.conf; Slurm's default)")
        self.asked.add(small)
        return usual

    def number(self, key: str, usual: float, matters: bool = False, least: float = 0) -> float:
        text = self.text(key, f"{usual:g}", matters)
        return not_below(number(text, key, self.where(key)), least, key, self.where(key))

    def whole(self, key: str, usual: int, matters: bool = False) -> int:
        return int(self.number(key, usual, matters))

    def time_s(self, key: str, usual: str, matters: bool = False, least_s: float = 0.0) -> float:
        """Minutes or `days-hours`; inf without end."""
        found = clock_s(self.text(key, usual, matters), f"{self.where(key)}: {key}")
        return float("inf") if found is None else not_below(
            float(found), least_s, key, self.where(key), " s")

    def seconds(self, key: str, usual: float, matters: bool = False) -> float:
        """Seconds as a number; `INFINITE`, `NONE` and -1 are below 0."""
        text = self.text(key, f"{usual:g}", matters)
        if text.strip().lower() in ("infinite", "unlimited", "none", "-1"):
            return -1.0
        return not_below(number(text, key, self.where(key)), 0, key, self.where(key))


def settings_of(conf: SlurmConf, told: Told, changes: Mapping[str, str]) -> SlurmSettings:
    """The settings with those of a what-if on top; every key that is not used is listed."""
    values = {**conf.settings, **_tried(conf, changes, told)}
    places = {**conf.places, **{key.lower(): TRIED for key in changes}}
    written = {**conf.written, **{key.lower(): key for key in changes}}
    for key, value in values.items():
        if key in USED or key in HARMLESS:
            continue
        if key in NOT_MODELLED:
            if value.strip().lower() not in _OFF:
                told.not_modelled.append(f"{places.get(key, conf.source)}: "
                                         f"{written.get(key, key)}={value}: {NOT_MODELLED[key]}")
        else:
            told.unknown.append(f"{places.get(key, conf.source)}: {written.get(key, key)}={value}")
    idle = sum(key in HARMLESS for key in values)
    if idle:
        told.understood.append(f"{idle} settings of paths, ports, logs and accounting, which "
                               "change no start")
    return SlurmSettings(values, places, told, conf.source)


def _tried(conf: SlurmConf, changes: Mapping[str, str], told: Told) -> dict[str, str]:
    """What a what-if sets, by key in small letters; what it replaces is said."""
    found: dict[str, str] = {}
    for name, value in changes.items():
        key = name.lower()
        before, place = conf.settings.get(key), conf.places.get(key, conf.source)
        if key == OPTIONS:
            found[key] = _with_options(before or "", value, place, told)
            continue
        found[key] = value
        instead = "which slurm.conf does not set" if before is None else (
            f"instead of {before} ({place})")
        told.assumed.append(f"{TRIED}: {name}={value}, {instead}")
    return found


def _with_options(before: str, changes: str, place: str, told: Told) -> str:
    """The site's options with some set anew, added, or taken away by a minus before their names."""
    found: dict[str, str] = {}
    for word in _listed(before):
        found.setdefault(_option(word), word)  # of several Slurm takes the first
    for word in _listed(changes):
        name = _option(word.removeprefix("-"))
        old = found.pop(name, None)
        if word.startswith("-"):
            if old is None:
                raise InputError(f"{TRIED}: SchedulerParameters has no {name} to take away; "
                                 f"{place} has {before or 'none'}")
            told.assumed.append(f"{TRIED}: SchedulerParameters without {old} ({place})")
            continue
        found[name] = word
        instead = "which slurm.conf does not set" if old is None else f"instead of {old} ({place})"
        told.assumed.append(f"{TRIED}: SchedulerParameters {word}, {instead}")
    return ",".join(found.values())


def _listed(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _option(word: str) -> str:
    return word.partition("=")[0].strip().lower()


def number(text: str, what: str, where: str) -> float:
    """A number of a sensible size."""
    try:
        found = float(text)
    except ValueError:
        found = float("nan")
    if not abs(found) <= MOST:
        raise InputError(f"{where}: {what} is '{text[:40]}', must be a number up to {MOST:g}")
    return found


def not_below(found: float, least: float, what: str, where: str, unit: str = "") -> float:
    """The number, refused where it is less than there can be."""
    if found < least:
        raise InputError(f"{where}: {what} is {found:g}{unit}, must be at least {least:g}{unit}")
    return found
