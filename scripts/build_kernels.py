"""Compile what the docs, examples, studies and main commands need, into the package.

    scripts/build_kernels.py [--into FOLDER] [--work FOLDER] [--only TEXT] [--jobs N]

Run it before a wheel is built: what it leaves in src/wattline/_kernels goes into the wheel, for
this family of processors and these versions of Python and numba (the folder's name says which);
elsewhere the package compiles as it always does. With --only, just what has the text in its name.

It goes on where it was stopped: what is compiled stays in build/kernels, with a note of each
program that was run, by a digest of all that the program is made of. After a change all of them run
again, and compile what the change made new.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
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
DONE = "done"
"""Notes of programs that were run lie beside what these compiled, and go where it goes."""
STATE = "from wattline.model.kernel_cache import state_name; print(state_name())"
COMMANDS = {
    "the main job": "compare --no-report",
    "example small": "simulate {examples}/small.toml",
    "example maintenance": "simulate {examples}/maintenance.toml",
    "example dragonfly": "simulate {examples}/dragonfly.toml",
    "example dragonfly, rdn": "simulate {examples}/dragonfly.toml --placement rdn",
    "example dragonfly, nedd": "simulate {examples}/dragonfly.toml --placement nedd",
    "example week": "simulate {examples}/week.toml",
    "example slow_down": "simulate {examples}/slow_down.toml --allow-code",
    "example sweep": "sweep {examples}/sweep.toml --no-report --workers 1",
    "example twin": "twin check {examples}/twin/twin.toml",
    "example regulation": "regulate {examples}/regulation.toml",
    "example regulation, kept": "simulate {examples}/regulation.toml",
    "example curtailment": "regulate {examples}/curtailment.toml",
    "example curtailment, kept": "simulate {examples}/curtailment.toml",
    "example bid": "bid {examples}/regulation.toml --rounds 10",
    "bid, empirical": "bid --workload W2 --burst 4 --bid empirical --forecast 4 --rounds 10",
    "regulate, feedback": "regulate --workload W4 --mislabelled 0.3 --feedback --bid 9500,2500",
    "example placement": "network place {examples}/placement.toml",
    "advise policy": "advise policy {examples}/week.toml --at 68% --candidates sjf,wfp "
                     "--candidates 'power=dvfs cap=16kW'",
    "energy plan": "energy plan --energy 250kWh --period 1d --price {examples}/prices.csv "
                   "--nodes 64 --node-idle-w 100 --node-active-w 350",
    "views": "view show power --nodes 20 --node-idle-w 90 --node-active-w 300 --nodes-per-rack 8 "
             "--limit rack0=2kW --depth 2",
    "energy budget": "energy budget --energy 500kWh --period 1d --nodes 100 --cores 16 "
                     "--node-idle-w 112 --node-active-w 352 --node-off-w 14 --jobs 50",
    "study esp": "study esp",
    "study fairshare": "study fairshare",
    "study hetero": "study hetero",
    "study puppet": "study puppet --jobs 400 --no-plots",
    "study rmap": "study rmap --seeds 1",
    "study dragonfly": "study dragonfly --quick --workloads 2 --repeats 1 --workers 1",
    "study regulation": "study regulation --part default --hours 1 --rounds 1 --workers 1",
}
"""Run what the documentation shows; each leaves what it compiled."""


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
    """Calls that compile what they need, by name.

    The reader is asked for by itself: small logs, like that of the examples, are read without it.
    """
    commands = {name: ["-m", "wattline", *shlex.split(text.format(examples=ROOT / "examples"))]
                for name, text in COMMANDS.items()}
    reader = {"the reader of logs": ["-c", READ, str(ROOT / "examples" / "tiny.swf")]}
    return reader | commands | {name: ["-c", COMPILE, *settings]
                       for name, settings in combinations().items()}


class Build:
    """Programs that are run with one cache, each of them once."""

    def __init__(self, work: Path, programs: Mapping[str, list[str]],
                 side_by_side: int | None = None) -> None:
        self._work = work
        self._side_by_side = side_by_side or os.cpu_count()
        self._programs = programs
        self._environment = _environment(work)
        self.state = self._run("its state", ["-c", STATE]).strip()
        """The name of the folder of what is compiled: of sources, Python, numba and processor."""
        self._contents = b"".join(_contents())
        self._done = 0
        self._counting = threading.Lock()

    @property
    def kernels(self) -> Path:
        return self._work / "wattline" / "kernels" / self.state

    def run(self) -> None:
        """Run what was not run before; the first that fails ends all, and what is done stays."""
        todo = [name for name in self._programs if not self._note(name).exists()]
        self._done = len(self._programs) - len(todo)
        if self._done:
            print(f"{self._done} of {len(self._programs)} known from before", flush=True)
        with ThreadPoolExecutor(self._side_by_side) as pool:
            for _ in pool.map(self._compile, todo):
                pass

    def _compile(self, name: str) -> None:
        began = time.monotonic()
        self._run(name, self._programs[name])
        note = self._note(name)
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(name)
        with self._counting:
            self._done += 1
            print(f"{self._done} of {len(self._programs)}: {name}, "
                  f"{time.monotonic() - began:.0f} s", flush=True)

    def _note(self, name: str) -> Path:
        made_of = "\0".join([self.state, *self._programs[name]]).encode() + self._contents
        return self.kernels / DONE / hashlib.sha256(made_of).hexdigest()[:16]

    def _run(self, name: str, program: list[str]) -> str:
        done = subprocess.run([sys.executable, *program], env=self._environment, cwd=self._work,
                              check=False, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{name}: {done.stderr.strip()}")
        return done.stdout


def _environment(work: Path) -> dict[str, str]:
    found = {**os.environ, "XDG_CACHE_HOME": str(work), "WATTLINE_AT_ONCE": "0",
             "PYTHONPATH": str(ROOT / "src")}
    for key in ("WATTLINE_PLAIN", "NUMBA_BOUNDSCHECK"):
        found.pop(key, None)
    return found


def _contents() -> Iterator[bytes]:
    """A digest of each file that may decide on what a program compiles."""
    for folder in (PACKAGE, ROOT / "examples"):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not {"__pycache__", "_kernels"} & set(path.parts):
                yield hashlib.sha256(str(path.relative_to(ROOT)).encode()).digest()
                yield hashlib.sha256(path.read_bytes()).digest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--into", type=Path, default=PACKAGE / "_kernels")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "kernels")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, help="programs side by side; one per core unless said")
    options = parser.parse_args()
    began = time.monotonic()
    chosen = {name: each for name, each in programs().items() if options.only in name}
    # What the package has already would be found, and not be compiled into the folder of work.
    shutil.rmtree(options.into, ignore_errors=True)
    options.work.mkdir(parents=True, exist_ok=True)
    build = Build(options.work.absolute(), chosen, options.jobs)
    try:
        build.run()
    except KeyboardInterrupt:
        sys.exit("stopped; the next call goes on from here")
    shutil.copytree(build.kernels, options.into / build.state,
                    ignore=shutil.ignore_patterns("*.lock", DONE))
    size = sum(path.stat().st_size for path in options.into.rglob("*") if path.is_file())
    loops = len(list(options.into.glob("*/wattline.engine.loop/run_events*.nbc")))
    print(f"{len(chosen)} programs, {loops} combinations, {size / 1e6:.1f} MB in {options.into}, "
          f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
