"""The commands: what they print as JSON, and one clear line for every mistake."""

import json

import pytest
from tests.support.commands import call, ok
from tests.support.printed import columns

JOBS = """
[network]
topology = "dragonfly"
groups = 9

[[job]]
name = "fft"
nodes = 40
pattern = "fft3d"

[[job]]
name = "halo"
nodes = 6
pattern = "halo3d"
count = 2
"""


def test_show(capsys, tmp_path):
    picture = tmp_path / "net.svg"
    status, out, _ = call(capsys, "network", "show", "dragonfly-272", "--json", "--svg",
                          str(picture))
    found = json.loads(out)
    assert status == 0
    assert (found["nodes"], found["routers"], found["groups"]) == (272, 68, 17)
    assert found["cables"] == 17 * 6 + 17 * 16 // 2
    assert picture.read_text().startswith("<?xml")


def test_counters_are_those_of_the_jobs_before(capsys, tmp_path):
    """The first job leaves two free nodes beside two busy ones, on router 1."""
    jobs = tmp_path / "jobs.toml"
    jobs.write_text('''
[network]
topology = "dragonfly"
nodes_per_router = 4
routers_per_group = 2
groups = 3
[[job]]
name = "first"
nodes = 6
pattern = "all-to-all"
[[job]]
name = "second"
nodes = 2
pattern = "halo2d"
''')
    second = {name: json.loads(call(capsys, "network", "place", str(jobs), "--placement", name,
                                    "--json")[1])["jobs"][1]["nodes"]
              for name in ("simple", "nedd", "low-stall-router", "high-traffic-router")}
    assert second["simple"] == second["high-traffic-router"] == [6, 7]
    assert second["nedd"] == [8, 9]  # a router without traffic
    assert set(second["low-stall-router"]) <= set(range(8, 24))
    text = jobs.read_text() + 'application = "HPCG"\n'
    jobs.write_text(text)
    found = json.loads(call(capsys, "network", "place", str(jobs), "--placement", "nedd",
                            "--json")[1])
    assert found["jobs"][1]["nodes"] == [6, 7]  # not sensitive: it may have the busy router


def test_place(capsys, tmp_path):
    jobs = tmp_path / "jobs.toml"
    jobs.write_text(JOBS)
    picture = tmp_path / "place.svg"
    status, out, _ = call(capsys, "network", "place", str(jobs), "--placement", "level-spread",
                          "--json", "--svg", str(picture))
    found = json.loads(out)
    assert status == 0
    assert [len(job["nodes"]) for job in found["jobs"]] == [40, 6, 6]
    every = [node for job in found["jobs"] for node in job["nodes"]]
    assert len(set(every)) == 52
    assert [job["groups"] for job in found["jobs"]] == [9, 1, 1]
    assert all(job["time_s"] >= job["alone_s"] > 0 for job in found["jobs"])
    assert found["hot_spots"][0]["busy_s"] >= found["hot_spots"][-1]["busy_s"] > 0
    assert picture.exists()
    again = json.loads(call(capsys, "network", "place", str(jobs), "--json")[1])
    assert again == found  # same seed, same result


@pytest.mark.compiled  # seconds as plain Python
@pytest.mark.parametrize(("size", "nodes", "ways"), [
    (6, 12, 80), pytest.param(8, 40, 280, marks=pytest.mark.long)])
@pytest.mark.parametrize("more", [(), ("--packets",)])
def test_place_says_which_ways_are_left_out(capsys, tmp_path, more, size, nodes, ways):
    jobs = tmp_path / "jobs.toml"
    jobs.write_text(f'[network]\ntopology = "torus"\nsizes = [{size}, {size}]\n'
                    'nodes_per_router = 1\n'
                    f'[[job]]\nname = "a"\nnodes = {nodes}\npattern = "halo2d"\n')
    asked = ("network", "place", str(jobs), "--placement", "simple", *more)
    found = json.loads(call(capsys, *asked, "--json")[1])
    assert f"have up to {ways} shortest ways; each uses 64 of them" in found["remarks"][-1]
    assert found["remarks"][-1] in call(capsys, *asked)[1]


