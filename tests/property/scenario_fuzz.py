"""Load and run scenarios drawn at random: an InputError of one line, or figures that are finite."""

from __future__ import annotations

import copy
import json
import math
import os
import random
import resource
import signal
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import tomli_w
from tests.property.scenario_draws import (
    BUILT_IN,
    GOOD_NETWORKS,
    of_network,
    of_policy,
    scenario,
    smallest,
    spoilt,
    write_files,
)
from tests.support.shared_paths import share_paths

from wattline.analysis import rundir
from wattline.analysis.folders import run_folder
from wattline.analysis.metrics import metrics
from wattline.model.errors import InputError
from wattline.scenario.build import plan
from wattline.scenario.load import validate
from wattline.scenario.model import Scenario
from wattline.scenario.network_section import topology_of

FEWEST = 400
COUNT = int(os.environ.get("WATTLINE_FUZZ", FEWEST))
"""Of scenarios; `make test-long` draws more."""
MEMORY = 3 * 2**30
SECONDS = 20
"""Of processor time, for one scenario."""
MOST_NODES, MOST_JOBS, MOST_ROUTERS = 2000, 300, 40
"""Only what is smaller is run, as plain Python."""


OFTEN = 1 if COUNT == FEWEST else 2
"""Number of times that each policy and each network runs at least."""


class Slow(Exception):
    """A scenario took longer than a small one may."""


def tried(drawn: int | tuple[str, str, int], folder: Path) -> tuple[str, str, str, str]:
    """The section that was drawn, what stood there, what came of it, and what is wrong with it.

    By a seed alone, or for a policy of an axis or a network with parameters drawn by a seed.
    """
    seed = drawn if isinstance(drawn, int) else drawn[2]
    rng = random.Random(seed)
    if isinstance(drawn, int):
        fields, section, label = scenario(rng)
    else:
        axis, name, _ = drawn
        fields, section = smallest(), "network" if axis == "network" else "policy"
        label = (of_network(rng, fields, name) if section == "network" else
                 of_policy(rng, fields, axis, name))
    if isinstance(drawn, int) and rng.random() < 0.6:
        fields = copy.deepcopy(fields)
        spoilt(rng, fields, section)
        label = f"spoilt {section}"
    try:
        outcome, wrong = _outcome(fields, folder / "run")
    except Slow:
        outcome, wrong = "failed", f"took more than {SECONDS} s"
    except Exception as error:  # every one of them is a finding
        outcome, wrong = "failed", f"{type(error).__name__}: {error}"
    return section, label, outcome, f"{drawn}: {fields!r}: {wrong}" if wrong else ""


def _outcome(fields: dict[str, Any], folder: Path) -> tuple[str, str]:
    try:
        loaded = validate(fields)
        if not _is_small(loaded) or (
            loaded.network is not None and topology_of(loaded).routers > MOST_ROUTERS
        ):
            return "accepted", ""
        ready = plan(loaded)
        if len(ready.jobs) > MOST_JOBS or ready.machine.node_count > MOST_NODES:
            return "accepted", ""
        run = ready.run()
    except InputError as error:
        text = str(error)
        return "refused", "" if text.strip() and "\n" not in text else f"says {text!r}"
    except SystemExit as error:
        return "failed", f"exits with {error.code}"
    figures = metrics(run)
    above = ("time_above_cap_s", "energy_above_cap_j") if run.cap_w is None else ()
    known = {name: value for name, value in figures.items() if name not in above}
    if run.ran.any() and not _all_finite(known):
        return "run", f"figures are not finite: {figures}"
    target = run_folder(loaded.name, None)
    if target.parent != Path("runs") or len(target.name) > 200:
        return "run", f"would be written to {target}"
    written = rundir.write(run, folder, figures)
    copied = tomllib.loads((written / "scenario.toml").read_text(encoding="utf-8"))
    try:
        validate(copied)
    except InputError as error:
        return "run", f"its copy is refused: {error}"
    assert tomli_w.dumps(copied)
    return "run", ""


def _is_small(loaded: Scenario) -> bool:
    machine = loaded.machine
    nodes = machine.nodes or sum(each.count for each in machine.classes)
    cores = max([machine.cores_per_node or 1, *(each.cores for each in machine.classes)])
    units = nodes * cores if machine.granularity == "core" else nodes
    jobs = loaded.trace.jobs or 0
    large = loaded.trace.generate in ("lublin", "poisson", "leadership") and jobs == 0
    return units <= MOST_NODES and jobs <= MOST_JOBS and not large


def _all_finite(value: Any) -> bool:
    if isinstance(value, dict):
        # Where nobody is known, or nothing ran, there is nothing to take a mean of.
        nothing = value.get("users") == 0 or value.get("jobs") == 0
        return nothing or all(_all_finite(inner) for inner in value.values())
    if isinstance(value, (list, tuple)):
        return all(_all_finite(inner) for inner in value)
    return not isinstance(value, float) or math.isfinite(value)


def _each_choice(ran: Counter[str]) -> Iterator[tuple[str, str, int]]:
    """Every policy that the package brings and every network, with other parameters until it has
    run so often."""
    for axis, named in (*BUILT_IN.items(), ("network", GOOD_NETWORKS)):
        for name in named:
            for seed in range(30):
                if ran[f"{axis}.{name}"] < OFTEN:
                    yield axis, name, seed


def main(first: int, count: int) -> dict[str, Any]:
    """Try so many seeds; counts by section and by what was drawn, and what is wrong."""
    def too_slow(number: int, frame: Any) -> None:
        raise Slow

    signal.signal(signal.SIGPROF, too_slow)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    share_paths()
    sections: Counter[str] = Counter()
    ran: Counter[str] = Counter()
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder)
        os.chdir(folder)
        for drawn in chain(_each_choice(ran), range(first, first + count)):
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            section, label, outcome, finding = tried(drawn, folder)
            signal.setitimer(signal.ITIMER_PROF, 0)
            sections[f"{section} {outcome}"] += 1
            if outcome == "run":
                ran[label] += 1
            if finding:
                wrong.append(finding)
    return {"sections": sections, "ran": ran, "wrong": wrong, "peak_kib": _peak_kib()}


def _peak_kib() -> int:
    """The most memory that this program had; `getrusage` counts that of its parent too."""
    told = Path("/proc/self/status").read_text(encoding="ascii")
    return int(next(line.split()[1] for line in told.splitlines() if line.startswith("VmHWM")))


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(int(sys.argv[1]), int(sys.argv[2]))) + "\n")
