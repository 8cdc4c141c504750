"""Code that was compiled once is called without the compiler, with the same answers."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from wattline.model.kernel_arrays import KernelArrays
from wattline.model.kernel_code import described
from wattline.policies.order.fcfs import Fcfs
from wattline.policies.order.wfp import Wfp


class Bundle(KernelArrays):
    FIELDS = ("rows",)


class Own(NamedTuple):
    weight: float


ROW = np.dtype([("a", "f8"), ("b", "i4")])
TOLD_APART = [
    1, 1.0, True, np.float32(1), np.int64(1), np.zeros(3), np.zeros((3, 3)),
    np.zeros((3, 3), order="F"), np.zeros(6)[::2], np.zeros(3, dtype="i4"), np.zeros(3, dtype=ROW),
    np.zeros(3, dtype=np.dtype(ROW.descr, align=True)), np.zeros(3, dtype=ROW).view(np.recarray),
    Bundle(rows=np.zeros(3)), Bundle(rows=np.zeros(3, dtype=ROW)), (), (1,), (1.0,), (1, (1.0,)),
    Fcfs(), Wfp(1.0),
]


def test_types_that_code_depends_on_are_told_apart() -> None:
    read_only = np.zeros(3)
    read_only.flags.writeable = False
    found = [described(each) for each in (*TOLD_APART, read_only)]
    assert None not in found
    assert len(set(found)) == len(found)
    assert described((2, np.ones(7), Wfp(3.0))) == described((5, np.zeros(2), Wfp(0.5)))


@pytest.mark.parametrize("value", [2**63, "text", None, 1j, np.complex128(1), np.datetime64(0, "s"),
                                   Own(1.0), (1, "text"), {}, object()])
def test_what_is_not_known_is_left_to_numba(value: object) -> None:
    assert described(value) is None


LIBRARY = """
import numpy as np
from typing import NamedTuple
from wattline.model.kernel import array_kernel, kernel

class Weight(NamedTuple):
    value: float

@kernel
def root(value):
    if value < 0:
        raise ValueError("no root of a negative number")
    return value ** 0.5

@kernel
def roots(values, weight, count):
    total = 0.0
    for index in range(count):
        total += weight.value * root(values[index])
        values[index] = 0.0
    return total

@array_kernel
def several(count):
    return np.ones(count)
"""
ASK = """
import sys
import numpy as np
from our_kernels import Weight, root, roots, several
values = np.arange(5.0)
print(root(2.0), roots(values, Weight(0.1), 4), values)
without = "numba" not in sys.modules
try:
    root(-1.0)
except ValueError as error:
    print(error)
print(roots(np.arange(3, dtype="i4"), Weight(1.0), count=3), several(2))
print(without)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An installed package with kernels; its sources are watched as those of this one are."""
    (tmp_path / "our_kernels.py").write_text(LIBRARY)
    info = tmp_path / "our_kernels-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: our-kernels\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[wattline.policies]\norder.ours = our_kernels:roots\n")
    return tmp_path


def ask(folder: Path, question: str = ASK) -> list[str]:
    path = os.pathsep.join((str(folder), *filter(None, sys.path)))
    done = subprocess.run([sys.executable, "-c", question], capture_output=True, text=True,
                          check=False, env={**os.environ, "PYTHONPATH": path, "WATTLINE_PLAIN": "",
                               "XDG_CACHE_HOME": str(folder / "cache")})
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.compiled
def test_what_was_compiled_once_is_called_without_the_compiler(folder: Path) -> None:
    """Answers, errors and what is written are the same; what is not kept is left to numba."""
    *said, without = ask(folder)
    assert without == "False"
    assert ask(folder) == [*said, "True"]
    for damaged in folder.rglob("root-*.code"):
        damaged.write_bytes(damaged.read_bytes()[:-8] + bytes(8))
    assert ask(folder) == [*said, "False"]


AT_HAND = """
import numpy as np
from our_kernels import Weight, roots
from wattline.model.kernel import at_hand, load_compiler

if LOADED:
    load_compiler()
given = np.arange(5.0), Weight(0.1), 4
other = np.arange(5.0), Weight(1), 4
print(at_hand(roots, *given))
answer = roots(*given)
for _ in range(2):
    call = at_hand(roots, *given)
    values = np.arange(5.0)
    print(call(values, Weight(0.1), 4) == answer, values, at_hand(roots, *other))
    try:
        call(-np.ones(5), Weight(0.1), 4)
    except ValueError as error:
        print(error)
"""


@pytest.mark.compiled
@pytest.mark.parametrize("loaded", [False, True])
def test_code_in_memory_is_called_for_the_types_it_was_made_for(
    folder: Path, loaded: bool
) -> None:
    """None before a first call, and for other types; then the same answers and errors, with numba
    or without, compiled just now or found on disk."""
    question = AT_HAND.replace("LOADED", str(loaded))
    again = ["True [0. 0. 0. 0. 4.] None", "no root of a negative number"]
    for _ in range(2):
        assert ask(folder, question) == ["None", *again, *again]


PAGES = """
import resource
import numpy as np
from wattline.model import kernel_code

kernel_code._engine()
for _ in range(4):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    arrays = [np.full(400_000, 1.0) for _ in range(8)]
    del arrays
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have other ways")
def test_arrays_of_one_run_take_the_memory_of_the_last_one() -> None:
    """25 MB are 6,250 pages, each of which would be asked of the system again in every run."""
    # Dask sets how much the C library may keep, for its workers and in this process too.
    usual = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    done = subprocess.run([sys.executable, "-c", PAGES], capture_output=True, text=True, check=True,
                          env=usual)
    assert max(map(int, done.stdout.split()[1:])) < 300
