"""What a scenario from the web may not say: no path, no plug-in, no Python, no address.

A file on disk names its log, tables and code by path, and the person who runs it trusts it. A
request is from anybody. So everything that would be looked up outside this package is refused
before the scenario is even validated, and so is a text that might be taken for a file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from wattline.model.cap_value import read_cap_value
from wattline.model.errors import InputError
from wattline.model.reading import MOST_DEPTH, is_deeper
from wattline.policies.declaration import AXES
from wattline.policies.registry import BUILT_IN, files_of
from wattline.scenario.bundled_logs import bundled_logs, is_bundled

UPLOAD = "upload:"
UPLOADED = re.compile(r"upload:[0-9a-f]{32}")
MOST_JOBS = 200_000
"""Of a generator; a log has as many as it has."""
BUILT_TOPOLOGIES = ("dragonfly", "dragonfly+", "aries", "fat-tree", "torus")
NETWORK_FILES = ("file", "path", "intra", "inter", "profiles")


def refuse_unsafe(given: Any) -> Any:
    """The same fields; a ValueError says what may not stand there."""
    if not isinstance(given, Mapping):
        return given  # no scenario at all, which the validation says
    if is_deeper(given, MOST_DEPTH):
        raise ValueError("tables or lists lie too deep in one another")
    fields = dict(given)
    for name in ("signals", "contract"):
        if fields.get(name):
            raise ValueError(f"{name}: " + _NOT_HERE[name])
    for section, check in (("trace", _trace), ("policy", _policy), ("network", _network),
                           ("power", _power)):
        if isinstance(fields.get(section), Mapping):
            check(fields[section])
    return fields


_NOT_HERE = {
    "signals": "files of step functions cannot be named here; `wattline simulate` reads them",
    "contract": "a contract is not simulated here; POST /api/plan/bid asks for a bid",
}


def _trace(section: Mapping[str, Any]) -> None:
    file = section.get("file")
    if file is not None:
        refuse_log(file)
    column_map = section.get("map")
    if column_map is not None:
        from wattline.traces.column_map import built_in

        if column_map not in built_in():
            raise ValueError(f"trace.map: name one that comes with the package: "
                             f"{', '.join(built_in())}")
    jobs = section.get("jobs")
    if isinstance(jobs, (int, float)) and jobs > MOST_JOBS:
        raise ValueError(f"trace.jobs: at most {MOST_JOBS:,} here")
    parameters = section.get("parameters")
    if isinstance(parameters, Mapping):
        if parameters.get("types") is not None:
            raise ValueError("trace.parameters.types: a file cannot be named here")
        _no_places(parameters, "trace.parameters")


def refuse_log(file: Any) -> None:
    """A log is one of the package's or an upload, by its name."""
    text = str(file) if isinstance(file, str) else ""
    if UPLOADED.fullmatch(text):
        return
    if is_bundled(text) and text.partition(":")[2] in bundled_logs():
        return
    names = ", ".join(f"bundled:{name}" for name in bundled_logs())
    raise ValueError(f"trace.file: name a log of the package ({names}) or one that was uploaded "
                     "(upload:ID)")


def _policy(section: Mapping[str, Any]) -> None:
    if section.get("python") is not None:
        raise ValueError("policy.python: a scenario from the web runs no code; "
                         "`wattline simulate` does")
    for axis in (*AXES, "regulation"):
        if axis in section:
            _choice(axis, section[axis])


def _choice(axis: str, choice: Any) -> None:
    name = choice.get("name") if isinstance(choice, Mapping) else choice
    if not isinstance(name, str):
        return  # a mistake that the validation names
    if f"{axis}.{name}" not in BUILT_IN:
        known = ", ".join(each.partition(".")[2] for each in BUILT_IN
                          if each.startswith(f"{axis}."))
        raise ValueError(f"policy.{axis}: '{name[:80]}' is none of the package's own: {known}")
    if not isinstance(choice, Mapping):
        return
    for parameter, words in files_of(axis, name).items():
        value = choice.get(parameter)
        if value not in (None, "", *words):
            raise ValueError(f"policy.{axis}.{parameter}: a file or a database cannot be named "
                             "here")
    _no_places({key: value for key, value in choice.items() if key != "name"}, f"policy.{axis}")


def _network(section: Mapping[str, Any]) -> None:
    for name in NETWORK_FILES:
        if section.get(name) is not None:
            raise ValueError(f"network.{name}: a file cannot be named here")
    machine = section.get("machine")
    if machine is not None:
        refuse_network(machine)
    topology = section.get("topology", "dragonfly")
    if topology not in BUILT_TOPOLOGIES:
        raise ValueError(f"network.topology: must be one of {', '.join(BUILT_TOPOLOGIES)}")
    _no_places(section, "network")


def refuse_network(machine: Any) -> None:
    """A network is named, and never a file."""
    from wattline.network.config import BUILT_IN as MACHINES

    if not isinstance(machine, str) or machine not in MACHINES:
        raise ValueError(f"network.machine: must be one of {', '.join(MACHINES)}")


def _power(section: Mapping[str, Any]) -> None:
    """A text that reads as a cap is one; any other might be the name of a file."""
    for name in ("cap", "watch_cap"):
        value = section.get(name)
        if isinstance(value, str) and value != "none":
            _cap(value, f"power.{name}")


def _cap(text: str, field: str) -> None:
    try:
        read_cap_value(text, ", nor none")
    except InputError as error:
        raise ValueError(f"{field}: {str(error)[:300]}; a file cannot be named "
                         "here") from None


def _no_places(value: Any, field: str) -> None:
    """A last net under what is known by name: nothing that looks like a path or an address."""
    if isinstance(value, str):
        if any(sign in value for sign in ("/", "\\", "\0", "://")) or value.startswith("."):
            raise ValueError(f"{field}: '{value[:80]}' looks like a path or an address, and "
                             "neither can be named here")
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            _no_places(inner, f"{field}.{key}"[:200])
    elif isinstance(value, (list, tuple)):
        for inner in value:
            _no_places(inner, field)
