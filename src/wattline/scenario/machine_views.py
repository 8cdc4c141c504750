"""Views of a machine from Python: trees over its parts with what they draw, hold and may use."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wattline.model.errors import InputError
from wattline.model.machine import Machine
from wattline.model.units import watts_of
from wattline.model.views import MachineView
from wattline.model.views.build import BUILDERS, power_view, read_views
from wattline.scenario import objects
from wattline.scenario.machines import machine_from, machine_in


def machine_view(
    name: str, machine: Machine | objects.Machine | str | Path | None = None, *,
    file: str | Path | None = None, limits: Mapping[str, float | str] | None = None,
    with_cores: bool = False,
) -> MachineView:
    """A view of a machine, of a scenario's machine, or from a views file.

    `name` is power, rack or network, or a view of the `file`. `limits` are bounds of the power view
    by entity; `with_cores` gives it cores as a level of their own. Its `rows` are what a person
    sees, `set` changes a value and all that follows from it.

    >>> import pandas as pd
    >>> import wattline as wl
    >>> machine = wl.Machine(nodes=4, node_idle_w=90, node_active_w=300, nodes_per_rack=2)
    >>> view = wl.machine_view("power", machine, limits={"rack0": "500W"})
    >>> pd.DataFrame(view.rows(depth=0))["max_w"].tolist()
    [1200.0]
    """
    if file is not None:
        if machine is not None or limits:
            raise InputError("--file says all of a view; leave out SCENARIO and --limit")
        views = read_views(Path(file))
        if name not in views:
            raise InputError(f"{file} has no view '{name}'; it has {', '.join(views)}")
        return views[name]
    if name not in BUILDERS:
        raise InputError(f"there is no view '{name}'; there are {', '.join(BUILDERS)}, and those "
                         "of a views file given with --file")
    if limits and name != "power":
        raise InputError(f"--limit bounds the power view, not '{name}'")
    if machine is None:
        raise InputError("name a scenario or give a machine, like Machine(nodes=100, "
                         "node_idle_w=90, node_active_w=300)")
    known = (machine_in(machine)[1] if isinstance(machine, (str, Path))
             else machine_from(machine, powers=name == "power"))
    if name == "power":
        bounds = {entity: watts_of(limit) for entity, limit in (limits or {}).items()}
        return power_view(known, cores=with_cores, limits_w=bounds)
    return BUILDERS[name](known)


def check_views(file: str | Path) -> list[dict[str, Any]]:
    """What a views file holds, a row per view; an `InputError` says what is wrong with it.

    >>> import wattline as wl
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "views.toml"
    ...     said = file.write_text('''[views.cooling]
    ... keys = [{ name = "flow", unit = "l/s" }]
    ... entities = [{ name = "loop1", type = "loop" },
    ...             { name = "n[0-3]", type = "node", parent = "loop1" }]''')
    ...     wl.check_views(file)
    [{'view': 'cooling', 'entities': 5, 'keys': 1, 'bounds': 0}]
    """
    return [{"view": view.name, "entities": len(view.tree), "keys": len(view.all_keys),
             "bounds": len(view.bounds)} for view in read_views(Path(file)).values()]
