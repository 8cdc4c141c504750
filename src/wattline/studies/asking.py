"""The published evaluations from Python: `study("esp")` gives their figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from wattline.model.errors import InputError, warn
from wattline.model.progress import silent

Progress = Callable[[float], None]


def study(name: str, *, progress: Progress = silent, **settings: Any) -> dict[str, Any]:
    """Reproduce a published evaluation: its figures, as `wattline study NAME --json` prints them.

    Settings are the options of that command, with underscores. Some take minutes.

    >>> import wattline as wl
    >>> try:
    ...     wl.study("espresso")
    ... except wl.InputError as error:
    ...     print(str(error)[:50])
    there is no study 'espresso'; there are: dragonfly
    """
    if name not in STUDIES:
        raise InputError(f"there is no study '{name}'; there are: {', '.join(STUDIES)}")
    try:
        return STUDIES[name](progress, **settings)
    except TypeError as error:
        if "unexpected keyword argument" not in str(error):
            raise
        raise InputError(f"study '{name}': {str(error).split(') ', 1)[-1]}") from None


def _esp(progress: Progress, seed: int = 1, mix: str = "light", boot: float = 120.0,
         shutdown: float = 60.0) -> dict[str, Any]:
    from wattline.studies.esp import study as esp
    from wattline.studies.esp.published import rows

    found = esp.cases(seed, mix=mix, boot_s=boot, shutdown_s=shutdown, progress=progress)
    return {"seed": seed, "mix": mix, "published": rows(found),
            "cases": {case.name: esp.figures(case) for case in found}}


def _fairshare(progress: Progress, seed: int = 1, seeds: int = 20, beta: float = 0.7,
               half_life: str = "1d") -> dict[str, Any]:
    from wattline.model.units import parse_duration
    from wattline.studies.fairshare import study as fairshare
    from wattline.studies.fairshare.published import compared, rows

    if seeds < 1:
        raise InputError(f"seeds is {seeds}, must be 1 or more")
    given = {"beta": beta, "half_life_s": parse_duration(half_life)}
    several = fairshare.over_seeds(range(seed, seed + seeds), **given)
    return {"seed": seed, "beta": beta, "published": rows(several),
            **fairshare.figures(fairshare.study(seed, **given)),
            "over_seeds": {"seeds": list(several.seeds), "wait_s": compared(several.wait_s),
                           "stretch": compared(several.stretch)}}


def _hetero(progress: Progress, seed: int = 1, start: float | None = None,
            gap: float | None = None, xeon_idle: float | None = None,
            cap_latency: float = 0.0) -> dict[str, Any]:
    from wattline.studies.hetero import study as hetero
    from wattline.studies.hetero.published import all_results, rows

    found = all_results(start_s=start, gap_s=gap, xeon_idle_w=xeon_idle,
                        cap_latency_s=cap_latency)
    return {**found, "beyond": hetero.beyond(seed), "published": rows(found)}


def _puppet(progress: Progress, trace: str | None = None, nodes: int | None = None,
            node_active_w: float | None = None, jobs: int | None = None,
            arrivals: str | None = None, seed: int = 1) -> dict[str, Any]:
    from wattline.studies.puppet import study as puppet
    from wattline.studies.puppet.published import rows
    from wattline.studies.puppet.workloads import workload_of

    workload, remarks = workload_of(trace, nodes, node_active_w, jobs, seed, arrivals)
    warn(remarks)
    found = puppet.study(workload, progress)
    return puppet.as_json(found) | {"published": rows(found)}


def _rmap(progress: Progress, table: tuple[str, ...] = (), apps: str | None = None,
          nodes: int = 32, jobs: int = 30, seeds: int = 20, load: float = 0.7, part: str = "",
          loads: tuple[float, ...] = (0.35, 0.7, 1.4), columns: Any = None,
          **set_up: Any) -> dict[str, Any]:
    from wattline.studies.rmap.parts import (
        PARTS,
        WITH_PUBLISHED,
        check_measured,
        check_set_up,
        run_part,
        unused_choices,
    )
    from wattline.studies.rmap.report import as_dict, said_of_tables
    from wattline.studies.rmap.set_up import CHOICES, SetUp
    from wattline.studies.rmap.study import RmapSetting
    from wattline.studies.rmap.study import study as run_study
    from wattline.studies.rmap.tables import packages_of, tables_of

    strange = set(set_up) - set(CHOICES)
    if strange or part not in ("", "all", "published", *PARTS):
        wrong = f"setting '{min(strange)}'" if strange else f"part '{part}'"
        raise InputError(f"study 'rmap' has no {wrong}; parts are all, published, "
                         f"{', '.join(PARTS)}, further settings {', '.join(CHOICES)}")
    check_measured(part, table)
    chosen = SetUp(**set_up)
    check_set_up(part, chosen)
    setting = RmapSetting(nodes=nodes, jobs=jobs, seeds=tuple(range(1, seeds + 1)), load=load,
                          set_up=chosen)
    tables, remarks = tables_of(table, apps, nodes, columns, chosen.power)
    packages, without = (packages_of(table, apps, nodes, columns)
                         if part in ("all", "combinations") else (None, ""))
    remarks += filter(None, [without])
    if part in PARTS:
        of_part = run_part(part, tables, setting, progress, loads, packages)
        warn((*remarks, *said_of_tables(of_part["left_out"], of_part["notes"])))
        return {part: of_part}
    found = run_study(tables, setting, progress)
    warn((*remarks, *said_of_tables(found.left_out, found.notes)))
    every = tuple(name for name in PARTS if name != "unseen" or table)
    names = {"all": every, "published": WITH_PUBLISHED}.get(part, ())
    warn(f"the part '{name}' does not depend on {', '.join(unused)}"
         for name in names if (unused := unused_choices(name, chosen)))
    parts = {name: run_part(name, tables, setting, silent, loads, packages) for name in names}
    return as_dict(found) | parts


def _dragonfly(progress: Progress, quick: bool = False, part: str = "all", seed: int = 1,
               workers: int = 2, workloads: int | None = None, repeats: int | None = None,
               packets: int | None = None, node_gbit_s: float = 8.0,
               checkpoint: str | None = None) -> dict[str, Any]:
    from wattline.studies.dragonfly.figures import summary
    from wattline.studies.dragonfly.study import plan_of, run_study

    plan = plan_of(part, quick=quick, seed=seed, workers=workers, workloads=workloads,
                   repeats=repeats, packets=packets, node_gbit_s=node_gbit_s, checkpoint=checkpoint)
    return summary(run_study(plan, progress))


def _regulation(progress: Progress, part: str = "all", **settings: Any) -> dict[str, Any]:
    from wattline.studies.regulation.study import PARTS, RegulationStudy

    found: dict[str, Any] = {}
    made = RegulationStudy(**settings)
    for name in PARTS if part == "all" else (part,):
        found |= made.run(name, progress).figures
    return found


STUDIES: Mapping[str, Callable[..., dict[str, Any]]] = {
    "dragonfly": _dragonfly, "esp": _esp, "fairshare": _fairshare, "hetero": _hetero,
    "puppet": _puppet, "regulation": _regulation, "rmap": _rmap,
}
