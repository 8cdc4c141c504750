"""Worker processes end at once with their parent: interrupted, failed or killed."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest
from tests.support.thinned import crossed, mostly

from wattline.model import worker_pool as pools
from wattline.model.worker_pool import FORKS, worker_pool

if not Path("/proc/self/stat").exists():
    pytest.skip("processes are counted in /proc", allow_module_level=True)

pytestmark = pytest.mark.seldom

WORK = """
import time
from pathlib import Path

def work(folder, number):
    Path(folder, str(number)).touch()
    time.sleep(120)
"""
SCRIPT = """
import sys
from wattline.model.worker_pool import worker_pool
from waiting_work import work

with worker_pool(2, sys.argv[2:]) as pool:
    calls = [pool.submit(work, sys.argv[1], n) for n in range(9)]
    calls[0].result()
"""
STUDY = ("-c", "from wattline.cli.main import main; "
               "main(['study', 'dragonfly', '--quick', '--json'])")


@pytest.fixture
def begin():
    """Start Python in a session of its own, of which nobody is left after the test."""
    started = []

    def start(*argv):
        # Whoever runs the tests in the background ignores interrupts, and so would its children.
        started.append(subprocess.Popen(
            [sys.executable, *argv], start_new_session=True, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env={**os.environ, "WATTLINE_PLAIN": "1"},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)))  # noqa: PLW1509
        return started[-1]

    yield start
    for process in started:
        for pid in (*session(process.pid), process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()


def session(leader):
    """Processes of a session that are not ended, the leader left out, by their command."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
            if int(fields[3]) == leader and fields[0] not in "ZX" and int(folder.name) != leader:
                found[int(folder.name)] = (folder / "cmdline").read_text()
        except OSError:
            continue  # it has just ended
    return found


def wait_for(condition, seconds=40.0, every=0.05):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it never came"
        time.sleep(every)


def workers_of(process):
    """Fresh ones; or those that were forked, and the process that they were forked from."""
    return [pid for pid, command in session(process.pid).items()
            if "spawn_main" in command or "forkserver" in command]


@pytest.mark.parametrize(("how", "loads"), crossed(
    [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], [(), ("waiting_work",)],
    later=pytest.mark.long))
def test_workers_end_with_their_parent(begin, tmp_path, how, loads):
    """Nor do they run its script again, which does not ask whether it is the main one."""
    (tmp_path / "waiting_work.py").write_text(WORK)
    script, begun = tmp_path / "script.py", tmp_path / "begun"
    script.write_text(SCRIPT)
    begun.mkdir()
    process = begin(str(script), str(begun), *loads)
    wait_for(lambda: len(list(begun.iterdir())) == 2)
    assert len(workers_of(process)) == (3 if loads and FORKS else 2)
    process.send_signal(how)
    _, said = process.communicate(timeout=10)
    assert process.returncode == -how  # Python dies of the signal that it was interrupted by
    assert said.count("Traceback") == (how == signal.SIGINT)
    wait_for(lambda: not session(process.pid), 5.0)


@pytest.mark.parametrize("moment_s", mostly([0.0, 0.1, 0.3, 1.0], [0.0, 1.0], pytest.mark.long))
def test_ctrl_c_ends_a_study(begin, moment_s):
    """A terminal sends the signal to the whole group; one line is said, and nobody is left.

    The workers have just begun, are in their imports, or at work.
    """
    process = begin(*STUDY)
    wait_for(lambda: workers_of(process), every=0.005)
    time.sleep(moment_s)
    os.killpg(process.pid, signal.SIGINT)
    out, said = process.communicate(timeout=10)
    assert process.returncode == 130
    assert out == ""
    assert "interrupted" in said
    assert "Traceback" not in said
    wait_for(lambda: not session(process.pid), 5.0)


LOADED = """
import os

LOADED_BY = os.getpid()

def work(part):
    if part == "dies":
        os.kill(os.getpid(), 9)
    return LOADED_BY, os.getpid(), os.environ.get("OF_THIS_POOL")
"""


@pytest.fixture
def loaded_work(tmp_path, monkeypatch):
    """A module that workers can load, by its name."""
    name = f"loaded_work_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text(LOADED)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.syspath_prepend(tmp_path)
    return name


@pytest.mark.parametrize("forks", [False, FORKS])
def test_what_workers_need_is_loaded_once_where_they_are_forked(monkeypatch, loaded_work, forks):
    monkeypatch.setattr(pools, "FORKS", forks)
    work = __import__(loaded_work).work
    for pool_of in ("first", "second"):  # each pool has the environment of its time
        monkeypatch.setenv("OF_THIS_POOL", pool_of)
        with worker_pool(2, (loaded_work,)) as pool:
            found = list(pool.map(work, ["" for _ in range(40)]))
        assert {said for *_, said in found} == {pool_of}
        loaded_by, workers = ({each[part] for each in found} for part in (0, 1))
        if forks:
            assert len(loaded_by) == 1
            assert not loaded_by & {*workers, os.getpid()}
        else:
            assert loaded_by == workers


@pytest.mark.parametrize("forks", [False, FORKS])
def test_a_worker_that_is_killed_breaks_its_pool_and_the_next_one_works(
    monkeypatch, loaded_work, forks
):
    monkeypatch.setattr(pools, "FORKS", forks)
    work = __import__(loaded_work).work
    with worker_pool(2, (loaded_work,)) as pool, pytest.raises(BrokenProcessPool):
        pool.submit(work, "dies").result(timeout=60)
    with worker_pool(2, (loaded_work,)) as pool:
        assert pool.submit(work, "").result(timeout=60)[0] != os.getpid()


def is_broken(pool, work):
    try:
        pool.submit(work, "").result(timeout=60)
    except BrokenProcessPool:
        return True
    return False


@pytest.mark.skipif(not FORKS, reason="workers are not forked here")
def test_a_killed_server_is_as_a_killed_worker(loaded_work):
    work = __import__(loaded_work).work
    with worker_pool(1, (loaded_work,)) as pool:
        server, worker, _ = pool.submit(work, "").result(timeout=60)
        os.kill(server, signal.SIGKILL)
        wait_for(lambda: is_broken(pool, work))
    wait_for(lambda: not Path(f"/proc/{worker}").exists(), 10.0)
