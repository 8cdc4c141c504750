"""Input that nobody means and somebody sends: one line, the promised status, no memory spent."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import h5py
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from tests.support.contracts import contract_text

import wattline
from wattline.account.profile import CHUNK, ENERGY_TYPE
from wattline.account.store import Store
from wattline.cli.main import cli, main
from wattline.model.errors import InputError
from wattline.model.pictures import save_picture
from wattline.model.reading import LIMIT_VARIABLE
from wattline.scenario.twin.from_table import read_table

LOG = """; MaxNodes: 8
1 0 -1 10 4 -1 -1 4 10 -1 1 1 1 1 1 -1 -1 -1
2 0 -1 10 8 -1 -1 8 10 -1 1 1 1 1 1 -1 -1 -1
"""
MIB = 2**20


@pytest.fixture
def little_memory() -> Iterator[None]:
    """Whoever asks for more than 400 MiB beyond what the process has gets a MemoryError."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + 400 * MIB
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    yield
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@pytest.fixture
def refused(little_memory, tmp_path, monkeypatch, capsys):
    """Call a command that must be refused; what it said, without the log's own remarks."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.swf").write_text(LOG)

    def call(*arguments: str) -> str:
        with pytest.raises(SystemExit) as stop:
            main(list(arguments))
        said = capsys.readouterr()
        assert stop.value.code == 2, said.err
        assert said.out == ""
        assert said.err.startswith("wattline: ")
        assert len(said.err.strip().splitlines()) == 1
        assert len(said.err) < 900
        assert not (tmp_path / "runs").exists()
        return said.err

    return call


COUNTS = ("1e12", "1000000000000", "2147483648", "9223372036854775807", "9223372036854775808",
          "1000000000", "1e308", "-1", "0", "1.5", "nan", "inf", "true", '"8"')


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("field", ["machine.nodes", "machine.cores_per_node"])
def test_counts_that_no_machine_has(refused, field, count):
    assert field in refused("simulate", "--trace", "log.swf", "--set", f"{field}={count}")


@pytest.mark.parametrize("count", COUNTS)
def test_counts_of_a_class_that_no_machine_has(refused, count):
    assert "machine.classes.0.count" in refused(
        "simulate", "--trace", "log.swf", "--placement", "first-fit", "--set",
        f"machine.classes=[{{count={count}}}]")


@pytest.mark.parametrize("generator", ["lublin", "poisson", "leadership"])
@pytest.mark.parametrize("jobs", ["1e11", "100000000000", "9223372036854775808"])
def test_more_jobs_than_fit_in_memory(refused, generator, jobs):
    Path("s.toml").write_text(f'[trace]\ngenerate = "{generator}"\njobs = {jobs}\n'
                              "[machine]\nnodes = 64\n")
    assert "jobs" in refused("simulate", "s.toml")
    if jobs.isdigit():
        assert "jobs" in refused("trace", "generate", generator, "--jobs", jobs, "-o", "x.swf")


@pytest.mark.parametrize(("arguments", "said"), [
    (["--set", "machine.node_active_w=1e308"], "machine.node_active_w: must be at least 0"),
    (["--set", "machine.node_active_w=nan"], "machine.node_active_w"),
    (["--set", "machine.node_idle_w=true"], "machine.node_idle_w: must be a number"),
    (["--set", "machine.nodes_per_rack=0"], "machine.nodes_per_rack: must be at least 1"),
    (["--set", "machine.granularity=core", "--set", "machine.nodes=10000000",
      "--cores-per-node", "64"], "640,000,000 cores; at most"),
    (["--set", "trace.unix_start_s=nan"], "trace.unix_start_s"),
    (["--set", "trace.unix_start_s=1e300"], "trace.unix_start_s"),
    (["--set", "trace.strict=1"], "trace.strict"),
    (["--set", "trace.seed=-1"], "trace.seed: must be at least 0"),
    (["--set", "power.levels=[1e-300,1.0]"], "power.levels"),
    (["--set", "power.alpha=nan"], "power.alpha"),
    (["--alpha", "nan"], "--alpha"),
    (["--set", "power.cap=true"], "power.cap: must be a number"),
    (["--set", "power.cap=nan"], "power.cap"),
    (["--set", "power.cap=1e300"], "power.cap"),
    (["--set", "power.cap=[{time_s=0,watts=5000},{time_s=0,watts=6000}]"], "must rise in time"),
    (["--set", "power.cap=[{time_s=9,watts=5000},{time_s=3,watts=6000}]"], "must rise in time"),
    (["--set", "power.cap=[{time_s=-1,watts=5000}]"], "power.cap.0.time_s: this is in the past"),
    (["--set", "power.cap=[{time_s=nan,watts=5000}]"], "power.cap.0.time_s"),
    (["--set", "reservations=[{start_s=0,duration_s=inf,nodes=1}]"], "reservations.0.duration_s"),
    (["--set", "shares={1=nan}"], "shares.1"),
    (["--set", "policy.order={name='wfp',exponent=nan}"], "exponent is nan"),
    (["--set", "policy.order={name='wfp',exponent=true}"], "exponent: must be a number"),
    (["--set", "policy.order={name='multifactor',age=nan}"], "age is nan"),
    (["--set", "policy.order={name='energy-share',fair='x'}"], "fair: must be a number"),
    (["--set", "policy.power={name='budget',energy='1kWh',periods=1000000000000}"], "periods"),
    (["--set", "network={topology='dragonfly',groups=1000000000}"], "nodes; at most"),
    (["--set", "network={topology='fat-tree',ports=100000}"], "nodes; at most"),
    (["--set", "network={topology='torus',sizes=[100000,100000]}"], "nodes; at most"),
    (["--set", "network={machine=\"a\\u0000b\"}"], "no file"),
    (["--set", "name=" + "x" * 300], "name: "),
    (["--set", "a=" + "[" * 5000], "a: there is no such field"),
    (["--set", "machine.nodes=" + "9" * 5000], "machine.nodes"),
    (["--set", "power.cap=" + "x" * 5000], "power.cap"),
    (["-o", "x" * 300], "too long"),
])
def test_values_that_cannot_be(refused, arguments, said):
    assert said in refused("simulate", "--trace", "log.swf", *arguments)


@pytest.mark.parametrize(("text", "said"), [
    ('servers = "35"', "machine.nodes: must be a number"),
    ("servers = 1e12", "machine.nodes: must be at least"),
    ("servers = 20000000", "jobs in 3600 s; at most"),
    ("bid = [nan, 1]", "bid.0: must be a finite"),
    ('duration = "1e12"', "control cycles"), ("[signal]\nstep_s = 1e-9", "steps"),
    ("[prices]\nenergy = [[0, nan]]", "prices.energy.0.1: must be a finite"),
    ("standby = 1", "standby"), ("seed = true", "seed: must be a number"),
])
def test_contracts_that_cannot_be(refused, text, said):
    Path("c.toml").write_text(contract_text(f'workload = "W4"\n{text}\n'))
    assert said in refused("regulate", "c.toml")


def test_a_name_that_is_long_and_allowed_becomes_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.swf").write_text(LOG)
    with pytest.raises(SystemExit) as stop:
        main(["simulate", "--trace", "log.swf", "--set", "name=" + "x" * 200])
    assert stop.value.code == 0
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["x" * 100 + "-001"]


@pytest.mark.parametrize("text", ["a = " + "[" * 5000, "a = " + "{b=" * 3000,
                                  "[trace]\nparameters." + ".".join("a" * 5000) + " = 1"])
def test_brackets_in_brackets(refused, text):
    Path("deep.toml").write_text(text)
    for command in (["simulate"], ["compare"], ["power", "show"], ["regulate"]):
        assert "deep in one another" in refused(*command, "deep.toml")


@pytest.mark.parametrize("name", ["/dev/zero", "/dev/full", "pipe"])
def test_devices_and_silent_pipes_are_no_files(refused, name):
    os.mkfifo("pipe")
    for arguments in (["--trace", name], [name], ["--trace", "log.swf", "--cap", name],
                      ["--trace", "log.swf", "--set", f"signals.a={name}"],
                      ["--trace", "log.swf", "--network", name, "--placement", "nedd"]):
        refused("simulate", *arguments)


def test_a_zero_byte_in_a_file_name(refused):
    Path("s.toml").write_text('[trace]\nfile = "a\\u0000b"\n')
    assert "no file has such a name" in refused("simulate", "s.toml")


def test_a_header_that_names_a_machine_beyond_memory(refused):
    Path("log.swf").write_text(LOG.replace("MaxNodes: 8", "MaxNodes: 999999999999"))
    assert "999,999,999,999 nodes; at most" in refused("simulate", "--trace", "log.swf")


@pytest.mark.parametrize(("name", "pack"), [
    ("gz", gzip.compress), ("xz", lzma.compress), ("bz2", bz2.compress)])
def test_a_small_file_that_unpacks_to_gigabytes(refused, monkeypatch, name, pack):
    monkeypatch.setenv(LIMIT_VARIABLE, "0.0078125")
    member = pack(b" " * 2 * MIB)
    Path(f"log.swf.{name}").write_bytes(member * 1024)
    said = refused("simulate", "--trace", f"log.swf.{name}")
    assert "more than 8 MiB, unpacked" in said


@pytest.mark.long  # unpacks a gibibyte; the limit itself is tried with less before every commit
def test_the_limit_without_any_setting_is_a_gibibyte(tmp_path):
    """In a process of its own that may not have twice as much."""
    (tmp_path / "log.swf.gz").write_bytes(gzip.compress(b" " * 64 * MIB) * 64)

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (2048 * MIB, 2048 * MIB))

    done = subprocess.run([sys.executable, "-m", "wattline", "trace", "info", "log.swf.gz"],
                          cwd=tmp_path, preexec_fn=limited, capture_output=True, text=True,
                          check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "more than 1 GiB, unpacked" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_small_table_of_ever_the_same_rows(refused, monkeypatch):
    monkeypatch.setenv(LIMIT_VARIABLE, "0.01")
    column = pa.array([1.0]).take(pa.array([0] * 1_000_000))
    pq.write_table(pa.table(dict.fromkeys(("submit_s", "run_s", "procs"), column)), "t.parquet")
    assert Path("t.parquet").stat().st_size < 20_000
    assert "1,000,000 rows" in refused("simulate", "--trace", "t.parquet", "--nodes", "8")


def test_a_small_profile_of_rows_that_were_never_written(refused):
    with h5py.File("job_1.h5", "w") as file:
        file.create_dataset("Steps/0/Nodes/n1/Energy", (2**31,), ENERGY_TYPE, chunks=(CHUNK,),
                            compression="gzip", maxshape=(None,))
    assert Path("job_1.h5").stat().st_size < 6000
    assert "2,147,483,648 rows, which take more than the limit of 1 GiB" in refused(
        "account", "import", "job_1.h5", "--store", "site.db")
    assert not Path("site.db").exists()


@pytest.mark.parametrize("place", ["Steps/0", "Steps/0/Nodes", "Steps/0/Nodes/n1/Energy/more"])
def test_a_profile_of_another_shape(refused, place):
    with h5py.File("job_1.h5", "w") as file:
        file[place] = 5.0
    assert "/Steps/*/Nodes/*/Energy series" in refused(
        "account", "import", "job_1.h5", "--store", "site.db")


def test_a_small_table_of_meters_or_of_a_site(refused, monkeypatch):
    monkeypatch.setenv(LIMIT_VARIABLE, "0.01")
    column = pa.array([1.0]).take(pa.array([0] * 1_000_000))
    pq.write_table(pa.table({"time_s": column, "n1": column}), "p.parquet")
    assert "1,000,000 rows" in refused("account", "import", "p.parquet", "--store", "site.db")
    with pytest.raises(InputError, match="1,000,000 rows"):
        read_table("p.parquet")


SECRETS = "".join(f"SECRET{n}:x:{n},SECRET|SECRET SECRET\n" for n in range(30))


@pytest.mark.parametrize("fields", [
    "trace={file=F}", "trace={file=F,map='eagle'}", "trace.map=F", "power.cap=F", "signals={a=F}",
    "network={machine=F}", "network={topology='cray',file=F}",
    "network={topology='codes',intra=F,inter=F}", "network={machine='dragonfly-272',profiles=F}",
    "trace={generate='poisson',parameters={types=F}}",
    "policy.order={name='energy-share',shares=F}",
    "policy.power={name='budget',energy='900MWh',price=F}",
    "policy.power={name='budget',energy='900MWh',carbon=F}",
    "policy.placement={name='bounded',views=F}",
    "policy.configure={name='naive',table=F}", "policy.configure={name='naive',model=F}",
    "policy.configure={name='naive',store=F}", "policy.configure={name='claims',claims=F}",
])
def test_a_file_that_was_not_meant_is_not_shown(refused, fields):
    Path("passwd").write_text(SECRETS)
    setting = ["--set", fields.replace("F", "'passwd'")]
    if fields.startswith("network"):
        setting += ["--placement", "nedd"]
    if "naive" in fields:
        setting += ["--cap", "5kW"]
    assert "SECRET" not in refused("simulate", "--trace", "log.swf", *setting)


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="there is no /dev/full here")
@pytest.mark.parametrize("arguments", [["policies"], ["--help"], ["--version"],
                                       ["simulate", "--trace", "log.swf", "--no-folder", "--json"]])
def test_output_that_cannot_be_written_is_a_failure_in_one_line(tmp_path, arguments):
    (tmp_path / "log.swf").write_text(LOG)
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-m", "wattline", *arguments], cwd=tmp_path,
                              env={**os.environ, "WATTLINE_PLAIN": "1"}, stdout=full,
                              stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "wattline: output: No space left on device\n"


@pytest.mark.parametrize("module", ["click", "numpy"])
def test_ctrl_c_while_modules_load(tmp_path, module):
    """A module of that name stands before the real one and is interrupted while it loads."""
    (tmp_path / f"{module}.py").write_text(
        "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(9)\n")
    (tmp_path / "log.swf").write_text(LOG)
    path = os.pathsep.join((str(tmp_path), str(Path(wattline.__file__).parents[1])))
    done = subprocess.run(
        [sys.executable, "-m", "wattline", "simulate", "--trace", "log.swf"], cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False,
        timeout=60)
    assert done.returncode == 130
    assert done.stderr.strip() == "wattline: interrupted; nothing half-written was kept"


@contextmanager
def room_in_files(kib: int) -> Iterator[None]:
    """No file grows beyond: what a full disk does to one, and nobody's disk has to be filled."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (kib * 1024, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("kib", [1, 40])  # before and after there are -wal and -shm
