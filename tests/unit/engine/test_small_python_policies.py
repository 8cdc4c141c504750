"""A few jobs under a policy in Python do not wait for a compiler."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
ASKED = """
import sys
import wattline as wl
from wattline.engine import simulate
from wattline.model import kernel

class Asked(BaseException):
    pass

def load_compiler():  # to load it and to compile would take ten seconds
    raise Asked

kernel.load_compiler = load_compiler
simulate.MOST_JOBS = {most}
try:
    wl.simulate("examples/slow_down.toml", allow_code=True)
except Asked:
    print("asked for")
else:
    print("loaded" if "numba" in sys.modules else "left alone")
"""


@pytest.mark.parametrize(("most", "compiler"), [(12, "left alone"), (11, "asked for")])
def test_the_compiler_is_loaded_for_many_jobs_only(
    tmp_path: Path, most: int, compiler: str
) -> None:
    """The log has twelve jobs."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ASKED.format(most=most)], cwd=ROOT, text=True,
        capture_output=True, check=True, timeout=600,
        env={**os.environ, "WATTLINE_PLAIN": "0", "XDG_CACHE_HOME": str(tmp_path)})
    assert done.stdout.strip() == compiler
