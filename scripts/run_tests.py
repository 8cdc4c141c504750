"""All tests in one go: style, types, then pytest twice on every core, then against a real Slurm.

Most tests are about what is decided, not about compiling it: they run as plain Python, where
nothing has to be compiled and an index outside of its array raises. Then those run that are marked
`compiled` (about compiled kernels, or too much work for plain Python) or `both_ways`.

Arguments go to pytest both times (`scripts/run_tests.py -k easy`); `--coverage` as the only one
counts the lines that the plain tests reach, kernels among them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent


SLURM = "tests/slurm"
NO_TESTS = 5
"""What pytest says where no test was chosen."""


def run(*command: str, allowed: int = 0, **environment: str) -> None:
    print("$", *(f"{name}={value}" for name, value in environment.items()), *command, flush=True)
    env = {**os.environ, **environment}
    argv = [str(BIN / command[0]), *command[1:]]
    status = subprocess.run(argv, cwd=ROOT, env=env, check=False).returncode
    if status not in (0, allowed):
        sys.exit(status)


def main() -> None:
    workers = ("-n", str(os.cpu_count() or 2))
    plain = ("pytest", *workers, "-m", "not compiled", f"--ignore={SLURM}")
    if sys.argv[1:] == ["--coverage"]:
        run(*plain, "--cov=wattline", "--cov-report=", WATTLINE_PLAIN="1")
        run("coverage", "report", "--format=total")
        print("per cent of the package's lines are reached by the tests that run as plain Python")
        return
    run("ruff", "check", ".")
    run("mypy")
    run("lint-imports", "--no-cache")
    some = tuple(sys.argv[1:])
    allowed = NO_TESTS if some else 0
    run(*plain, *some, allowed=allowed, WATTLINE_PLAIN="1")
    compiled = ("pytest", *workers, "-m", "compiled or both_ways", f"--ignore={SLURM}")
    run(*compiled, *some, allowed=allowed, WATTLINE_PLAIN="")
    if not some:  # one after the other, with the machine to themselves: they look at real clocks
        run("pytest", SLURM, "-rs", WATTLINE_PLAIN="1")


if __name__ == "__main__":
    main()
