"""The speed of this installation from Python: which benchmarks there are, and running one."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from typing import Any

from wattline.model.errors import InputError
from wattline.model.progress import Advance, silent


def list_benchmarks() -> dict[str, str]:
    """The benchmarks, with what each measures.

    >>> import wattline as wl
    >>> "core" in wl.list_benchmarks()
    True
    """
    return {name: (_module(name).__doc__ or "").strip().split("\n")[0] for name in _names()}


def bench(
    name: str, *, streamed_jobs: int | None = None, progress: Advance = silent
) -> dict[str, Any]:
    """Measure this installation: the figures that `wattline bench NAME --json` prints.

    It takes from seconds to minutes, and its figures are those of this machine. `streamed_jobs`, of
    `core` alone: so many jobs, at least a thousand, stream through the books.

    >>> import wattline as wl
    >>> try:
    ...     wl.bench("corr")
    ... except wl.InputError as error:
    ...     print(str(error)[:28])
    there is no benchmark 'corr'
    """
    check_names([name])
    options: dict[str, Any] = {}
    if streamed_jobs is not None:
        if name != "core":
            raise InputError(f"streamed jobs are a matter of 'core'; '{name}' streams none")
        if streamed_jobs < 1000:
            raise InputError(f"{streamed_jobs} streamed jobs are too few; at least 1000")
        options["streamed_jobs"] = streamed_jobs
    found: dict[str, Any] = _module(name).measure(progress, **options)
    return found


def check_names(names: Iterable[str]) -> None:
    """Refuse what is no benchmark before any time is spent on the others."""
    for name in names:
        if name not in _names():
            raise InputError(f"there is no benchmark '{name}'; there are: {', '.join(_names())}")


def _names() -> list[str]:
    from wattline import benchmarks

    return [module.name for module in pkgutil.iter_modules(benchmarks.__path__)
            if not module.name.startswith("_")]


def _module(name: str) -> Any:
    return importlib.import_module(f"wattline.benchmarks.{name}")