def test_tables_for_people(capsys):
    """Synchronization is collectives, waiting and exchanges, and not polling."""
    rows = columns(call(capsys, "network", "sensitivity")[1], "application", "MPI", "collectives",
                   "wait", "send/recv", "test", "synchronizing", "sensitive")
    assert rows[:2] == [
        ("Graph500", "0.314", "0.069", "0.0005", "0.026", "0.213", "0.0955", "no"),
        ("HACC", "0.671", "0.0005", "0.662", "0.002", "0", "0.6645", "yes")]
    placements = call(capsys, "network", "placements")[1]
    assert columns(placements, "placement", "needs", "kind")[4:6] == [
        ("rdr", "routers", "spreading"), ("rrn", "groups", "spreading")]
    # Of the 9 groups each has 6 rows of 16 routers: 6 * 16 * 15 and 16 * 6 * 5 links in a group,
    # and between two groups 24 in each direction.
    assert columns(call(capsys, "network", "show", "theta")[1], "links", "directed", "Gbit/s each",
                   "Gbit/s in all") == [
        ("row", "12,960", "42", "544,320"), ("column", "4,320", "126", "544,320"),
        ("global", "1,728", "24", "41,472")]


@pytest.mark.parametrize(("text", "message"), [
    ("[[job]]\nnodes = 300\n", "asks for 300 nodes, but network 'dragonfly-272' has only 272"),
    ("[[job]]\nnodes = 0\n", "nodes is 0"),
    ("[[job]]\npattern = 'halo2d'\n", "'nodes' is missing"),
    ("[[job]]\nnodes = 4\npattern = 'gossip'\n", "pattern 'gossip' is unknown"),
    ("[[job]]\nnodes = 4\nmessage_bytes = -1\n", "message_bytes is -1"),
    ("[[job]]\nnodes = 4\nnods = 4\n", "field 'nods' is unknown"),
    ("[[job]]\nmatrix = 'm.csv'\n", "m.csv"),
    ("[[job]]\nnodes = 4\napplication = 'doom'\n", "no MPI profile"),
    ("[[jobs]]\nnodes = 4\n", "'jobs' is unknown"),
    ("[[job]]\nnodes = 4\nsensitive = 'no'\n", "sensitive is 'no', must be true or false"),
    ("network = 3\n[[job]]\nnodes = 4\n", "[network] is a section, and it is 3"),
    ("machine = 3\n[[job]]\nnodes = 4\n", "machine is 3, must be a name"),
    ("", "no [[job]] tables"),
    ("[[job]\n", "not a TOML file"),
])
def test_bad_job_files(capsys, tmp_path, text, message):
    jobs = tmp_path / "jobs.toml"
    jobs.write_text(text)
    status, out, err = call(capsys, "network", "place", str(jobs), "--machine", "dragonfly-272")
    assert status == 2
    assert out == ""
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(("argv", "message"), [
    (("network", "show", "no-such-machine"), "there is no file no-such-machine"),
    (("network", "place", "none.toml"), "none.toml: there is no such file"),
    (("network", "show", "theta", "--svg", "picture.gif"), "end its name in .svg"),
    (("network", "show", "theta", "--svg", "/no/such/folder/x.svg"), "cannot be written"),
    (("study", "dragonfly", "--seed", "-1"), "Invalid value for '--seed'"),
    (("study", "dragonfly", "--workloads", "0"), "Invalid value for '--workloads'"),
    (("study", "dragonflies"), "there is no study 'dragonflies'"),
])
def test_bad_arguments(capsys, argv, message):
    status, _, err = call(capsys, *argv)
    assert status == 2
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(("option", "value", "message"), [
    ("--placement", "best", "'best' is not one of 'simple', 'slurm'"),
    ("--routing", "teleport", "'teleport' is not one of 'minimal', 'valiant', 'adaptive'"),
    ("--mapping", "magic", "'magic' is not one of 'random', 'linear'"),
])
def test_bad_options_of_place(capsys, tmp_path, option, value, message):
    jobs = tmp_path / "jobs.toml"
    jobs.write_text(JOBS)
    status, _, err = call(capsys, "network", "place", str(jobs), option, value)
    assert status == 2
    assert message in err


