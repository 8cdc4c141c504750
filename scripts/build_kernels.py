"""Compile the combinations of policies that the docs, examples and commands use, into the package.

    scripts/build_kernels.py [--into FOLDER] [--only TEXT]

Run it before a wheel is built: what it leaves in src/wattline/_kernels goes into the wheel, for
this family of processors and these versions of Python and numba (the folder's name says which);
elsewhere the package compiles as it always does. With --only, just the combinations whose name has
the text.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "wattline"

POWERS = ("none", "block", "wait", "dvfs", "watts", "adaptive")
BACKFILLS = ("easy", "conservative", "none")
ORDERS = ("fcfs", "sjf", "largest", "wfp", "multifactor")
COMPILE = """
import sys
import wattline as wl
from wattline.scenario.load import parse_settings
fields = {name.replace(".", "__"): value for name, value in parse_settings(sys.argv[1:]).items()}
trace = wl.generate("lublin", seed=1, jobs=20, nodes=16)
wl.simulate(trace=trace, machine__nodes=16, machine__node_idle_w=90, machine__node_active_w=300,
            **fields)
"""
READ = "import sys, wattline as wl; wl.read(sys.argv[1])"


def combinations() -> dict[str, list[str]]:
    """The settings of a scenario, by the name of the combination."""
    found = {}
    for order in ORDERS:
        for backfill in BACKFILLS if order == "fcfs" else ("easy",):
            for power in POWERS if order == "fcfs" else ("none", "dvfs"):
                cap = [] if power == "none" else ["power.cap=4000"]
                found[f"{order} {backfill} {power}"] = [
                    f'policy.order="{order}"', f'policy.backfill="{backfill}"',
                    f'policy.power="{power}"', *cap]
    found["first-fit"] = ['policy.placement="first-fit"']
    return found


def compile_one(name: str, settings: list[str], cache: Path) -> str:
    began = time.monotonic()
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "WATTLINE_AT_ONCE": "0",
                   "PYTHONPATH": str(ROOT / "src")}
    for key in ("WATTLINE_PLAIN", "NUMBA_BOUNDSCHECK"):
        environment.pop(key, None)
    subprocess.run([sys.executable, "-c", COMPILE, *settings], env=environment, check=True)
    return f"{name}: {time.monotonic() - began:.0f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--into", type=Path, default=PACKAGE / "_kernels")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    chosen = {name: each for name, each in combinations().items() if options.only in name}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        cache = Path(folder)
        environment = {**os.environ, "XDG_CACHE_HOME": folder, "PYTHONPATH": str(ROOT / "src")}
        subprocess.run([sys.executable, "-c", READ, str(ROOT / "examples" / "tiny.swf")],
                       env=environment, check=True)
        for done in pool.map(lambda item: compile_one(*item, cache), chosen.items()):
            print(done, flush=True)
        shutil.rmtree(options.into, ignore_errors=True)
        shutil.copytree(cache / "wattline" / "kernels", options.into,
                        ignore=shutil.ignore_patterns("*.lock"))
    size = sum(path.stat().st_size for path in options.into.rglob("*") if path.is_file())
    print(f"{len(chosen)} combinations, {size / 1e6:.1f} MB in {options.into}")


if __name__ == "__main__":
    main()
