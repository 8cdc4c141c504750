"""Everything in examples/ runs, and does what it says."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import wattline as wl
from wattline.analysis.series import power_steps
from wattline.results.verify.judge import verify

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


@pytest.fixture(autouse=True)
def _from_anywhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Files that a scenario names lie beside it, wherever it is run from."""
    monkeypatch.chdir(tmp_path)


# Those with jobs; contracts with the grid are simulated by `regulate`.
SCENARIOS = [path for path in sorted(EXAMPLES.glob("*.toml"))
             if "trace" in (top := tomllib.loads(path.read_text(encoding="utf-8")))
             and "contract" not in top]


@pytest.mark.parametrize("path", [
    # 200 jobs on a network are half a minute of plain Python; fewer run in test_examples_command.
    pytest.param(path, id=path.stem, marks=[pytest.mark.long] if path.stem == "dragonfly" else [])
    for path in SCENARIOS])
def test_every_scenario_runs_and_holds_together(path: Path) -> None:
    run = wl.simulate(path)
    assert run.ran.all()
    assert verify(run).sentences == []


def test_slow_down_keeps_the_cap_by_speed() -> None:
    run = wl.simulate(EXAMPLES / "slow_down.toml")
    assert run.power_w_peak <= 2000.0
    # Job 2 asks for 4 of 8 nodes beside job 1 on 2: 1,200 + 600 + 2 x 90 W is just under the cap.
    took_s = run.schedule.end_s - run.schedule.start_s
    assert took_s[:2] == pytest.approx([3600.0, 1800.0])
    # Job 5 wants all nodes, 2,400 W: only a speed of 0.8 (0.76 of the power) fits under 2,000 W.
    assert took_s[4] == pytest.approx(5400.0 / 0.8)


def test_maintenance_keeps_its_nodes_free() -> None:
    run = wl.simulate(EXAMPLES / "maintenance.toml")
    inside = (run.events.time_s >= 7200) & (run.events.time_s < 14400)
    assert inside.any()
    assert run.events.busy[inside].max() <= 2


def test_maintenance_keeps_its_cap_and_the_watts_of_its_window() -> None:
    run = wl.simulate(EXAMPLES / "maintenance.toml")
    assert run.time_above_cap_s == 0
    steps = power_steps(run)  # without the values between events of one instant
    begin_s = steps.edge_s[:-1]
    assert steps.value[(begin_s >= 7200) & (begin_s < 14400)].max() <= 2400 - 500
    assert steps.value[begin_s >= 14400].max() <= 2000


def test_the_list_is_complete() -> None:
    said = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    there = {str(path.relative_to(EXAMPLES)) for path in EXAMPLES.rglob("*")
             if path.is_file() and path.parent.name != "__pycache__"}
    assert set(re.findall(r"\]\(([\w./-]+)\)", said)) == there - {"README.md"}


@pytest.mark.parametrize(("name", "said"), [
    ("placement.toml", "wattline network"),
    ("shares.toml", "`wattline fairshare RUN --shares"), ("slow_down.py", "it is Python"),
    ("tour.ipynb", "it is a notebook"),
])
def test_what_is_no_scenario_says_what_reads_it(name: str, said: str) -> None:
    with pytest.raises(wl.InputError, match="is no scenario: .*" + re.escape(said)):
        wl.simulate(EXAMPLES / name)


def test_links_of_the_examples_lead_to_files_that_are_copied_with_them() -> None:
    for page in ("README.md", "tour.ipynb"):
        links = re.findall(r"\]\(([^)#]+)", (EXAMPLES / page).read_text(encoding="utf-8"))
        gone = [link for link in links if ("://" not in link and not (EXAMPLES / link).exists())
                or link.startswith("..")]
        assert gone == [], page