def test_a_store_that_cannot_be_made_leaves_no_file(tmp_path, kib):
    with room_in_files(kib), pytest.raises(InputError, match="cannot open the store"):
        Store(tmp_path / "site.db")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "site.db").write_bytes(b"mine")
    with pytest.raises(InputError):
        Store(tmp_path / "site.db")
    assert (tmp_path / "site.db").read_bytes() == b"mine"


def test_examples_on_a_full_disk_leave_all_as_it_was(tmp_path):
    with room_in_files(5), pytest.raises(
            InputError, match=r"new/in/\S+ cannot be written: File too large"):
        wattline.copy_examples(tmp_path / "new" / "in")
    assert list(tmp_path.iterdir()) == []
    wattline.copy_examples(tmp_path)
    (tmp_path / "README.md").write_text("mine")
    with room_in_files(5), pytest.raises(InputError):
        wattline.copy_examples(tmp_path, force=True)
    assert (tmp_path / "README.md").read_text() == "mine"
    assert not list(tmp_path.rglob("*.part"))


def test_a_picture_on_a_full_disk_leaves_the_old_one(tmp_path):
    from matplotlib.figure import Figure

    figure = Figure()
    figure.subplots().plot([1, 2])
    old = save_picture(figure, tmp_path / "p.png").read_bytes()
    assert old.startswith(b"\x89PNG")
    with room_in_files(5), pytest.raises(InputError, match="cannot be written: File too"):
        save_picture(figure, tmp_path / "p.png")
    assert (tmp_path / "p.png").read_bytes() == old
    assert [path.name for path in tmp_path.iterdir()] == ["p.png"]


