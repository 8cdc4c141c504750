"""Files that people take for scenarios: what they are, and what reads them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any


def other_kind(source: str) -> str:
    """What a file is by its name, where it cannot be a scenario; nothing where it can."""
    name, suffix = Path(source).name, Path(source).suffix.lower()
    if suffix == ".py":
        return (f"it is Python; a policy in it is used with `--policy {name}:CLASS`, or by a "
                "scenario's field policy.python")
    if suffix == ".ipynb":
        return "it is a notebook, which Jupyter opens"
    return ""


def other_table(fields: Mapping[str, Any], source: str) -> str:
    """What a TOML file is by its tables, where it is no scenario; nothing where it may be one."""
    if "trace" in fields:
        return ""
    if "workload" in fields:
        return ("a contract's jobs stand in [trace] (`generate = \"workload\"`), its nodes in "
                "[machine], its rule in [policy] and all else in [contract]")
    if "axes" in fields:
        return f"it has points of a sweep; `wattline sweep {source}` runs it"
    if "job" in fields:
        return f"it has jobs to place on a network; `wattline network place {source}` reads it"
    if "account" in fields:
        return f"it has the shares of accounts; `wattline fairshare RUN --shares {source}` reads it"
    if "views" in fields:
        return f"it has views of a machine; `wattline view check {source}` reads it"
    return ""
