"""Caps that a policy has put on the nodes of jobs: each ends with the job that it is for.

They are kept in a file, so that a controller that is killed and started again finds the machine as
its books have it: no running job goes faster or slower for it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from wattline.controller.naming import AGAIN
from wattline.controller.told import Told
from wattline.controller.watching import Watcher
from wattline.live.slurm.reading import ENDING
from wattline.model.files import write_whole

FILE = "caps.json"
_ByLife = dict[str, dict[str, float]]


@dataclass
class JobCaps:
    """By life of a job what each of its nodes may draw at most; full speed has no entry."""

    nodes_w: dict[str, float] = field(default_factory=dict)
    """What holds now, by node; always the same dictionary."""
    ending_w: dict[str, float] = field(default_factory=dict)
    """The same of nodes whose job ends: nothing holds there any more, and it wants no more."""
    keep: Callable[[Mapping[str, Mapping[str, float]]], None] = lambda by_life: None
    """Told what has to outlast this controller, before anything is done about it."""
    _by_life: _ByLife = field(default_factory=dict)
    _kept: _ByLife = field(default_factory=dict)

    def recall(self, by_life: Mapping[str, Mapping[str, float]]) -> None:
        """What held before a restart holds from now on; the first look tells which jobs run."""
        self._by_life = {life: dict(caps_w) for life, caps_w in by_life.items()}
        self._kept = dict(self._by_life)
        self._hold(self._by_life)

    def put(self, name: str, caps_w: Mapping[str, float]) -> None:
        """From now on these are a job's, instead of any before; an infinite one is none."""
        life = _life(name)
        for node in self._by_life.pop(life, {}):
            self.nodes_w.pop(node, None)
        found = {node: cap_w for node, cap_w in caps_w.items() if math.isfinite(cap_w)}
        if found:
            self._by_life[life] = found
            self.nodes_w.update(found)

    def follow(self, watcher: Watcher) -> None:
        """After a look: a job that ends or waits has no caps; they lie where it runs, and while it
        is suspended, when others may use its nodes, nowhere."""
        self.ending_w.clear()
        if not self._by_life:
            return
        running = {_life(name): told for name, told in watcher.told.items() if told.running}
        self._by_life = {life: _where_it_runs(caps_w, watcher.node_names(running[life].nodes))
                         for life, caps_w in self._by_life.items() if life in running}
        ending = {life for life in self._by_life if _ends(running[life])}
        for life in ending:
            self.ending_w.update(self._by_life[life])
        self._hold([life for life in self._by_life
                    if life not in ending and not running[life].suspended])
        self.save()

    def save(self) -> None:
        if self._by_life != self._kept:
            self.keep(self._by_life)
            self._kept = dict(self._by_life)

    def _hold(self, lives: Collection[str]) -> None:
        self.nodes_w.clear()
        for life in lives:
            self.nodes_w.update(self._by_life[life])


def _life(name: str) -> str:
    """The books may know one life of a job by several names, one after the other."""
    return name.partition(AGAIN)[0]


def _ends(told: Told) -> bool:
    return told.row is not None and told.row.state in ENDING


def _where_it_runs(caps_w: dict[str, float], nodes: Collection[str]) -> dict[str, float]:
    """Slurm may have chosen other nodes, or a job may have given some back."""
    if not nodes or caps_w.keys() == set(nodes):
        return caps_w
    least_w = min(caps_w.values())
    return {node: caps_w.get(node, least_w) for node in nodes}


def keep_caps(folder: Path, by_life: Mapping[str, Mapping[str, float]]) -> None:
    write_whole(folder / FILE, json.dumps(by_life) + "\n")


def kept_caps(folder: Path, nodes: Collection[str]) -> _ByLife:
    """Those of nodes that the site still has; none where the file is missing or damaged."""
    known = set(nodes)
    try:
        said = json.loads((folder / FILE).read_text(encoding="utf-8"))
        found = {life: {node: float(cap_w) for node, cap_w in caps_w.items() if node in known}
                 for life, caps_w in said.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
    return {life: caps_w for life, caps_w in found.items() if caps_w}
