"""All tests in one go: style, types, then pytest under coverage on every core."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent


def run(*command: str, **environment: str) -> None:
    print("$", " ".join(command), flush=True)
    env = {**os.environ, **environment}
    argv = [str(BIN / command[0]), *command[1:]]
    status = subprocess.run(argv, cwd=ROOT, env=env, check=False).returncode
    if status:
        sys.exit(status)


def main() -> None:
    run("ruff", "check", ".")
    run("mypy")
    run("lint-imports", "--no-cache")
    run("pytest", "-n", str(os.cpu_count() or 2), *sys.argv[1:])


if __name__ == "__main__":
    main()
