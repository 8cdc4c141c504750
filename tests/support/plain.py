"""Run a piece of code where kernels stay plain Python and nothing is compiled.

In a process of its own where this one compiles; here where it does not, because a new process
spends two seconds on its imports.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any

from wattline.model.kernel import PLAIN

ROOT = Path(__file__).resolve().parents[2]


def plain_environment() -> dict[str, str]:
    """For such a process, with the sources of this checkout, wherever the package is installed."""
    paths = (str(ROOT / "src"), str(ROOT))
    return {**os.environ, "WATTLINE_PLAIN": "1", "PYTHONPATH": os.pathsep.join(paths)}


def in_plain(code: str) -> Any:
    """Return what the code assigns to `result`, as JSON carries it."""
    if PLAIN:
        names: dict[str, Any] = {"__name__": __name__}
        with chdir(ROOT), _constants_given_back():
            exec(compile(textwrap.dedent(code), "<in_plain>", "exec"), names)
        return json.loads(json.dumps(names["result"]))
    script = textwrap.dedent(code) + "\nimport json\nprint(json.dumps(result))\n"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, check=False, capture_output=True, text=True,
        env=plain_environment(),
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@contextmanager
def _constants_given_back() -> Iterator[None]:
    """Constants that the code sets are its own: the next test here finds the package's."""
    before = {module: {name: value for name, value in vars(module).items() if name.isupper()}
              for name, module in list(sys.modules.items()) if name.startswith("wattline.")}
    try:
        yield
    finally:
        for module, constants in before.items():
            vars(module).update(constants)
