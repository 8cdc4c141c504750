"""An agent is small: what it opens brings neither the compiler nor tables."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.support.bmcs import Played

HEAVY = {"numba", "numpy", "pandas", "matplotlib", "pydantic", "scipy", "click"}


@pytest.mark.parametrize("call", ["open_sensor('pm_counters', sys.argv[1] + '/pm_counters').read()",
                                  "open_sensor('powercap', sys.argv[1] + '/powercap').read()",
                                  "open_actuator('powercap', sys.argv[1] + '/powercap').knobs()"])
def test_opening_a_device_loads_nothing_heavy(tmp_path, call):
    code = (f"import sys; from wattline.live.found import "
            f"open_actuator, open_sensor; {call}; print(*({HEAVY} & set(sys.modules)))")
    said = subprocess.run([sys.executable, "-c", code, str(Played(tmp_path).folder)],
                          capture_output=True, text=True, check=True)
    assert said.stdout.split() == []
