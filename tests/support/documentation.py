"""Builds the documentation as `make docs` does."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from tests.support.plain import ROOT

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8").replace("$(BIN)", "bin")


def mkdocs(*arguments: str) -> subprocess.CompletedProcess[str]:
    """As `make docs` calls it: an option there can make a broken link pass."""
    (said,) = re.findall(r"bin/mkdocs (build.*)", MAKEFILE)
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run([sys.executable, "-m", "mkdocs", *said.split(), *arguments], cwd=ROOT,
                          env=environment, capture_output=True, text=True, check=False)
