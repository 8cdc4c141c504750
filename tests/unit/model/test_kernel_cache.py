"""Compiled kernels are found again, and only while no source that went into them has changed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.kept_kernels import hand_on_parts

from wattline.model.kernel_cache import HOME, cache_folder, packages, sources, state_name
from wattline.model.plugins import installed

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
    state_name.cache_clear()
    packages.cache_clear()
    installed.cache_clear()


def test_an_edited_plugin_has_its_kernels_compiled_anew(plugin: Path) -> None:
    before = cache_folder()
    os.utime(plugin, ns=(0, 0))
    forget()
    assert cache_folder() == before  # the time alone says nothing
    plugin.write_text("def largest(setting): ...\n")
    forget()
    assert cache_folder() != before


def test_every_kernel_lies_where_its_source_is_watched() -> None:
    watched = {Path(path) for _, path in sources()}
    made = re.compile(r"wattline\.model\.kernel import (?!uncompiled$)", re.MULTILINE)
    missing = [path for path in HOME.rglob("*.py")  # `uncompiled` alone makes none
               if made.search(path.read_text()) and path not in watched]
    assert missing == []


def test_old_folders_are_forgotten_and_those_in_use_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    kernels = tmp_path / "wattline" / "kernels"
    for age in range(8):
        (kernels / f"state{age}").mkdir(parents=True)
        os.utime(kernels / f"state{age}", (1e9 - age, 1e9 - age))
    forget()
    assert cache_folder().is_dir()
    kept = sorted(path.name for path in kernels.iterdir() if path.name.startswith("state"))
    assert kept == ["state0", "state1", "state2", "state3"]
    monkeypatch.undo()
    forget()


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


ADDRESS = """
import ctypes
from wattline.model.kernel import kernel

cosine = ctypes.CDLL("libm.so.6").cos
cosine.argtypes, cosine.restype = [ctypes.c_double], ctypes.c_double

@kernel
def turned(value):
    return cosine(value)

print(turned(0.0))
"""


@compiled_only
def test_a_kernel_that_holds_an_address_is_called_from_memory(folder: Path) -> None:
    """Code with an address of this process is of no use to another: numba says so, and goes on."""
    (folder / "holding.py").write_text(ADDRESS)
    assert run(folder, "import holding") == ["1.0"]
    assert not list(folder.rglob("holding.turned*"))


SHIPPED = """
import sys
from pathlib import Path
from wattline.model import before_compiling, kernel_cache

kernel_cache.SHIPPED = Path(sys.argv[1])
said = []
before_compiling.append(lambda line: said.append("compiling"))
import wattline as wl

trace = wl.generate("lublin", seed=2, jobs=50, nodes=16)
wl.simulate(trace=trace, machine__nodes=16, machine__node_idle_w=90, machine__node_active_w=300)
print(said, "numba" in sys.modules)
"""


@compiled_only
@pytest.mark.long  # a program in a new cache; the reader, below, is built before every commit
def test_what_is_built_into_the_package_needs_no_compiler(tmp_path: Path) -> None:
    """With an empty cache of one's own, as on another machine."""
    root = HOME.parent.parent
    shipped = tmp_path / "shipped"
    hand_on_parts(tmp_path / "work")
    subprocess.run([sys.executable, "scripts/build_kernels.py", "--only", "fcfs easy none",
                    "--into", str(shipped), "--work", str(tmp_path / "work")], cwd=root,
                   check=True, capture_output=True)
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "empty"), "WATTLINE_AT_ONCE": "0"}
    done = subprocess.run([sys.executable, "-c", SHIPPED, str(shipped)], cwd=root, text=True,
                          env=environment, capture_output=True, check=True)
    assert done.stdout.split() == ["[]", "False"]


READING = """
import sys
from pathlib import Path
from wattline.model import kernel_cache

kernel_cache.SHIPPED = Path(sys.argv[1])
from wattline.traces.swf import parse
from wattline.traces.swf_kernel import parse_lines

parse(Path("examples/tiny.swf").read_bytes(), "tiny", compiled=True)
print(sum(parse_lines.stats.cache_misses.values()))
"""


@compiled_only
def test_the_reader_of_large_logs_is_built_into_the_package_too(tmp_path: Path) -> None:
    """No example is so large that it asks for the compiled reader."""
    root = HOME.parent.parent
    shipped = tmp_path / "shipped"
    subprocess.run([sys.executable, "scripts/build_kernels.py", "--only", "reader",
                    "--into", str(shipped), "--work", str(tmp_path / "work")], cwd=root,
                   check=True, capture_output=True)
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "empty")}
    done = subprocess.run([sys.executable, "-c", READING, str(shipped)], cwd=root, text=True,
                          env=environment, capture_output=True, check=True)
    assert done.stdout.split() == ["0"]


@compiled_only
def test_processes_that_compile_at_the_same_time_do_not_mix_up_their_code(folder: Path) -> None:
    """Each asks one kernel for another type; a third process then finds both."""
    text = ("from library import root; from wattline.policies.order.fcfs import Fcfs; "
            "print(root(Fcfs(), {}))")
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    both = [subprocess.Popen([sys.executable, "-c", text.format(value)], cwd=folder,
                             env=environment, stdout=subprocess.PIPE, text=True)
            for value in ("4.0", "9")]
    said = [process.communicate()[0].strip() for process in both]
    after = [run(folder, text.format(value) + "; print(len(root.stats.cache_hits))")
             for value in ("4.0", "9")]
    assert [each[0] for each in after] == said
    assert [each[1] for each in after] == ["1", "1"]
