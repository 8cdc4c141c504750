"""A job of a ClusterCockpit archive: `meta.json` and `data.json` (or `.gz`) beside each other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from wattline.account.measured.readers.options import SeriesOptions
from wattline.account.measured.records import Found, Kind, Life, LifeKey, Series
from wattline.model.errors import InputError
from wattline.model.reading import MOST_DEPTH, is_deeper, read_unpacked
from wattline.model.signal import FloatArray

WHOLE = ("node_power", "ipmi_power", "psu_power", "power", "rapl_power", "cpu_power")
"""Power of a node, what sees most of it first; one of them counts."""
GPUS = ("acc_power", "gpu_power", "nv_power", "acc_power_usage")
_PREFIX = {"": 1.0, "k": 1e3, "m": 1e-3, "M": 1e6}


def is_archive(value: Any) -> bool:
    """Whether this JSON is a job of an archive: what it is, or its series."""
    return isinstance(value, dict) and ("jobId" in value or any(
        isinstance(each, dict) and any(
            isinstance(scope, dict) and "series" in scope for scope in each.values())
        for each in value.values()))


def read_archive(path: Path, value: dict[str, Any], options: SeriesOptions) -> Found:
    """Both files of a job, whichever of them was named."""
    other = _other(path, "data" if "jobId" in value else "meta")
    if other is None:
        raise InputError(f"{path}: a job of a ClusterCockpit archive needs its meta.json and its "
                         "data.json beside each other")
    meta, data = (value, _json(other)) if "jobId" in value else (_json(other), value)
    try:
        return _found(str(path), meta, data, options)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(f"{path}: not a job of a ClusterCockpit archive as known: "
                         f"{type(error).__name__} {error}") from None


def _found(
    source: str, meta: dict[str, Any], data: dict[str, Any], options: SeriesOptions
) -> Found:
    cluster = options.cluster or str(meta.get("cluster", ""))
    start_s = int(meta["startTime"])
    gpus = {str(each["hostname"]): [str(gpu) for gpu in each.get("accelerators", ())]
            for each in meta["resources"]}
    whole = [name for name in WHOLE if name in data]
    remarks = []
    if not whole:
        raise InputError(f"{source}: no power of nodes; known are {', '.join(WHOLE)}")
    if whole[1:]:
        remarks.append(f"power of nodes is {whole[0]}; {', '.join(whole[1:])} left out")
    series = _node_series(cluster, start_s, whole[0], data[whole[0]])
    for name in GPUS:
        if name in data and "accelerator" in data[name]:
            series += _gpu_series(cluster, start_s, data[name]["accelerator"], gpus)
            break
    nulls = sum(int(np.isnan(each.value).sum()) for each in series)
    if nulls:
        remarks.append(f"{nulls} of {sum(each.value.size for each in series)} samples "
                       "are empty, and are gaps")
    return Found(source, lives=(_life(cluster, meta, gpus),), series=tuple(series),
                 remarks=tuple(remarks))


def _node_series(
    cluster: str, start_s: int, metric: str, scopes: Mapping[str, Any]
) -> list[Series]:
    """At the scope of nodes, else all parts of a node together."""
    scope = scopes.get("node") or next(iter(scopes.values()))
    hosts: dict[str, FloatArray] = {}
    for each in scope["series"]:
        watts = _watts(each, scope)
        before = hosts.get(str(each["hostname"]))
        hosts[str(each["hostname"])] = watts if before is None else before + watts
    step_s = float(scope["timestep"])
    return [Series(cluster, host, Kind.WATTS, _times(start_s, step_s, watts), watts,
                   meter=metric, interval_s=step_s) for host, watts in hosts.items()]


def _times(start_s: int, step_s: float, watts: FloatArray) -> FloatArray:
    return np.asarray(start_s + step_s * np.arange(watts.size), dtype=np.float64)


def _gpu_series(
    cluster: str, start_s: int, scope: Mapping[str, Any], gpus: Mapping[str, list[str]]
) -> list[Series]:
    step_s = float(scope["timestep"])
    found: list[Series] = []
    for each in scope["series"]:
        host, name = str(each["hostname"]), str(each.get("id", "0"))
        known = gpus.get(host, [])
        index = int(name) if name.isdigit() else known.index(name) if name in known else len(found)
        watts = _watts(each, scope)
        found.append(Series(cluster, f"{host}/gpu{index}", Kind.WATTS,
                            _times(start_s, step_s, watts), watts, interval_s=step_s))
    return found


def _watts(series: Mapping[str, Any], scope: Mapping[str, Any]) -> FloatArray:
    unit = scope.get("unit") or {}
    base, prefix = str(unit.get("base", "W")), str(unit.get("prefix", ""))
    if base != "W" or prefix not in _PREFIX:
        raise InputError(f"power in {prefix}{base}; right is W, kW or mW")
    values = [float("nan") if each is None else float(each) for each in series["data"]]
    return _PREFIX[prefix] * np.array(values, dtype=np.float64)


def _life(cluster: str, meta: Mapping[str, Any], gpus: Mapping[str, list[str]]) -> Life:
    start_s, lasts_s = int(meta["startTime"]), float(meta["duration"])
    state = str(meta.get("jobState", "")).upper()
    held = sum(map(len, gpus.values())) or int(meta.get("numAcc") or 0)
    limit_s = float(meta.get("walltime") or 0)
    running = state == "RUNNING"
    return Life(
        LifeKey(cluster, str(meta["jobId"]), start_s), job_id=int(meta["jobId"]),
        user=str(meta.get("user", "")), account=str(meta.get("project", "")),
        partition=str(meta.get("partition", "")), node_class=str(meta.get("subCluster", "")),
        state=state, nodes=int(meta.get("numNodes") or len(gpus)),
        cores=int(meta.get("numHwthreads") or 0), node_list=",".join(gpus),
        end_s=float("nan") if running else start_s + lasts_s,
        seen_s=start_s + lasts_s if running else float("nan"),
        # Older archives have other units here.
        limit_s=limit_s if limit_s >= lasts_s else float("nan"),
        alloc_tres=f"gres/gpu={held}" if held else "")


def _other(path: Path, wanted: str) -> Path | None:
    given = "meta" if wanted == "data" else "data"
    place = path.name.rfind(given)
    if place < 0:
        return None
    stem = path.name[:place] + wanted
    names = [stem + end for end in (".json", ".json.gz", ".json.xz")]
    return next((found for name in names if (found := path.with_name(name)).is_file()), None)


def _json(path: Path) -> dict[str, Any]:
    return parse_json(read_unpacked(path)[0], str(path))


def parse_json(data: bytes, where: str) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not a JSON file: {error}") from None
    if not isinstance(found, dict) or is_deeper(found, MOST_DEPTH):
        raise InputError(f"{where}: not a JSON file of series")
    return found
