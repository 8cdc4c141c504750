"""Logs that come with the package, named in a scenario wherever it lies."""

from __future__ import annotations

from pathlib import Path

import pytest

import wattline as wl


def test_a_scenario_anywhere_names_a_log_of_the_package(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[trace]\nfile = "bundled:tiny.swf"\n[machine]\nnodes = 8\n')
    run = wl.simulate(file)
    assert len(run.jobs()) == 12
    again = wl.simulate(run.save(tmp_path / "run") / "scenario.toml")
    assert again.energy_j == run.energy_j
    assert wl.simulate(trace="bundled:tiny.swf", machine=wl.Machine(nodes=8)).energy_j == (
        run.energy_j)


@pytest.mark.parametrize("name", ["nosuch.swf", "../tiny.swf", "/etc/passwd", ""])
def test_another_name_is_refused_with_those_that_there_are(name: str) -> None:
    with pytest.raises(wl.InputError, match=r"there are: tiny\.swf, week\.swf"):
        wl.simulate(wl.Scenario(trace={"file": f"bundled:{name}"}))
