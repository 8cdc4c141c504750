"""Draw the pictures of the documentation, each with the product itself.

    python scripts/draw_docs.py                all of them, into docs/pictures
    python scripts/draw_docs.py week-power     some of them
    python scripts/draw_docs.py --png FOLDER   all as PNG, to look at

Pictures are SVG with letters as letters, which is small and sharp; where there are thousands of
points, PNG.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import matplotlib as mpl
import numpy as np
from click.testing import CliRunner
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts import draw_contract_tables, draw_contracts  # noqa: E402
from scripts.draw_contracts import Picture  # noqa: E402

import wattline as wl  # noqa: E402
from wattline.cli.main import cli  # noqa: E402
from wattline.controller.testbed.curve_plot import draw_curve  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"
RECORDED = ROOT / "scripts" / "recorded"
"""Figures that only a run of minutes on a real Slurm can tell."""
WEEK = "examples/week.toml"
BEGIN_S = 1_790_000_100
"""Time at which the measured job began."""
FIXED = {"svg.fonttype": "none", "svg.hashsalt": "wattline"}
"""Letters stay letters, and a picture that is drawn again comes out the same."""

# What a command draws: {out} is the picture, {folder} a folder that is called like it.
COMMANDS: Mapping[str, str] = {
    "caps.svg": f"advise cap {WEEK} --wait +10% --only block,dvfs --plot {{out}}",
    "hurt.svg": f"compare {WEEK} --power-policy dvfs --vary power.cap=none,80% --per-job "
                "--no-report --out runs/hurt --plot {out}",
    "job.svg": "advise job --app EP.A --price 0.12EUR --all --plot {out}",
    "configurations.png": "configure BT-MZ --power 3500W --plot {out}",
    "procure.svg": "procure --budget-power 7kW --node-power-max 380 --node-power-min 180 "
                   "--cost-ratio 1.7 --speed-ratio 27% --scaling LU-MZ --plot {out}",
    "dragonfly.svg": "network show dragonfly-272 --svg {out}",
    "placement.svg": "network place examples/placement.toml --svg {out}",
    "regulation.png": "regulate examples/regulation.toml --bid 10163,4248 --check 0 "
                      "--out {folder}",
    "bids.svg": "bid --workload W4 --standby --bid exhaustive --forecast 0 --check 0 --out {out}",
    "regulation-savings.png": "study regulation --part workloads --hours 1 --out {folder}",
    "net.svg": "petri show cluster --out {out}",
    "meters.svg": "testbed meters --seconds 60 --plot {out}",
}

IN_FOLDER: Mapping[str, str] = {
    "regulation.png": "regulation/pictures/power.png",
    "regulation-savings.png": "regulation-savings/regulation-savings.png",
}
"""Place of the picture in its folder."""


def main_power() -> wl.Drawing:
    """The main job: four months without a cap and with one of 70 %."""
    runs = [wl.simulate(f"bundled:{name}") for name in ("main-uncapped", "main-capped")]
    return wl.compare(runs).plot.power()


def week_power() -> wl.Drawing:
    return _week().plot.power()


def week_capped() -> wl.Drawing:
    return _week_compared().plot.power()


def week_waits() -> wl.Drawing:
    return _week_compared().plot.waits()


def week_durations() -> wl.Drawing:
    return _week_compared().plot.durations()


def week_queue() -> wl.Drawing:
    return _week_compared().plot.queue()


def week_sizes() -> wl.Drawing:
    return _week().plot.use_by_size()


def week_map() -> wl.Drawing:
    return _week(placement="first-fit").plot.job_map()


def maintenance() -> wl.Drawing:
    """Nodes and watts that are kept free for a window."""
    return wl.simulate("examples/maintenance.toml").plot.power()


def budget() -> wl.Drawing:
    """The same joules per day under a constant cap, and spent where they cost least."""
    spent = wl.Budget(energy="340kWh", period="1d", price="examples/prices.csv")
    return wl.compare({"without a budget": _week(), "340 kWh per day, by price": _week(
        power=spent)}).plot.power()


def policies() -> wl.Drawing:
    """Three orders on the week."""
    runs = {order: _week(order=order) for order in ("fcfs", "sjf", "largest")}
    return wl.compare(runs).plot.waits()


def racks() -> wl.Drawing:
    """The week in four racks, of which the first may draw least."""
    kept = wl.Bounded(limits={"rack0": "2.4kW"})
    return _week(placement=kept, machine__nodes_per_rack=16).plot.job_map()


class _Measured:
    """The power of a job of a measured ledger, by `wattline account job`."""

    def __init__(self, silent_s: tuple[float, float] = (0.0, 0.0)) -> None:
        """An invented series of two nodes, in phases, and a time in which meters were silent."""
        random, rows = np.random.default_rng(1), ["time,node,watts"]
        phase_w = np.repeat(random.uniform(180, 340, 16), 30)  # half an hour each
        for minute, watts in enumerate(phase_w):
            if not silent_s[0] <= 60 * minute < silent_s[1]:
                rows += [f"{BEGIN_S + 60 * minute},n{node},{watts + random.normal(0, 6):.1f}"
                         for node in (1, 2)]
        Path("power.csv").write_text("\n".join([*rows, ""]), encoding="utf-8")
        begin, end = (datetime.fromtimestamp(at_s, UTC).isoformat()[:19]
                      for at_s in (BEGIN_S, BEGIN_S + 60 * len(phase_w)))
        Path("sacct.txt").write_text(
            "JobID|User|Account|State|Start|End|NNodes|NodeList\n"
            f"4711|ann|phys|COMPLETED|{begin}|{end}|2|n[1-2]\n", encoding="utf-8")
        Path("site.db").unlink(missing_ok=True)
        _call("account import sacct.txt power.csv --store site.db --zone UTC")

    def save(self, path: Path) -> None:
        _call("account job 4711 --store site.db --plot {out}", out=path)


def measured_job() -> _Measured:
    return _Measured()


def gap() -> _Measured:
    """The same, but the meters were silent for two hours."""
    return _Measured((3 * 3600, 5 * 3600))


class _Recorded:
    """Draw what a test bed of 64 nodes drew with the 230 jobs of ESP-2, under 15 kW."""

    def save(self, path: Path) -> None:
        rows = np.loadtxt(RECORDED / "esp-power.csv", delimiter=",", skiprows=1)
        draw_curve([(float(at), float(watts)) for at, watts in rows], [(0.0, 15_000.0)], path)


DRAWN: Mapping[str, Callable[[], wl.Drawing | _Measured | _Recorded | Picture]] = {
    "main-power.png": main_power, "week-power.svg": week_power, "week-capped.png": week_capped,
    "week-waits.svg": week_waits, "week-durations.svg": week_durations,
    "week-queue.svg": week_queue, "week-sizes.png": week_sizes, "week-map.svg": week_map,
    "maintenance.svg": maintenance, "budget.png": budget, "orders.svg": policies,
    "racks.svg": racks, "measured-job.svg": measured_job, "gap.svg": gap,
    "esp.svg": _Recorded, "contract-events.png": draw_contracts.events,
    "contract-rules.svg": draw_contracts.rules, "thresholds.svg": draw_contracts.thresholds,
    "contract-other-hours.svg": draw_contract_tables.other_hours,
    "contract-costs.svg": draw_contract_tables.costs,
    "contract-100-servers.svg": draw_contract_tables.hundred_servers,
    "contract-long-days.svg": draw_contract_tables.long_days,
}


def _week(**given: object) -> wl.Result:
    return wl.simulate(WEEK, **given)


def _week_compared() -> wl.Comparison:
    return wl.compare({"without a cap": _week(), "cap of 80 %": _week(
        power=wl.Dvfs(cap="80%"))})


def _call(command: str, **places: Path) -> str:
    """Run a command; what it prints."""
    argv = [part.format(**places) for part in shlex.split(command)]
    done = CliRunner().invoke(cli, argv, catch_exceptions=False)
    if done.exit_code:
        raise SystemExit(done.output)
    return done.stdout


def draw(name: str, place: Path) -> None:
    """Draw one picture."""
    if name in COMMANDS:
        _call(COMMANDS[name], out=place, folder=Path(name).with_suffix(""))
        if "{folder}" in COMMANDS[name]:
            shutil.copy(IN_FOLDER[name], place)
    else:
        DRAWN[name]().save(place)
    if not place.is_file():
        raise SystemExit(f"{name} was not drawn")
    if place.suffix == ".png":
        _lighten(place)


def _lighten(place: Path) -> None:
    """A drawing needs few colours, and then a third of the bytes."""
    with Image.open(place) as picture:
        picture.convert("RGB").quantize(64).save(place, optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw the pictures of the documentation.")
    parser.add_argument("names", nargs="*", help="such as week-power; all otherwise")
    parser.add_argument("--png", type=Path, metavar="FOLDER", help="as PNG, into this folder")
    given = parser.parse_args()
    folder = given.png.resolve() if given.png else PICTURES
    folder.mkdir(parents=True, exist_ok=True)
    mpl.rcParams.update(FIXED)
    warnings.simplefilter("ignore", wl.WattlineWarning)
    scratch = Path(tempfile.mkdtemp())
    (scratch / "examples").symlink_to(ROOT / "examples")
    os.chdir(scratch)  # what commands leave under runs/ is nobody's
    for name in [*COMMANDS, *DRAWN]:
        if not given.names or name.partition(".")[0] in given.names:
            place = folder / (f"{name.partition('.')[0]}.png" if given.png else name)
            draw(name, place)
            print(f"{place.name}: {place.stat().st_size / 1000:.0f} kB", flush=True)
    shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