def test_a_file_without_a_machine(capsys, tmp_path):
    jobs = tmp_path / "jobs.toml"
    jobs.write_text("[[job]]\nnodes = 4\n")
    assert "names no machine" in call(capsys, "network", "place", str(jobs))[2]
    machine = tmp_path / "machine.toml"
    machine.write_text("[machine]\nnodes = 4\n")
    assert "has no [network] section" in call(capsys, "network", "show", str(machine))[2]


@pytest.mark.parametrize(("text", "message"), [
    ("network = 3\n", "[network] is a section, and it is 3"),
    ("[network]\ntopology = 'torus'\nsizes = [true, 4]\n", "must be a list of whole numbers"),
    ("[network]\nmachine = 'theta'\ngroups = 3\n", "not both ('groups')"),
    ("[network]\nmachine = 'machine.toml'\n", "names itself"),
    ("[network]\nmachine = 7\n", "machine is 7, must be a name"),
])
def test_bad_machine_files(capsys, tmp_path, text, message):
    machine = tmp_path / "machine.toml"
    machine.write_text(text)
    status, out, err = call(capsys, "network", "show", str(machine))
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.compiled  # seconds as plain Python
def test_a_section_may_name_its_machine(capsys, tmp_path):
    """A built-in one or a file beside it, and behaviour may stand in the same section."""
    (tmp_path / "small.toml").write_text('[network]\ntopology = "torus"\nsizes = [2, 2]\n')
    named = tmp_path / "scenario.toml"
    for machine, nodes in (("dragonfly-272", 272), ("small.toml", 8)):
        named.write_text(f'[network]\nmachine = "{machine}"\ncommunication_share = 0.4\n')
        out = ok(capsys, "network", "show", named, "--json")
        assert json.loads(out)["nodes"] == nodes
    jobs = tmp_path / "jobs.toml"
    jobs.write_text('[network]\nmachine = "dragonfly-272"\n[[job]]\nnodes = 4\n')
    assert json.loads(call(capsys, "network", "place", str(jobs), "--json")[1])["jobs"][0]["groups"]


@pytest.mark.compiled  # seconds as plain Python
def test_all_hosts_are_listed_and_any_seed_goes(capsys, tmp_path):
    jobs = tmp_path / "jobs.toml"
    jobs.write_text(JOBS)
    times = set()
    for seed in ("1", "2147483646", "99999999999999999999"):
        found = json.loads(call(capsys, "network", "place", str(jobs), "--placement", "rdn",
                                "--seed", seed, "--json")[1])
        times.add(found["jobs"][0]["time_s"])
        for job in found["jobs"]:
            ends = [run.split("-") for run in job["host_list"].split(",")]
            hosts = [n for run in ends for n in range(int(run[0]), int(run[-1]) + 1)]
            assert hosts == sorted(job["nodes"])
    assert len(times) == 3


RUN = """
[trace]
generate = "lublin"
jobs = 3
seed = 3

[machine]
nodes = 20

[network]
topology = "dragonfly"
nodes_per_router = 2
routers_per_group = 2
groups = 5

[policy]
placement = "level-spread"
"""


def test_a_run_says_that_its_slow_down_does_not_rank_placements(capsys, tmp_path):
    said = "does not rank placements as packets do"
    one, other, quiet = (tmp_path / f"{name}.toml" for name in ("one", "other", "quiet"))
    one.write_text(RUN)
    other.write_text(RUN.replace("level-spread", "simple"))
    quiet.write_text(RUN.replace("groups = 5", "groups = 5\ncongestion = false"))
    status, out, err = call(capsys, "simulate", str(one), "--json")
    assert status == 0
    assert [said in line for line in json.loads(out)["remarks"]].count(True) == 1
    assert said in err
    status, out, err = call(capsys, "compare", str(one), str(other))
    assert status == 0
    assert (out + err).count(said) == 1
    status, out, err = call(capsys, "simulate", str(quiet))
    assert status == 0
    assert said not in out + err