@pytest.mark.usefixtures("unpainted")
def test_a_report_on_a_full_disk_leaves_no_folder(tmp_path, monkeypatch, capsys):
    from wattline.analysis import report

    def full(path, content):
        raise InputError(f"{path} cannot be written: No space left on device")

    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.swf").write_text(LOG)
    with pytest.raises(SystemExit):
        main(["simulate", "--trace", "log.swf", "-o", "run"])
    monkeypatch.setattr(report, "write_whole", full)
    with pytest.raises(SystemExit) as stop:
        main(["report", "run", "-o", "page"])
    assert stop.value.code == 2
    assert "No space left" in capsys.readouterr().err
    assert not (tmp_path / "page").exists()


def test_of_quotes_is_spoken_where_there_can_be_some(tmp_path: Path) -> None:
    (tmp_path / "log.swf").write_text(LOG)
    scenario = tmp_path / "it.toml"
    scenario.write_text('[trace]\nfile = "log.swf"\n[machine]\nnodes = "many"\n')
    typed = CliRunner().invoke(cli, ["simulate", str(tmp_path / "log.swf"), "--set",
                                     "machine.nodes=many"])
    assert "machine.nodes: must be a number (it is 'many')" in str(typed.exception)
    written = CliRunner().invoke(cli, ["simulate", str(scenario)])
    assert "machine.nodes: must be a number, without quotes (it is" in str(written.exception)
