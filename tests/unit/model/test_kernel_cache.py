"""Compiled kernels are found again, and only while no source that went into them has changed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from wattline.model.kernel_cache import cache_folder, packages

compiled_only = pytest.mark.compiled

LIBRARY = """
import math
from wattline.model.kernel import array_kernel, kernel
import numpy as np

@kernel
def root(policy, value):
    if value < 0:
        raise ValueError("no root of a negative number")
    return math.pow(value, 0.5)

@array_kernel
def drawn(count):
    return np.zeros(count).sum()
"""

# A policy of a script: its kernel must not be left to processes that do not have the script.
MODULE = """
from typing import NamedTuple

class Mine(NamedTuple):
    weight: float
"""

SCRIPT = """
import library
from mine import Mine

assert library.root(Mine(1.0), 4.0) == 2.0
assert not library.root.stats.cache_hits
"""

KNOWN = """
import library
from wattline.policies.order.fcfs import Fcfs

assert library.root(Fcfs(), 4.0) == 2.0
assert library.drawn(3) == 0.0
try:
    library.root(Fcfs(), -1.0)
except ValueError as error:
    print(error)
print(len(library.root.stats.cache_hits), len(library.drawn.stats.cache_hits))
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installed package that registers a policy."""
    source = tmp_path / "our_policies.py"
    source.write_text("def smallest(setting): ...\n")
    info = tmp_path / "our_policies-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: our-policies\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[wattline.policies]\norder.smallest = our_policies:smallest\n"
    )
    before = cache_folder()
    monkeypatch.syspath_prepend(tmp_path)
    forget()
    assert cache_folder() != before
    yield source
    monkeypatch.undo()
    forget()
    assert cache_folder() == before


def forget() -> None:
    cache_folder.cache_clear()
    packages.cache_clear()


def test_an_edited_plugin_has_its_kernels_compiled_anew(plugin: Path) -> None:
    before = cache_folder()
    os.utime(plugin, ns=(0, 0))
    forget()
    assert cache_folder() != before


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a library of kernels, and a module with a policy of one's own."""
    (tmp_path / "library.py").write_text(LIBRARY)
    (tmp_path / "mine.py").write_text(MODULE)
    return tmp_path


def run(folder: Path, text: str) -> list[str]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    environment.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run(
        [sys.executable, "-c", text],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@compiled_only
def test_kernels_are_found_again_whatever_a_script_compiled_before(folder: Path) -> None:
    run(folder, SCRIPT)
    (folder / "mine.py").unlink()
    said = "no root of a negative number"
    assert run(folder, KNOWN) == [said, "0 0"]
    assert run(folder, KNOWN) == [said, "1 1"]


@compiled_only
def test_a_policy_of_a_script_is_compiled_with_its_present_code(folder: Path) -> None:
    run(folder, SCRIPT)
    run(folder, SCRIPT)
