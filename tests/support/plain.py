"""Run a piece of code in a process where kernels stay plain Python: nothing is compiled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def plain_environment() -> dict[str, str]:
    """For such a process, with the sources of this checkout, wherever the package is installed."""
    paths = (str(ROOT / "src"), str(ROOT))
    return {**os.environ, "WATTLINE_PLAIN": "1", "PYTHONPATH": os.pathsep.join(paths)}


def in_plain(code: str) -> Any:
    """What the code assigns to `result`, as JSON carries it."""
    script = textwrap.dedent(code) + "\nimport json\nprint(json.dumps(result))\n"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, check=False, capture_output=True, text=True,
        env=plain_environment(),
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
