"""The tests beside this one, in a process in which kernels stay plain Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.plain import ROOT, plain_environment

from wattline.model.kernel import PLAIN

HERE = Path(__file__).parent
FILES = sorted(path.name for path in HERE.glob("test_*.py") if path.name != "test_plainly.py")


@pytest.mark.skipif(PLAIN, reason="this process is plain: they run by themselves")
@pytest.mark.parametrize("name", FILES)
def test_the_file_passes_without_compiling(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:warnings", "-p", "no:cacheprovider",
         str(HERE / name)],
        cwd=ROOT, env=plain_environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:]
    assert " passed" in done.stdout
