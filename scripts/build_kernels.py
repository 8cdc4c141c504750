"""Compile what the docs, examples, studies and main commands need, into the package.

    scripts/build_kernels.py [--into FOLDER] [--only TEXT]

Run it before a wheel is built: what it leaves in src/wattline/_kernels goes into the wheel, for
this family of processors and these versions of Python and numba (the folder's name says which);
elsewhere the package compiles as it always does. With --only, just what has the text in its name.
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
READ = """
import sys
from wattline.traces.swf import parse
parse(open(sys.argv[1], "rb").read(), "log", compiled=True)
"""
COMMANDS = {
    "the main job": "compare --no-report",
    "example small": "simulate {examples}/small.toml",
    "example maintenance": "simulate {examples}/maintenance.toml",
    "example dragonfly": "simulate {examples}/dragonfly.toml",
    "example dragonfly, rdn": "simulate {examples}/dragonfly.toml --placement rdn",
    "example regulation": "regulate {examples}/regulation.toml",
    "example curtailment": "regulate {examples}/curtailment.toml",
    "example bid": "bid {examples}/regulation.toml --rounds 10",
    "example placement": "network place {examples}/placement.toml",
    "energy budget": "energy budget --energy 500kWh --period 1d --nodes 100 --jobs 50",
    "study esp": "study esp",
    "study fairshare": "study fairshare",
    "study hetero": "study hetero",
    "study puppet": "study puppet --jobs 400 --no-plots",
    "study rmap": "study rmap --seeds 1",
    "study dragonfly": "study dragonfly --quick --workloads 2 --repeats 1 --workers 1",
    "study regulation": "study regulation --part default --hours 1 --rounds 1 --workers 1",
}
"""What the documentation shows; each leaves what it compiled."""


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


def programs() -> dict[str, list[str]]:
    """What is run to compile what it needs, by its name.

    The reader is asked for by itself: small logs, like that of the examples, are read without it.
    """
    commands = {name: ["-m", "wattline", *text.format(examples=ROOT / "examples").split()]
                for name, text in COMMANDS.items()}
    reader = {"the reader of logs": ["-c", READ, str(ROOT / "examples" / "tiny.swf")]}
    return reader | commands | {name: ["-c", COMPILE, *settings]
                       for name, settings in combinations().items()}


def compile_one(name: str, program: list[str], cache: Path) -> str:
    began = time.monotonic()
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "WATTLINE_AT_ONCE": "0",
                   "PYTHONPATH": str(ROOT / "src")}
    for key in ("WATTLINE_PLAIN", "NUMBA_BOUNDSCHECK"):
        environment.pop(key, None)
    done = subprocess.run([sys.executable, *program], env=environment, cwd=cache, check=False,
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{name}: {done.stderr.strip()}")
    return f"{name}: {time.monotonic() - began:.0f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--into", type=Path, default=PACKAGE / "_kernels")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    began = time.monotonic()
    chosen = {name: each for name, each in programs().items() if options.only in name}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        cache = Path(folder)
        for done in pool.map(lambda item: compile_one(*item, cache), chosen.items()):
            print(done, flush=True)
        shutil.rmtree(options.into, ignore_errors=True)
        shutil.copytree(cache / "wattline" / "kernels", options.into,
                        ignore=shutil.ignore_patterns("*.lock"))
    size = sum(path.stat().st_size for path in options.into.rglob("*") if path.is_file())
    loops = len(list(options.into.glob("*/wattline.engine.loop/run_events*.nbc")))
    print(f"{len(chosen)} programs, {loops} combinations, {size / 1e6:.1f} MB in {options.into}, "
          f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
