"""A run as a folder: written whole or not at all, read back exactly.

    scenario.toml      the scenario as resolved
    jobs.parquet       one row per job
    events.parquet     one row per event
    placement.parquet  which units each job held, where units have identities
    stays.parquet      what jobs that share nodes had on each of them, in every run
    slurm.npz          of a run by Slurm's rules: the site as read, requests, and what came of them
    cap.parquet        the power cap as a step function, where there is one
    contract.json      what became of a contract with the grid, where there is one
    power.csv          the pieces of its billed time
    metrics.json       the metrics, for people and programs that want nothing else
    manifest.json      versions, seeds, totals, the machine, and a digest of every other file
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import platform
import shutil
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wattline.analysis import kept_promises, tables
from wattline.analysis.metrics import metrics
from wattline.model.clock import now
from wattline.model.errors import InputError
from wattline.model.files import possible_path
from wattline.model.machine import Machine, NodeClass, NodeGroup
from wattline.model.run import PowerBound, Run
from wattline.model.slurm_record import SlurmRecord

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = "wattline-run"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"
_METRICS = "metrics.json"
OURS = frozenset({
    MANIFEST, "scenario.toml", "jobs.parquet", "events.parquet", "placement.parquet",
    "stays.parquet", "slurm.npz", "cap.parquet", "configurations.parquet", _METRICS, "report",
    "contract.json", "power.csv", "pictures",
})
"""What a run folder may hold; where there is anything else, it is not written over."""
_TOTALS = ("start_s", "end_s", "energy_j", "time_above_cap_s", "energy_above_cap_j",
           "power_w_peak", "engine_s")


def write(
    run: Run, folder: Path | str, figures: Mapping[str, Any] | None = None,
    further: Mapping[str, str] | None = None,
) -> Path:
    """Write a run folder, replacing an older run of that name; `figures` spares recomputing.

    `further` has texts of files that stand beside the run's own: those of a contract.

    Everything goes into a hidden folder beside it, which is renamed at the end: whoever looks
    sees the old run, no run, or the whole new one.
    """
    target = possible_path(folder)
    _refuse_other_folder(target)
    fresh = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir()
        for name, text in (further or {}).items():
            (fresh / name).write_text(text, encoding="utf-8")
        _write_files(run, fresh, metrics(run) if figures is None else figures)
        _put_in_place(fresh, target)
    except OSError as error:
        raise InputError(f"cannot write the run folder {target}: {error.strerror}") from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return target


def replaces(folder: Path | str, name: str) -> str:
    """What is to be said where the run of another scenario is in the folder; empty if none is."""
    there = name_in(folder)
    return "" if there in ("", name) else (
        f"{folder} held the run '{there}'; '{name}' takes its place")


def name_in(folder: Path | str) -> str:
    """The name of the run in a folder; empty where there is none, or no name can be read."""
    if not is_run(Path(folder)):
        return ""
    try:
        said = tomllib.loads((Path(folder) / "scenario.toml").read_text(encoding="utf-8"))
        return str(said["name"])
    except (OSError, ValueError, KeyError):
        return ""


def read(folder: Path | str) -> Run:
    """Read a run folder back. One that is damaged or is none gives one clear InputError."""
    source = Path(folder)
    manifest = _read_manifest(source)
    try:
        return _read_run(source, manifest)
    except InputError as error:
        raise InputError(f"run folder {source} is damaged: {error}") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        what = f"{type(error).__name__}: {error}"
        raise InputError(f"run folder {source} is damaged ({what}); make the run again") from error


def read_metrics(folder: Path | str) -> dict[str, Any]:
    """Read the metrics that stand in a run folder; a figure that does not exist is None."""
    found = json.loads((Path(folder) / _METRICS).read_bytes())
    assert isinstance(found, dict)
    return found


def read_derived(folder: Path | str) -> dict[str, Any]:
    """Read the columns of the table of jobs that follow from its others, and are not read back."""
    return tables.columns_from(_read_table(Path(folder) / "jobs.parquet"), tables.DERIVED)


def identity(folder: Path | str) -> str:
    """What tells a run from all others, wherever its folder stands and whatever it is called.

    A digest of the scenario and the tables; when and with which versions it was written, and what
    was computed from it, does not matter.
    """
    files = _read_manifest(Path(folder))["files"]
    lines = [f"{name} {digest}" for name, digest in sorted(files.items()) if name != _METRICS]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def is_run(folder: Path | str) -> bool:
    """Whether a folder holds a run."""
    try:
        found = json.loads((Path(folder) / MANIFEST).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and found.get("format") == FORMAT


def runs_below(path: Path | str) -> list[str]:
    """The folders of runs in a folder that is none itself, by name; all else as it is."""
    if not Path(path).is_dir() or is_run(path):
        return [str(path)]
    return sorted(str(each) for each in Path(path).iterdir() if is_run(each)) or [str(path)]


def _write_files(run: Run, folder: Path, figures: Mapping[str, Any]) -> None:
    import tomli_w

    scenario = _toml_value(run.scenario)
    (folder / "scenario.toml").write_text(tomli_w.dumps(scenario), encoding="utf-8")
    _write_table(tables.job_table(run), folder / "jobs.parquet")
    _write_table(tables.event_table(run), folder / "events.parquet")
    if run.placement is not None:
        _write_table(tables.placement_table(run.placement), folder / "placement.parquet")
    if run.node_stays is not None:
        _write_table(tables.stays_table(run.node_stays), folder / "stays.parquet")
    if run.slurm is not None:
        (folder / "slurm.npz").write_bytes(run.slurm.to_bytes())
    if run.cap_w is not None:
        _write_table(tables.signal_table(run.cap_w), folder / "cap.parquet")
    if run.configurations:
        _write_table(tables.configuration_table(run), folder / "configurations.parquet")
    _write_json(figures, folder / _METRICS)
    digests = {path.name: _digest(path) for path in sorted(folder.iterdir())}
    _write_json(_manifest(run, digests), folder / MANIFEST)


def _manifest(run: Run, digests: Mapping[str, str]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "written_at": now().isoformat(timespec="seconds"),
        "versions": {
            "wattline": _version("wattline"),
            "python": platform.python_version(),
            **{name: _version(name) for name in ("numpy", "numba", "pyarrow")},
        },
        "seeds": dict(_seeds(run.scenario)),
        "jobs": len(run.jobs),
        "units": int(run.units),
        "totals": {name: float(getattr(run, name)) for name in _TOTALS},
        "class_energy_j": {name: float(value) for name, value in run.class_energy_j.items()},
        "notes": {name: float(value) for name, value in run.notes.items()},
        "assumed": list(run.assumed),
        "remarks": list(run.remarks),
        "budget": dict(run.budget),
        "machine": _machine_to_plain(run.machine),
        "policy_powers": bool(run.policy_powers),
        "bounds": [_bound_to_plain(bound) for bound in run.bounds],
        "node_bounds": [_bound_to_plain(bound) for bound in run.node_bounds],
        "reservations": kept_promises.reservations_to_plain(run),
        "promises": kept_promises.to_plain(run.promises),
        "files": dict(digests),
    }


def _read_manifest(folder: Path) -> Mapping[str, Any]:
    if folder.is_file():
        raise InputError(f"{folder} is a file and no run folder; `wattline simulate --out` writes "
                         "one, and `wattline twin check` takes a twin's file")
    if not folder.is_dir():
        raise InputError(f"there is no run folder {folder}")
    path = folder / MANIFEST
    if not path.is_file():
        raise InputError(f"{folder} is not a run folder: it has no {MANIFEST}")
    try:
        manifest = json.loads(path.read_bytes())
        kind, version = manifest["format"], manifest["format_version"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} is damaged; make the run again") from error
    if kind != FORMAT or version > FORMAT_VERSION:
        raise InputError(
            f"{path} says format '{kind}' version {version}; "
            f"this wattline reads '{FORMAT}' up to version {FORMAT_VERSION}"
        )
    assert isinstance(manifest, dict)
    return manifest


def _read_run(folder: Path, manifest: Mapping[str, Any]) -> Run:
    files = manifest["files"]
    for name, digest in files.items():
        if not (folder / name).is_file():
            raise InputError(f"{name} is missing; make the run again")
        if _digest(folder / name) != digest:
            raise InputError(f"{name} is not what was written; make the run again")
    by_job = _read_table(folder / "jobs.parquet")
    jobs, schedule = tables.jobs_from(by_job)
    cap, placement = folder / "cap.parquet", folder / "placement.parquet"
    chosen = folder / "configurations.parquet"
    return Run(
        jobs=jobs,
        schedule=schedule,
        events=tables.events_from(_read_table(folder / "events.parquet")),
        machine=_machine_from_plain(manifest["machine"]),
        units=manifest["units"],
        class_energy_j=manifest["class_energy_j"],
        cap_w=tables.signal_from(_read_table(cap)) if cap.name in files else None,
        placement=(tables.placement_from(_read_table(placement))
                   if placement.name in files else None),
        scenario=tomllib.loads((folder / "scenario.toml").read_text(encoding="utf-8")),
        notes={name: math.nan if value is None else value
               for name, value in manifest["notes"].items()},
        # Runs of earlier versions say neither, or have among the remarks nothing that is assumed.
        assumed=tuple(manifest.get("assumed", ())),
        remarks=tuple(dict.fromkeys((*manifest.get("remarks", ()), *manifest.get("assumed", ())))),
        budget=manifest.get("budget", {}),
        configurations=(tables.configurations_from(_read_table(chosen))
                        if chosen.name in files else {}),
        policy_powers=bool(manifest.get("policy_powers", False)),
        bounds=tuple(_bound_from_plain(bound) for bound in manifest.get("bounds", ())),
        node_stays=(tables.stays_from(_read_table(folder / "stays.parquet"))
                    if "stays.parquet" in files else None),
        slurm=(SlurmRecord.from_bytes((folder / "slurm.npz").read_bytes())
               if "slurm.npz" in files else None),
        node_bounds=tuple(_bound_from_plain(bound) for bound in manifest.get("node_bounds", ())),
        reservations=kept_promises.reservations_from_plain(manifest.get("reservations", [])),
        promises=kept_promises.from_plain(
            manifest.get("promises", {}),
            tables.columns_from(by_job, kept_promises.COLUMNS)),
        **manifest["totals"],
    )


def _write_table(table: pa.Table, path: Path) -> None:
    import pyarrow.parquet as pq

    repeating = [name for name in table.column_names
                 if table.schema.field(name).type.id == _dictionary_type()]
    pq.write_table(table, path, compression="zstd", compression_level=1,
                   use_dictionary=repeating or False, write_statistics=False)


def _dictionary_type() -> int:
    import pyarrow as pa

    return int(pa.lib.Type_DICTIONARY)


def _read_table(path: Path) -> pa.Table:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:  # read_table() would import pandas
        return file.read()


def _write_json(value: Any, path: Path) -> None:
    path.write_text(json.dumps(_json_value(value), indent=2) + "\n", encoding="utf-8")


def _json_value(value: Any) -> Any:
    """Plain JSON: numbers of numpy become Python's, and what is no number becomes null."""
    if isinstance(value, Mapping):
        return {str(key): _json_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_value(item) for item in value]
    if hasattr(value, "tolist"):
        return _json_value(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _toml_value(value: Any) -> Any:
    """TOML has no null: a field without a value is left out."""
    if isinstance(value, Mapping):
        return {str(key): _toml_value(item) for key, item in value.items() if item is not None}
    if isinstance(value, (list, tuple)):
        return [_toml_value(item) for item in value]
    return value.tolist() if hasattr(value, "tolist") else value


def _machine_to_plain(machine: Machine) -> dict[str, Any]:
    return asdict(machine)


def _machine_from_plain(plain: Mapping[str, Any]) -> Machine:
    groups = tuple(
        NodeGroup(**{**group, "node_class": NodeClass(**group["node_class"])})
        for group in plain["groups"]
    )
    return Machine(**{**plain, "groups": groups})


def _bound_to_plain(bound: PowerBound) -> dict[str, Any]:
    """Nodes as runs of neighbours, each with its first and how many: a site has all nodes."""
    order = np.argsort(bound.nodes)
    nodes = bound.nodes[order]
    share = {} if bound.share is None else {"share": bound.share[order]}
    first = np.flatnonzero(np.diff(nodes, prepend=-2) > 1)
    counts = np.diff(first, append=nodes.size)
    return {"entity": bound.entity, "limit_w": float(bound.limit_w),
            "idle_w": float(bound.idle_w), "nodes": np.stack([nodes[first], counts], axis=1),
            **share}


def _bound_from_plain(plain: Mapping[str, Any]) -> PowerBound:
    nodes = [np.arange(first, first + count) for first, count in plain["nodes"]]
    share = plain.get("share")
    return PowerBound(**{**plain, "nodes": np.concatenate(nodes).astype(np.int64),
                         "share": None if share is None else np.array(share, dtype=np.float64)})


def _seeds(scenario: Mapping[str, Any], path: str = "") -> list[tuple[str, Any]]:
    """Every field called seed, with its place in the scenario."""
    found: list[tuple[str, Any]] = []
    for key, value in scenario.items():
        if isinstance(value, Mapping):
            found.extend(_seeds(value, f"{path}{key}."))
        elif key == "seed" and value is not None:
            found.append((path + key, value))
    return found


@cache
def _version(package: str) -> str:
    """Which one is installed; to read it from the package's description takes milliseconds."""
    loaded = sys.modules.get(package)
    version = getattr(loaded, "__version__", None)
    if isinstance(version, str):
        return version
    from importlib.metadata import version as installed

    return installed(package)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _refuse_other_folder(target: Path) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise InputError(f"{target} is a file; a run needs a folder")
    found = {path.name for path in target.iterdir()}
    if found and (not is_run(target) or found - OURS):
        raise InputError(f"{target} holds other things than a run; choose another folder")


def _put_in_place(fresh: Path, target: Path) -> None:
    with contextlib.suppress(OSError):
        fresh.rename(target)  # also an empty folder's place is taken in one step
        return
    old = target.with_name(f".{target.name}.{os.getpid()}.old")
    if target.exists():
        target.rename(old)
    try:
        fresh.rename(target)
    except OSError:
        with contextlib.suppress(OSError):
            old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)
