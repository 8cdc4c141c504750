"""A few jobs under a policy in Python do not wait for a compiler."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
ASKED = """
import sys
import wattline as wl
from wattline.engine import at_once
from wattline.model import kernel

class Asked(BaseException):
    pass

def load_compiler():  # to load it and to compile would take ten seconds
    raise Asked

kernel.load_compiler = load_compiler
for at_once.MOST_JOBS in (12, 11):
    try:
        wl.simulate("examples/slow_down.toml", allow_code=True)
    except Asked:
        print("asked for")
    else:
        print("loaded" if "numba" in sys.modules else "left alone")
"""


def test_the_compiler_is_loaded_for_many_jobs_only(tmp_path: Path) -> None:
    """The log has twelve jobs."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ASKED], cwd=ROOT, text=True,
        capture_output=True, check=True, timeout=600,
        env={**os.environ, "WATTLINE_PLAIN": "0", "XDG_CACHE_HOME": str(tmp_path)})
    assert done.stdout.splitlines() == ["left alone", "asked for"]
