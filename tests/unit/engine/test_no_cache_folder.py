"""Runs without a cache folder go on: compiled in memory, and told."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.support.kept_kernels import hand_on_parts
from tests.support.thinned import mostly

ROOT = Path(__file__).parents[3]
ONLY_THE_USER = ("setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner")
"""Without what lets root write everywhere."""
NOBODY = ("setpriv", "--reuid=4321", "--regid=4321", "--clear-groups",
          "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")
"""A user whom the system does not list, and who may read this package wherever it lies."""
TINY = ("simulate", str(ROOT / "examples" / "tiny.swf"), "--no-folder", "--json")

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    """A home that can be read, and not be written."""
    home = tmp_path / "home"
    home.mkdir(mode=0o555)
    return home


def wattline(
    user: tuple[str, ...], *arguments: str, **more: str
) -> subprocess.CompletedProcess[str]:
    """The command as its user calls it, compiled unless `more` says otherwise."""
    given: Mapping[str, str] = {**_without("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR"),
                                "WATTLINE_PLAIN": "0", "WATTLINE_AT_ONCE": "1", **more}
    return subprocess.run([*user, sys.executable, "-m", "wattline", *arguments], env=given,
                          capture_output=True, text=True, timeout=300, check=False)


def _without(*names: str) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in names}


def energy_j(done: subprocess.CompletedProcess[str]) -> float:
    assert done.returncode == 0, done.stderr
    return float(json.loads(done.stdout)["metrics"]["energy_j"])


def keep_parts(home: Path) -> None:
    """Let a home know the kernels that kernels call, and not be written all the same."""
    home.chmod(0o755)
    hand_on_parts(home / ".cache")
    for folder in [home, *(path for path in home.rglob("*") if path.is_dir())]:
        folder.chmod(0o555)


@pytest.mark.compiled
@pytest.mark.parametrize("with_parts", mostly([True, False], [True], pytest.mark.long))
def test_a_run_is_compiled_in_memory_where_the_cache_cannot_be_written(
    closed: Path, with_parts: bool
) -> None:
    if with_parts:  # from nothing it takes twice as long
        keep_parts(closed)
    before = sorted(closed.rglob("*"))
    plain = wattline((), *TINY, WATTLINE_PLAIN="1", HOME=str(closed))
    done = wattline(ONLY_THE_USER, *TINY, HOME=str(closed), WATTLINE_AT_ONCE="0")
    assert energy_j(done) == energy_j(plain)
    (said,) = (line for line in done.stderr.splitlines() if "XDG_CACHE_HOME" in line)
    assert f"{closed}/.cache/wattline (Permission denied)" in said
    assert "compiling" in done.stderr
    assert sorted(closed.rglob("*")) == before


@pytest.mark.compiled
def test_a_small_run_promises_no_code_where_none_can_be_kept(closed: Path) -> None:
    done = wattline(ONLY_THE_USER, *TINY, HOME=str(closed))
    assert energy_j(done) > 0
    assert "in the background" not in done.stderr
    assert done.stderr.count("XDG_CACHE_HOME") == 1


@pytest.mark.compiled
def test_a_user_without_a_home_gets_the_figures_and_a_word() -> None:
    done = wattline(NOBODY, *TINY)
    assert energy_j(done) > 0
    assert "Traceback" not in done.stderr
    (said,) = (line for line in done.stderr.splitlines() if "XDG_CACHE_HOME" in line)
    assert "this user has no home folder" in said


SWEEP = """
[scenario]
trace = {generate = "lublin", jobs = 20}
machine = {nodes = 32}
[axes]
"policy.order" = ["fcfs", "sjf"]
"""


@pytest.mark.parametrize(("user", "workers"), [(ONLY_THE_USER, 2), (NOBODY, 1)],
                         ids=["closed home", "no home"])
def test_a_sweep_says_that_its_points_are_not_kept(
    user: tuple[str, ...], workers: int, closed: Path, tmp_path: Path
) -> None:
    (tmp_path / "sweep.toml").write_text(SWEEP)
    out = tmp_path / "out"
    out.mkdir()
    out.chmod(0o777)
    home = {} if user == NOBODY else {"HOME": str(closed)}
    done = wattline(user, "sweep", str(tmp_path / "sweep.toml"), "--out", str(out / "sweep"),
                    "--no-report", "--workers", str(workers), "--json", WATTLINE_PLAIN="1",
                    **home)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["failed"] == 0
    assert done.stderr.count("XDG_CACHE_HOME") == 1


@pytest.mark.compiled
@pytest.mark.parametrize("with_parts", mostly([True, False], [True], pytest.mark.long))
def test_workers_of_a_sweep_compile_in_memory_and_one_line_is_said(
    closed: Path, tmp_path: Path, with_parts: bool
) -> None:
    if with_parts:
        keep_parts(closed)
    (tmp_path / "sweep.toml").write_text(SWEEP)
    done = wattline(ONLY_THE_USER, "sweep", str(tmp_path / "sweep.toml"), "--no-cache", "--out",
                    str(tmp_path / "sweep"), "--workers", "2", "--json", HOME=str(closed))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["failed"] == 0
    assert done.stderr.count("XDG_CACHE_HOME") == 1
