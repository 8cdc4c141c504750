"""The user is told of the wait for the compiler: once, and only when there is one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

# A kernel of its own: compiling the simulator for this would take far longer.
SCRIPT = """
import sys
from wattline.cli import main
import wattline.model as model
model.before_compiling[:] = [main._say]
from tests.support.small_kernels import double, triple
print(double(2.0), triple(2.0))
"""


@pytest.mark.compiled
def test_notice_comes_once_and_only_when_something_is_compiled(tmp_path):
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    environment.pop("NUMBA_CACHE_DIR", None)
    said = []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, text=True,
                              capture_output=True, check=True)
        assert done.stdout.split() == ["4.0", "6.0"]
        said.append(done.stderr.splitlines())
    assert len(said[0]) == 1
    assert "compiling" in said[0][0]
    assert said[1] == []


IN_PYTHON = """
import wattline.model.waiting as waiting
waiting.Wait.__init__.__defaults__ = (0.001,)
from tests.support.small_kernels import double
print(double(2.0))
"""


@pytest.mark.compiled
def test_in_python_the_wait_is_said_too_with_how_long_it_took(tmp_path):
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    environment.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run([sys.executable, "-c", IN_PYTHON], env=environment, text=True,
                          capture_output=True, check=True)
    lines = done.stderr.splitlines()
    assert lines[0].startswith("wattline: compiling; this happens once")
    assert re.fullmatch(r"wattline: compiling, \d+ s so far", lines[1])
    assert re.fullmatch(r"wattline: compiled in \d+ s", lines[-1])


@pytest.mark.compiled
@pytest.mark.parametrize(("module", "said"), [
    ("wattline.shared_nodes.loop", "compiling the rules of machines with shared nodes"),
    ("wattline.engine.loop", "combination of policies"), ("wattline.traces.reader", None),
    ("wattline.physics.plan", "takes some seconds")])
def test_the_notice_says_what_is_compiled(monkeypatch, module, said):
    from wattline import model
    from wattline.model.kernel_compiler import _Announcement

    lines = []
    monkeypatch.setattr(model, "while_compiling", [])
    monkeypatch.setattr("wattline.model.kernel_compiler.before_compiling", [lines.append])
    kernel = SimpleNamespace(py_func=SimpleNamespace(__module__=module))
    listener = _Announcement()
    listener.on_start(SimpleNamespace(data={"dispatcher": kernel}))
    listener.on_end(None)
    assert [said in line for line in lines] == ([] if said is None else [True])


@pytest.mark.compiled
def test_a_small_part_is_told_once_and_leaves_the_word_for_the_long_one(monkeypatch):
    from wattline import model
    from wattline.model.kernel_compiler import _Announcement

    lines, tells = [], []
    tells.append(lines.append)
    monkeypatch.setattr(model, "while_compiling", [])
    monkeypatch.setattr("wattline.model.kernel_compiler.before_compiling", tells)
    listener = _Announcement()
    for module in ("wattline.books.timers", "wattline.books.timers", "wattline.engine.loop",
                   "wattline.engine.loop", "wattline.books.timers"):
        kernel = SimpleNamespace(py_func=SimpleNamespace(__module__=module))
        listener.on_start(SimpleNamespace(data={"dispatcher": kernel}))
        listener.on_end(None)
    assert [line.partition("takes ")[2].split(" seconds")[0] for line in lines] == [
        "some", "some 10 to 40"]


@pytest.mark.parametrize("code", ["", "import time; time.sleep(60)"])
def test_an_interruption_says_what_goes_on_in_the_background(code, capsys):
    from wattline.cli import main

    child = subprocess.Popen([sys.executable, "-c", code])
    try:
        if not code:
            os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        main.compiling_beside[:] = [child.pid]
        assert main._interruption(KeyboardInterrupt()) == 130
        assert ("goes on in the background" in capsys.readouterr().err) == bool(code)
    finally:
        main.compiling_beside.clear()
        child.kill()
        child.wait()
