"""What a worker does: simulate points, and give their figures back."""

from __future__ import annotations

import os
import socket
import time
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from wattline.analysis.metrics import totals
from wattline.analysis.result import flattened
from wattline.engine.compiling import AT_ONCE
from wattline.model.errors import WattlineError, WattlineWarning
from wattline.scenario.build import plan
from wattline.scenario.model import Scenario
from wattline.sweeps.notes import Row, note
from wattline.sweeps.shelf import Shelf


def run_chunk(folder: str, chunk: Sequence[tuple[int, Scenario]], allow_code: bool) -> list[Row]:
    """The rows of some points, one after the other; one that fails says why."""
    shelf = _shelf(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WattlineWarning)
        return [run_point(shelf, number, scenario, allow_code) for number, scenario in chunk]


def run_chunk_apart(
    folder: str, chunk: Sequence[tuple[int, Scenario]], allow_code: bool
) -> list[Row]:
    """The same in a process of its own, which is the place to compile: no further ones help it."""
    os.environ[AT_ONCE] = "0"
    rows = run_chunk(folder, chunk, allow_code)
    unseen = _unseen(folder)
    return [{**row, "error": row["error"] + unseen} if "error" in row else row for row in rows]


def _unseen(folder: str) -> str:
    """Why files may be missing here that are there where the sweep was started."""
    of_sweep = Path(folder).parent
    return "" if of_sweep.is_dir() else (
        f" (its worker, on {socket.gethostname()}, does not see the sweep's folder {of_sweep}: "
        "workers need the file system on which the files of the sweep lie)")


def run_chunk_noting(
    folder: str, chunk: Sequence[tuple[int, Scenario]], allow_code: bool, file: str,
    keys: Sequence[str],
) -> list[Row]:
    """The same, each row written down under its key once it is done."""
    rows: list[Row] = []
    for key, each in zip(keys, chunk, strict=True):
        rows += run_chunk_apart(folder, [each], allow_code)
        note(file, key, rows[-1])
    return rows


def run_point(shelf: Shelf, number: int, scenario: Scenario, allow_code: bool) -> Row:
    """The figures of one point, or its error."""
    begin_s = time.perf_counter()
    try:
        ready = plan(scenario, shelf.trace(scenario), allow_code=allow_code,
                     grounds=shelf.grounds)
        run = ready.plain_run()
        found: Row = {"figures": flattened(totals(run)), "engine_s": run.engine_s,
                      "remarks": list(run.remarks)}
    except WattlineError as error:
        found = {"error": str(error)}
    except Exception as error:  # of a policy or of ours: the others go on
        found = {"error": f"{type(error).__name__}: {error}"}
    return {"number": number, "seconds": time.perf_counter() - begin_s, **found}


@cache
def _shelf(folder: str) -> Shelf:
    return Shelf(Path(folder))
