"""Users who wait for the compiler are told why code built into the package does not serve."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from importlib.metadata import version

import pytest

from wattline.model import COMPILING, COMPILING_SHARED, kernel_cache

HERE = (f"Python {sys.version_info[0]}.{sys.version_info[1]}, numba {version('numba')} on "
        f"{platform.machine()}")


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_cache, "SHIPPED", tmp_path / "_kernels")
    return tmp_path / "_kernels"


@pytest.mark.parametrize("said", [COMPILING, COMPILING_SHARED])
def test_nothing_is_added_where_no_code_was_built_in_or_the_right_one(shipped, said):
    assert kernel_cache.announced(said) == said
    for name in (kernel_cache.state_name(), "py39-numba0.1-vax-0123456789abcdef"):
        (shipped / name).mkdir(parents=True)
        assert kernel_cache.announced(said) == said


@pytest.mark.parametrize("said", [COMPILING, COMPILING_SHARED])
@pytest.mark.parametrize(("built", "words"), [
    ("py314-numba0.70.0-x86_64", "Python 3.14, numba 0.70.0 on x86_64"),
    ("py311-numba0.61.2-aarch64", "Python 3.11, numba 0.61.2 on aarch64")])
def test_other_versions_are_named_beside_those_that_are_here(shipped, said, built, words):
    (shipped / f"{built}-0123456789abcdef").mkdir(parents=True)
    told = kernel_cache.announced(said)
    assert told.startswith(said)
    assert told.endswith(f"is for {words}, and here is {HERE}")


def test_code_of_other_sources_is_said_to_be_that(shipped):
    versions = kernel_cache.state_name().rsplit("-", 1)[0]
    (shipped / f"{versions}-0123456789abcdef").mkdir(parents=True)
    told = kernel_cache.announced(COMPILING)
    assert told.startswith(COMPILING)
    assert "of other sources" in told
    assert HERE not in told


FOREIGN = """
import sys
from importlib.metadata import version
from pathlib import Path
from wattline.model import before_compiling, kernel_cache

kernel_cache.SHIPPED = Path(sys.argv[1])
before_compiling[:] = [print]
from tests.support.small_kernels import double, triple
print(double(2.0), triple(2.0))
"""


@pytest.mark.compiled
def test_with_code_for_another_numba_kernels_are_compiled_and_right(tmp_path):
    built = tmp_path / "_kernels" / "py311-numba0.1.2-x86_64-0123456789abcdef"
    (built / "tests.support.small_kernels").mkdir(parents=True)
    done = subprocess.run([sys.executable, "-c", FOREIGN, str(built.parent)], text=True,
                          env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")},
                          capture_output=True, check=True)
    said, answers = done.stdout.splitlines()
    assert "is for Python 3.11, numba 0.1.2 on x86_64, and here is" in said
    assert answers.split() == ["4.0", "6.0"]
