"""All tests in one go: style, types, then pytest under coverage on every core.

Arguments go to pytest; with any, coverage is left out (`scripts/run_tests.py -k easy`).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent

# Compiled kernels run outside Python, where coverage cannot see them. These tests are run a second
# time with the same sources as plain Python, so that the kernels are counted too.
IN_PLAIN_PYTHON = ("tests/property/test_engine_twins.py", "tests/unit/test_examples.py")


def run(*command: str, **environment: str) -> None:
    print("$", *(f"{name}={value}" for name, value in environment.items()), *command, flush=True)
    env = {**os.environ, **environment}
    argv = [str(BIN / command[0]), *command[1:]]
    status = subprocess.run(argv, cwd=ROOT, env=env, check=False).returncode
    if status:
        sys.exit(status)


def main() -> None:
    run("ruff", "check", ".")
    run("mypy")
    run("lint-imports", "--no-cache")
    workers = ("-n", str(os.cpu_count() or 2))
    if len(sys.argv) > 1:
        run("pytest", *workers, *sys.argv[1:])
        return
    counted = ("--cov=wattline", "--cov-report=")
    run("pytest", *workers, *counted)
    plain = [path for path in IN_PLAIN_PYTHON if (ROOT / path).exists()]
    run("pytest", *workers, *counted, "--cov-append", *plain, WATTLINE_PLAIN="1")
    run("coverage", "report", "--format=total")
    print("per cent of the package's lines are covered. Kernels count where the tests that ran as")
    print("plain Python reach them; compiled code is not measured.")


if __name__ == "__main__":
    main()
