"""Of processes that need the same policies, one compiles them and the others wait for it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.kept_kernels import hand_on_parts

from wattline.engine.compiling import compile_or_wait

SCRIPT = """
import json, sys
import wattline as wl
from numba.core import event

compiled = []

class Watch(event.Listener):
    def on_start(self, event):
        compiled.append(event.data["dispatcher"].py_func.__name__)

    def on_end(self, event):
        pass

event.register("numba:compile", Watch())
print("ready", flush=True)
sys.stdin.readline()
trace = wl.generate("lublin", seed=4, jobs=30, nodes=64)
run = wl.simulate(trace, machine__nodes=64)
json.dump({"loops": compiled.count("run_events"), "energy_j": run.energy_j}, sys.stdout)
"""


@pytest.mark.compiled
def test_two_processes_at_once_compile_the_same_policies_once(tmp_path: Path) -> None:
    hand_on_parts(tmp_path)
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "WATTLINE_AT_ONCE": "0",
                   "WATTLINE_PLAIN": "0"}
    both = [subprocess.Popen([sys.executable, "-W", "ignore", "-c", SCRIPT], env=environment,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for _ in range(2)]
    for each in both:
        assert each.stdout is not None
        assert each.stdout.readline() == "ready\n"
    for each in both:
        assert each.stdin is not None
        each.stdin.write("go\n")
        each.stdin.flush()
    found = [json.loads(each.communicate()[0]) for each in both]
    assert sum(each["loops"] for each in found) == 1
    assert found[0]["energy_j"] == found[1]["energy_j"]
    assert not list((tmp_path / "wattline" / "kernels").glob("*/compiling*"))


def test_where_no_lock_can_be_written_each_compiles_for_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = []
    monkeypatch.setattr("wattline.engine.simulate.compile_loop", lambda *parts: called.append(1))
    monkeypatch.setattr("wattline.engine.compiling.is_compiled", lambda *given: False)
    monkeypatch.setattr("wattline.engine.compiling.cache_folder", lambda: tmp_path / "not there")
    compile_or_wait((None, None, None, ()), None)  # type: ignore[arg-type]
    assert called == [1]
