"""Kernels that a run needs next are compiled beside what it needs first, and by one process
only."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.support.kept_kernels import hand_on_parts

from wattline.engine.compiling import LONGEST_S, is_held, take
from wattline.scenario.caps import is_of_uncapped_run

SCRIPT = """
import json, sys
import wattline as wl
from wattline.model.kernel import PLAIN

compiled = []
if not PLAIN:
    from numba.core import event

    class Watch(event.Listener):
        def on_start(self, event):
            compiled.append(event.data["dispatcher"].py_func.__name__)

        def on_end(self, event):
            pass

    event.register("numba:compile", Watch())

trace = wl.generate("lublin", seed=4, jobs=3001, nodes=64)
machine = wl.Machine(nodes=64, node_idle_w=90, node_active_w=300)
run = wl.simulate(trace, machine=machine, power=wl.Block(cap="90%peak"))
json.dump({"loops": compiled.count("run_events"), "energy_j": run.energy_j,
           "ends": run.schedule.end_s.sum()}, sys.stdout)
"""


def answer(cache: Path, **more: str) -> dict:
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "WATTLINE_AT_ONCE": "1", **more}
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", SCRIPT], env=environment,
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.compiled
@pytest.mark.long  # two programs in a new cache; test_compiling_by_one.py has one before a commit
def test_the_capped_policies_are_compiled_while_the_peak_is_found(tmp_path):
    hand_on_parts(tmp_path)
    found = answer(tmp_path)
    assert found.pop("loops") == 1  # of the run without a cap; the other came from beside
    plain = answer(tmp_path, WATTLINE_PLAIN="1")
    assert plain.pop("loops") == 0
    assert found == plain


def test_one_process_takes_a_lock_and_others_see_that_it_is_held(tmp_path):
    lock = tmp_path / "compiling this"
    assert take(lock)
    assert is_held(lock)
    assert not take(lock)


def test_the_lock_of_a_dead_or_forgotten_process_is_broken(tmp_path):
    lock = tmp_path / "compiling this"
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    lock.write_text(str(ended.pid))
    assert not is_held(lock)
    assert take(lock)
    old = time.time() - LONGEST_S - 1
    os.utime(lock, (old, old))
    assert not is_held(lock)


@pytest.mark.parametrize(("cap", "part"), [
    ("70%peak", True), ("70%p99", True), ("70%", False), ("1.4MW", False), (1500.0, False),
    (None, False), ((), False)])
def test_only_a_part_of_the_run_without_a_cap_needs_that_run_first(cap, part):
    assert is_of_uncapped_run(cap) is part
