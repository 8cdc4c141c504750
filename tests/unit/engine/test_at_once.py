"""A small log under policies that are not compiled yet is answered at once, and to the digit."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.support.kept_kernels import hand_on_parts

SCRIPT = """
import json, sys
import wattline as wl
from wattline.model import before_compiling, before_running_plain

said = []
before_running_plain.append(lambda: said.append("plain"))
before_compiling.append(lambda line: said.append("compiling"))
trace = wl.generate("lublin", seed=4, jobs=200, nodes=64)
run = wl.simulate(trace=trace, machine__nodes=64, power__cap=12000.0,
                  policy__power={"name": "adaptive"}, machine__node_idle_w=90,
                  machine__node_active_w=300)
json.dump({"said": said, "energy_j": run.energy_j, "ends": run.schedule.end_s.tolist(),
           "low": run.memories["admission.memory"].low[:5].tolist()}, sys.stdout)
"""


def answer(cache: Path, **more: str) -> dict:
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "WATTLINE_AT_ONCE": "1", **more}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True,
                          text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.compiled
def test_a_small_log_runs_plain_and_the_next_one_compiled(tmp_path):
    hand_on_parts(tmp_path)
    first = answer(tmp_path)
    assert first.pop("said") == ["plain"]
    kernels = tmp_path / "wattline" / "kernels"
    begin = time.monotonic()
    while not list(kernels.glob("*/compiling*")) and time.monotonic() - begin < 60:
        time.sleep(0.2)
    while list(kernels.glob("*/compiling*")) and time.monotonic() - begin < 300:
        time.sleep(0.5)
    second = answer(tmp_path)
    assert second.pop("said") == []
    assert first == second


@pytest.mark.compiled
def test_it_can_be_told_not_to(tmp_path):
    plain = answer(tmp_path, WATTLINE_PLAIN="1")
    assert plain["said"] == []
