"""How fast job logs are read and written, warm, on one core."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from wattline.benchmarks._measuring import best_seconds, public_log, seconds
from wattline.model.progress import Advance

LOGS = {
    "curie": "swf/CEA-Curie-2011-2.1-cln.swf.gz",
    "atlas": "swf/LLNL-Atlas-2006-2.1-cln.swf.xz",
    "kth": "swf/KTH-SP2-1996-2.1-cln.swf.xz",
    "mira": "swf/mira_walltime.swf.xz",
    "theta": "swf/theta_walltime.swf.xz",
}
"""Public logs, where the folder that WATTLINE_DATA names has them."""
REPEATS = 5
GENERATED_JOBS = 312_826
"""As many as the log of Curie has, so that there is a figure where the log is not."""


def measure(progress: Advance) -> dict[str, Any]:
    """Seconds for each log: the best of some readings after one that is not counted."""
    from wattline.traces import generate, read, write

    paths = {name: public_log(file) for name, file in LOGS.items()}
    found = {name: path for name, path in paths.items() if path is not None}
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch) / "generated.swf.gz"
        trace = generate("lublin", seed=1, jobs=GENERATED_JOBS)
        write_s = seconds(lambda: write(trace, made))
        for number, (name, path) in enumerate([*found.items(), ("generated", made)]):
            progress(number / (len(found) + 1))
            report = read(path).cleaning
            best_s = best_seconds(lambda path=path: read(path), REPEATS)  # type: ignore[misc]
            figures[name] = {"jobs": report.read, "read_s": best_s,
                             "jobs_per_s": report.read / best_s}
    figures["generated"]["write_s"] = write_s
    return figures
