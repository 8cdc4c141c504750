"""`twin make`: a site's slurm.conf and its log in, an ordinary scenario out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from wattline.model.errors import InputError, warn
from wattline.model.files import replacing
from wattline.model.local_time import name_of_zone
from wattline.scenario.load import validate
from wattline.scenario.model import Scenario
from wattline.scenario.twin.fitted_watts import fitted_watts
from wattline.scenario.twin.foreseen import foreseen
from wattline.scenario.twin.from_table import is_table
from wattline.scenario.twin.planning import site_of
from wattline.scenario.twin.section import FILES
from wattline.scenario.twin.site import Site
from wattline.site.lines import included_names

OUT = "twin.toml"
WHAT = ("sacct", "events")
_POWERS = ("idle_w", "cpu_w", "gpu_w")


@dataclass(frozen=True, eq=False, repr=False)
class Twin:
    """A scenario made from a site's files, and what was made of them.

    >>> import wattline as wl
    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> with TemporaryDirectory() as folder:
    ...     conf, log = Path(folder, "slurm.conf"), Path(folder, "day.events")
    ...     _ = conf.write_text("ClusterName=tiny\\nProlog=/bin/true\\nNodeName=n1 CPUs=8\\n"
    ...                         "PartitionName=all Nodes=ALL Default=YES\\n")
    ...     _ = log.write_text("-dt 0 -e submit_batch_job | -n 8 -t 10 -sim-walltime 60 a.sh\\n")
    ...     twin = wl.make_twin(conf, events=log)
    >>> isinstance(twin, wl.Twin), [line.partition(": ")[2] for line in twin.not_modelled]
    (True, ['Prolog=/bin/true: jobs begin only when their prolog has ended'])
    """

    scenario: Scenario
    text: str
    """The file, with the lists in it."""
    jobs: int
    nodes: int
    cpus: int
    understood: tuple[str, ...]
    assumed: tuple[str, ...]
    not_modelled: tuple[str, ...]
    unknown: tuple[str, ...]
    contradictions: tuple[str, ...]
    filled: tuple[str, ...]
    """What the log does not say and a rule put there, with how many jobs it is."""
    unfit: tuple[str, ...]
    """Jobs that the machine cannot run, or that wait for ever on it, by reason."""
    left_out: tuple[str, ...]
    """Records of the log that are no jobs of the twin."""
    path: Path | None = None
    rendered: Callable[[Path | None], str] | None = None
    """The text for a folder: files in it are named from there."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """What must be known of the twin."""
        return (*(f"contradiction: {line}" for line in self.contradictions),
                *(f"unknown: {line}" for line in self.unknown), *self.unfit, *self.left_out)

    def write(self, path: str | Path) -> Path:
        """Write the scenario, over none of the files that it is made from."""
        target = Path(path)
        for name, file in _read_from(self.scenario):
            if target.exists() and file.exists() and target.samefile(file):
                raise InputError(f"{target} is {name} that the twin is made from; name another "
                                 "file to write")
        text = self.text if self.rendered is None else self.rendered(target.parent)
        try:
            with replacing(target) as draft:
                Path(draft).write_text(text, encoding="utf-8")
        except OSError as error:
            raise InputError(f"{target} cannot be written: {error.strerror or error}") from None
        return target

    def to_dict(self) -> dict[str, Any]:
        names = ("jobs", "nodes", "cpus", "understood", "assumed", "not_modelled", "unknown",
                 "contradictions", "filled", "unfit", "left_out")
        found = {name: getattr(self, name) for name in names}
        return {"scenario": None if self.path is None else str(self.path),
                **{name: list(value) if isinstance(value, tuple) else value
                   for name, value in found.items()}}

    def __repr__(self) -> str:
        return (f"Twin({self.scenario.name!r}: {self.jobs:,} jobs on {self.nodes:,} nodes; "
                f"{len(self.assumed)} assumed, {len(self.not_modelled)} not modelled)")


def make_twin(
    slurm_conf: str | Path, *, sacct: str | Path | None = None, events: str | Path | None = None,
    gres: str | Path | None = None, topology: str | Path | None = None,
    assoc: str | Path | None = None, qos: str | Path | None = None,
    down: str | Path | None = None, reservations: str | Path | None = None,
    idle_w: float | str | None = None, cpu_w: float | str | None = None,
    gpu_w: float | str | None = None, out: str | Path | None = None, name: str | None = None,
    zone: str = "",
) -> Twin:
    """A scenario whose machine schedules like the Slurm of these files.

    The jobs come from `sacct` (`sacct -P` or `--json`, or a table in Parquet or CSV) or `events`
    (submissions). `assoc` is a dump, a script or a table of sacctmgr, `down` what `sacctmgr show
    event -P` prints, `reservations` what `scontrol show reservation` does. Watts are of an idle
    node, of each CPU and of each GPU in use. Times without an offset are of `zone`
    ("Europe/Berlin", "local"), UTC without it. With `out` the scenario is written there.

    >>> import wattline as wl
    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> with TemporaryDirectory() as folder:
    ...     conf, log = Path(folder, "slurm.conf"), Path(folder, "day.events")
    ...     _ = conf.write_text("NodeName=n[1-4] CPUs=8 RealMemory=16000\\n"
    ...                         "PartitionName=all Nodes=ALL Default=YES\\n")
    ...     _ = log.write_text("-dt 0 -e submit_batch_job | -n 8 -t 10 -sim-walltime 60 a.sh\\n")
    ...     twin = wl.make_twin(conf, events=log, idle_w=90, cpu_w=5, gpu_w=0)
    >>> twin.jobs, twin.cpus
    (1, 32)
    """
    given = {"sacct": sacct, "events": events}
    named = [kind for kind, value in given.items() if value is not None]
    if len(named) != 1:
        raise InputError("give the jobs once: as sacct (accounting) or as events (submissions)")
    log = Path(str(given[named[0]]))
    table = is_table(log)
    files = {"slurm_conf": slurm_conf, "gres": gres, "topology": topology, "assoc": assoc,
             "qos": qos, "down": down, "reservations": reservations}
    section: dict[str, Any] = {key: str(Path(value).resolve()) for key, value in files.items()
                               if value is not None}
    section["log"] = "table" if table else named[0]
    section |= {key: value for key, value in zip(_POWERS, (idle_w, cpu_w, gpu_w), strict=True)
                if value is not None}
    jobs = {"file": str(log.resolve()), **({"zone": name_of_zone(zone)} if zone else {})}
    fields: dict[str, Any] = {"trace": jobs, "twin": section, "policy": {"backfill": "slurm"}}
    site = site_of(validate({"name": "twin", **fields}, "make_twin()"))
    fitted = fitted_watts(site, cpu_w=section.get("cpu_w"), gpu_w=section.get("gpu_w"))
    if fitted.fields:
        section |= fitted.fields
        site = site_of(validate({"name": "twin", **fields}, "make_twin()"))
    site = replace(site, lists=replace(site.lists, assumed=(*site.lists.assumed, *fitted.said)))
    fields = {"name": name or site.machine.cluster[:200] or "twin", **fields}
    lists = {key: list(getattr(site.lists, key))
             for key in ("understood", "assumed", "not_modelled")}
    whole = {**fields, "twin": {**section, **lists}}
    unfit = (*site.made.unfit, *foreseen(site))
    rendered = partial(_text, whole, _comments(site, unfit))
    found = _twin(validate(whole, "make_twin()"), rendered, site, unfit, out)
    warn(found.remarks)
    return found


def _twin(scenario: Scenario, rendered: Callable[[Path | None], str], site: Site,
          unfit: tuple[str, ...], out: str | Path | None) -> Twin:
    lists = site.lists
    found = Twin(
        scenario, rendered(None if out is None else Path(out).parent), len(site.log.jobs),
        len(site.machine.nodes.names), int(site.machine.nodes.cpus.sum()), lists.understood,
        lists.assumed, lists.not_modelled, lists.unknown, lists.contradictions,
        (*site.log.filled, *site.made.filled), unfit, site.log.left_out,
        None if out is None else Path(out), rendered)
    if out is not None:
        found.write(out)
    return found


def _read_from(scenario: Scenario) -> list[tuple[str, Path]]:
    """The files of a twin, each with what it is."""
    assert scenario.twin is not None
    assert scenario.trace.file is not None
    given = {name: getattr(scenario.twin, name) for name in FILES}
    conf = Path(scenario.twin.slurm_conf)
    found = [("the log", Path(scenario.trace.file))]
    found += [(f"the file of {name}", Path(file)) for name, file in given.items() if file]
    return found + [("a file included by slurm.conf", conf.parent / name)
                    for name in included_names(conf.read_text(encoding="utf-8", errors="replace"))]


def _comments(site: Site, unfit: Iterable[str]) -> list[str]:
    """What was found, as comments."""
    lines = ["# A machine that schedules like the Slurm of these files; made by `wattline twin "
             "make`.", "# `wattline twin check` says how close it comes to the log."]
    for title, found in (("Contradictions", site.lists.contradictions),
                         ("Unknown keys", site.lists.unknown),
                         ("Jobs that the machine cannot run", unfit),
                         ("Records that are left out", site.log.left_out),
                         ("Filled in", (*site.log.filled, *site.made.filled))):
        lines += _comment(title, found)
    return lines


def _text(fields: Mapping[str, Any], comments: Iterable[str], folder: Path | None) -> str:
    """The file as a person would write it; what lies in its folder is named from there."""
    lines = [*comments, "", f"name = {_value(fields['name'])}"]
    for section in ("trace", "policy", "twin"):
        lines += ["", f"[{section}]"]
        for key, value in fields[section].items():
            if key == "power":
                continue  # tables come behind what stands in the section itself
            if isinstance(value, dict):
                lines.append(f"{key} = {_table(value)}")
            elif isinstance(value, list):
                lines += [f"{key} = [", *(f"  {_value(each)}," for each in value), "]"]
            else:
                shown = _from(folder, value) if key in ("file", *FILES) else value
                lines.append(f"{key} = {_value(shown)}")
    for each in fields["twin"].get("power", ()):
        lines += ["", "[[twin.power]]"]
        lines += [f"{key} = {_table(value) if isinstance(value, dict) else _value(value)}"
                  for key, value in each.items()]
    return "\n".join(lines) + "\n"


def _table(fields: Mapping[str, float]) -> str:
    return "{ " + ", ".join(f"{_value(key)} = {_value(value)}"
                            for key, value in fields.items()) + " }"


def _from(folder: Path | None, file: str) -> str:
    """A whole path, or that from a folder which the file lies in, so that both can be moved."""
    if folder is None or not Path(file).is_relative_to(folder.resolve()):
        return file
    return str(Path(file).relative_to(folder.resolve()))


def _comment(title: str, found: Iterable[str]) -> list[str]:
    listed = ["#   " + "".join(sign if sign.isprintable() else "?" for sign in line)
              for line in found]
    return ["#", f"# {title}:", *listed] if listed else []


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
