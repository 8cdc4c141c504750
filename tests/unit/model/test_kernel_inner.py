"""Kernels that kernels call have no machine code of their own, and do the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

LIBRARY = """
from wattline.model.kernel import kernel, kernel_part

@kernel
def half(values, place):
    if place >= values.size:
        raise IndexError("beyond the last one")
    return values[place] / 2.0

@kernel_part
def both(values):
    return half(values, 0) + half(values, 1)

@kernel
def outer(values):
    return both(values) + half(values, values.size - 1)

@kernel
def beyond(values):
    return both(values) + half(values, values.size)
"""

SCRIPT = """
import sys
import numpy as np
import library
from wattline.model.kernel import load_compiler

if len(sys.argv) > 1:
    load_compiler()  # or code would be called without it
values = np.array([1.0, 3.0, 5.0])
made = library.outer(values)
try:
    library.beyond(values)
except IndexError as error:
    print(error)
inner = library.half.inner
found = len(inner.stats.cache_hits) == len(inner.overloads)
print(made, library.half(values, 1), "found" if found else "made")
for result in inner.overloads.values():
    assert getattr(result.library, "_compiled_object", None) is None
for result in library.outer.overloads.values():
    assert result.library._compiled_object
"""


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A package that registers a policy: its kernels are kept on disk."""
    (tmp_path / "library.py").write_text(LIBRARY)
    info = tmp_path / "library-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: library\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[wattline.policies]\norder.none = library:none\n")
    return tmp_path


def run(folder: Path, *arguments: str) -> list[str]:
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", SCRIPT, *arguments], env=environment,
                          capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return done.stdout.split("\n")


@pytest.mark.compiled
def test_a_kernel_that_kernels_call_has_no_code_of_its_own_and_is_found_again(library):
    assert run(library)[:2] == ["beyond the last one", "4.5 1.5 made"]
    for kept in (library / "cache").rglob("outer*.nb?"):
        kept.unlink()  # compiled again, from the kernels that it calls
    assert run(library, "with the compiler")[:2] == ["beyond the last one", "4.5 1.5 found"]
