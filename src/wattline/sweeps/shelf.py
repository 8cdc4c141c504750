"""Traces laid out for workers: read once, then mapped from an Arrow file that all share."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa

from wattline.model.arrow_columns import column_of, values_of
from wattline.model.files import replacing
from wattline.model.jobs import COLUMNS, JobTable
from wattline.scenario.build import Grounds, read_trace
from wattline.scenario.bundled_logs import file_named
from wattline.scenario.model import Scenario, TraceSection
from wattline.scenario.named_files import file_digest
from wattline.traces import Trace
from wattline.traces.trace import CleaningReport, RuleCount

KEPT = 4
"""Traces that a worker holds at a time."""
LOGGED = "logged."


class Shelf:
    """Traces by the content of a scenario's `[trace]`, in a folder that all workers see."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.grounds = Grounds()
        """What the last point stood on: machine and jobs are most often those of the next."""
        self._held: OrderedDict[str, Trace] = OrderedDict()
        self._last: tuple[Any, str] = (None, "")
        """What the last scenario asked for, and the name of that."""
        self._files: tuple[TraceSection | None, list[Path]] = (None, [])
        """The files that say the jobs of the last scenario."""

    def trace(self, scenario: Scenario) -> Trace:
        """The jobs of a scenario, from memory, from the shelf, or from where they come from."""
        asked = scenario.trace, scenario.machine, self._stamps(scenario.trace)
        if asked != self._last[0]:  # to find the name takes longer than to compare
            self._last = asked, trace_name(scenario)
        name = self._last[1]
        if name in self._held:
            self._held.move_to_end(name)
            return self._held[name]
        found = self._held[name] = self._fetch(scenario, name)
        if len(self._held) > KEPT:
            self._held.popitem(last=False)
        return found

    def _stamps(self, section: TraceSection) -> list[tuple[int, int]]:
        """When the files that say the jobs were changed, and how large they are."""
        if section != self._files[0] or not all(map(os.path.isfile, self._files[1])):
            named = (section.file, section.map, section.parameters.get("types"))
            self._files = section, _files(named)
        found = [os.stat(file) for file in self._files[1]]
        return [(status.st_mtime_ns, status.st_size) for status in found]

    def _fetch(self, scenario: Scenario, name: str) -> Trace:
        if scenario.trace.file is None:
            return read_trace(scenario)  # to generate is as quick as to read
        if not self.folder.parent.is_dir():  # on another file system: nobody would tidy it up
            return read_trace(scenario)
        place = self.folder / f"{name}.arrow"
        if not place.is_file():
            self.folder.mkdir(exist_ok=True)
            with _alone_in(self.folder):
                if not place.is_file():  # another worker may have laid it there meanwhile
                    with replacing(place) as draft:
                        write_trace(read_trace(scenario), draft)
        return map_trace(place)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Of workers that need the same log at once, one reads it and the others wait."""
    place = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system that knows no locks: each reads it
            fcntl.flock(place, fcntl.LOCK_EX)
        yield
    finally:
        os.close(place)


def _files(named: Iterable[Any]) -> list[Path]:
    files = [file_named(name) for name in named if isinstance(name, (str, Path))]
    return [file for file in files if file is not None]


def trace_name(scenario: Scenario) -> str:
    """Scenarios of one name have the same jobs: what `read_trace` looks at is the same."""
    section, machine = scenario.trace, scenario.machine
    fields = section.model_dump(mode="json", exclude_none=True)
    # A generated workload fits the machine, and a log is counted in what the machine counts.
    fields["machine"] = [machine.granularity, machine.nodes, [each.count for each in
                                                             machine.classes]]
    if section.file is not None:
        fields["machine"] = machine.granularity
    named = (fields.get("file"), fields.get("map"), fields.get("parameters", {}).get("types"))
    contents = [file_digest(file) for file in _files(named)]
    text = json.dumps([fields, contents], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def write_trace(trace: Trace, path: Path) -> None:
    """Columns as they are, the rest as the file's metadata."""
    columns = {name: getattr(trace.jobs, name) for name in COLUMNS}
    columns |= {LOGGED + name: column for name, column in trace.logged.items()}
    said = {"names": {name: list(words) for name, words in trace.jobs.names.items()},
            "header": dict(trace.header), "cleaning": asdict(trace.cleaning),
            "source": trace.source, "remarks": list(trace.remarks)}
    table = pa.table({name: column_of(column) for name, column in columns.items()})
    table = table.replace_schema_metadata({"trace": json.dumps(said)}).combine_chunks()
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=max(1, len(table)))


def map_trace(path: Path) -> Trace:
    """A trace whose columns lie in the file, not in this process."""
    table = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
    said: dict[str, Any] = json.loads(table.schema.metadata[b"trace"])
    columns = {name: _column(table, name) for name in COLUMNS}
    names = {name: tuple(words) for name, words in said["names"].items()}
    cleaning = said["cleaning"]
    rules = tuple(RuleCount(**rule) for rule in cleaning.pop("rules"))
    return Trace(
        jobs=JobTable(**columns, names=names), header=said["header"],
        cleaning=CleaningReport(rules, **cleaning), source=said["source"],
        logged={name.removeprefix(LOGGED): _column(table, name) for name in table.column_names
                if name.startswith(LOGGED)},
        remarks=tuple(said["remarks"]))


def _column(table: pa.Table, name: str) -> Any:
    dtype = "f8" if pa.types.is_floating(table.column(name).type) else "i8"
    pieces = table.column(name).chunks  # one, but of no rows there is none
    return values_of(pieces[0] if pieces else (), dtype)
