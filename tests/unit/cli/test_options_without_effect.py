"""Options where they cannot have an effect: each is refused in one line, or it is said."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from tests.support.commands import call, refused

from wattline.cli.main import cli
from wattline.cli.needs import Option

EXAMPLES = Path(__file__).parents[3] / "examples"
WEEK, TINY = EXAMPLES / "week.toml", EXAMPLES / "tiny.swf"
PLAN = ("energy", "plan", "--energy", "1MWh", "--nodes", 4, "--node-idle-w", 90,
        "--node-active-w", 300)
OPENADR = ("openadr", "--vtn", "http://127.0.0.1:9", "--ven", "v", "--cap", "1MW",
           "--cap-file", "f")
TESTBED = ("testbed", "run", TINY, "--cap", "3kW")
PUPPET = "other nets have a workload of their own"

REFUSED = [
    # command, what is given in vain, what it needs
    (("simulate", WEEK, "--no-folder"), ("-o", "run"), "--out does not go with --no-folder"),
    (("compare", WEEK), ("--plot", "x.svg"), "--plot needs --per-job"),
    (("sweep", "x.toml"), ("--trials", 3), "--trials needs --optimise"),
    (("sweep", "x.toml"), ("--seed", 3), "--seed needs --optimise"),
    (("sweep", "x.toml"), ("--prune",), "--prune needs --optimise"),
    (("sweep", "x.toml"), ("--subject-to", "energy_j <= 3"), "--subject-to needs --optimise"),
    (("sweep", "x.toml"), ("--time", "2h"), "--time needs --on slurm"),
    (("sweep", "x.toml", "--optimise", "wait_s"), ("--workers", 2),
     "--workers does not go with --optimise"),
    (("sweep", "x.toml", "--optimise", "wait_s"), ("--on", "slurm"),
     "--on does not go with --optimise"),
    (("advise", "cap", WEEK, "--wait", "+10%", "--power-policy", "dvfs"), ("--only", "block"),
     "--only does not go with --power-policy"),
    (("advise", "policy", WEEK, "--at", "1d"), ("--risk", 0.2), "--risk needs --limit"),
    (("advise", "policy", WEEK, "--at", "1d"), ("--act",), "--act needs --live"),
    (("advise", "policy", "--live"), ("--rounds", 3), "--rounds needs --follow"),
    (("advise", "start", 3, WEEK, "--at", "1d"), ("--history", "x.swf"), "--history needs --live"),
    (("advise", "start", 3, WEEK, "--at", "1d"), ("--config", "s.toml"), "--config needs --live"),
    (("replay", "x.journal"), ("--from", "3h"), "--from needs --scenario"),
    (("replay", "x.journal"), ("--assume-requested",), "--assume-requested needs --scenario"),
    (("fit", "t.csv"), ("--caps", "50,60"), "--caps needs --suggest"),
    (("fit", "t.csv"), ("--nodes", "8-16"), "--nodes needs --suggest"),
    (("fit", "t.csv", "--suggest", 3), ("--train", "20%"), "--train does not go with --suggest"),
    (("fit", "t.csv", "--learn-priors", "p"), ("--app", "a"),
     "--app does not go with --learn-prio"),
    (PLAN, ("--start", "2026-03-02"), "--start needs --price or --carbon"),
    ((*PLAN, "--carbon", 300), ("--carbon-weight", 0.3), "--carbon-weight needs --price"),
    ((*PLAN, "--price", 0.2), ("--carbon-weight", 0.3), "--carbon-weight needs --carbon"),
    (("energy", "budget", "--energy", "1MWh", "--trace", TINY), ("--jobs", 30),
     "--jobs does not go with --trace"),
    (("energy", "budget", "--energy", "1MWh", "--trace", TINY), ("--seed", 3),
     "--seed does not go with --trace"),
    (("energy", "status", "--live"), ("--at", "3h"), "--at does not go with --live"),
    (("power", "show", WEEK), ("--nodes", 4), "--nodes does not go with SCENARIO"),
    (("power", "show", "--live"), ("--node-idle-w", 90), "--node-idle-w does not go with --live"),
    (("power", "set", WEEK, "--floor", "1kW"), ("--at", "3h"), "--at needs --cap"),
    (("power", "set", WEEK, "--cap", "9kW"), ("--now", "3h"), "--now needs --at"),
    (("power", "set", "--live", "--cap", "9kW"), ("--floor", "1kW"),
     "--floor does not go with --live"),
    (("power", "reserve", WEEK, "--name", "a"), ("--remove",), "--remove needs --live"),
    (("power", "reserve", "--live", "--name", "a", "--remove"), ("--watts", "1kW"),
     "--watts does not go with --remove"),
    (("view", "show", "power", WEEK), ("--nodes", 4), "--nodes does not go with SCENARIO"),
    (("view", "show", "rack", "--nodes", 4), ("--node-idle-w", 90),
     "--node-idle-w needs NAME power"),
    (("view", "show", "rack", WEEK), ("--with-cores",), "--with-cores needs NAME power"),
    (("view", "show", "network", "--nodes", 4), ("--cores", 8), "--cores needs NAME power or rack"),
    (("view", "show", "power", "--file", "v.toml"), ("--cores", 8),
     "--cores does not go with --file"),
    (("fairshare", "run"), ("--run-name", "a"), "--run-name needs --store"),
    (("fairshare", "--live"), ("--half-life", "1d"), "--half-life does not go with --live"),
    (("account", "show", "run"), ("--run-name", "a"), "--run-name needs --store"),
    (("account", "show", "run"), ("--replace",), "--replace needs --store"),
    (("account", "show", "--store", "s.db"), ("--replace",), "--replace needs RUN"),
    (("account", "show", "run"), ("--profile-interval", 3), "--profile-interval needs --profile"),
    (("account", "show", "--store", "s.db"), ("--class", "a=b"), "--class needs --by class"),
    ((*OPENADR,), ("--program", "3"), "--program needs --standard 3"),
    ((*OPENADR, "--standard", "3"), ("--cert", "c"), "--cert needs --standard 2.0b"),
    ((*OPENADR,), ("--currency", "EUR"), "--currency needs --price"),
    ((*OPENADR,), ("--price", "0.2"), "--price needs --price-file"),
    (TESTBED, ("--at", 30), "--at needs --lower-cap-to"),
    (TESTBED, ("--lower-cap-to", "2kW"), "--lower-cap-to needs --at"),
    (("sensors", "read"), ("--place", "/x"), "--place needs --kind"),
    (("petri", "run", "cluster"), ("--cap", "50%"), f"--cap needs NET puppet: {PUPPET}"),
    (("petri", "show", "cluster"), ("--nodes", 4), f"--nodes needs NET puppet: {PUPPET}"),
    (("study", "puppet"), ("--nodes", 4), "--nodes needs --trace"),
    (("study", "puppet", "--trace", TINY, "--nodes", 4), ("--jobs", 300),
     "--jobs does not go with --trace"),
]

SAID = [
    (("simulate", WEEK, "--no-folder"), ("--node-active-w", 400),
     "machine.node_active_w has no effect on these figures: every job"),
    (("simulate", WEEK, "--no-folder"), ("--node-active-w", "350kW"), "and the unit right?"),
    (("simulate", WEEK, "--no-folder"), ("--network", "theta"),
     "network has no effect on jobs: the placement 'counted' knows no network"),
    (("simulate", WEEK, "--no-folder"), ("--zone", "Europe/Berlin"),
     "trace.zone has no effect on these figures: no time of the log is without an offset"),
    (("simulate", WEEK, "--no-folder"), ("--granularity", "core"),
     "machine.granularity has no effect: each node has one core"),
    (("simulate", WEEK, "--no-folder"), ("--cores-per-node", 8),
     "the machine draws up to 50.24 kW, and its rated power is 22.4 kW: by the log "),
    (("petri", "run", "puppet", "--power-policy", "none"), ("--cap", "50%"),
     "cap has no effect: the power policy none keeps no cap"),
    (("petri", "run", "puppet", "--power-policy", "none"), ("--cap-counts", "jobs"),
     "cap_counts has no effect: the power policy none keeps no cap"),
    (("petri", "run", "puppet"), ("--limit", 3), "limit has no effect: it is of a log"),
    (("petri", "run", "puppet"), ("--alpha", 2.5),
     "alpha has no effect: only the power policy dvfs"),
]


@pytest.mark.parametrize(("words", "option", "needs"), REFUSED)
def test_it_is_refused_before_anything_runs(words, option, needs, capsys) -> None:
    assert needs in refused(capsys, *words, *option)


@pytest.mark.parametrize(("words", "option", "line"), SAID)
def test_it_is_said(words, option, line, capsys) -> None:
    status, _, err = call(capsys, *words, *option)
    assert status == 0, err
    assert line in err
    assert line not in call(capsys, *words).err


def test_node_power_that_is_used_is_not_called_useless(capsys) -> None:
    status, _, err = call(capsys, "simulate", WEEK, "--no-folder", "--node-active-w", 400, "--cap",
                          "70%", "--power-policy", "block")
    assert status == 0, err
    assert "no effect" not in err


def test_a_zone_that_is_read_is_not_called_useless(capsys, tmp_path) -> None:
    cap = tmp_path / "cap.csv"
    cap.write_text("time,watts\n2026-03-03T12:00:00,15000\n")
    status, _, err = call(capsys, "simulate", WEEK, "--no-folder", "--zone", "Europe/Berlin",
                          "--cap", cap, "--power-policy", "block")
    assert status == 0, err
    assert "trace.zone" not in err
    log = tmp_path / "log.txt"
    log.write_text("JobID|Submit|Start|End|NNodes|NCPUS|State|Timelimit\n1|2026-03-03T12:00:00|"
                   "2026-03-03T12:00:00|2026-03-03T13:00:00|2|2|COMPLETED|02:00:00\n")
    status, _, err = call(capsys, "simulate", log, "--nodes", 4, "--no-folder", "--zone",
                          "Europe/Berlin")
    assert status == 0, err
    assert "taken as Europe/Berlin" in err
    assert "no effect" not in err


def test_cores_of_nodes_with_several_are_not_called_useless(capsys) -> None:
    status, _, err = call(capsys, "simulate", WEEK, "--no-folder", "--cores-per-node", 8,
                          "--granularity", "core")
    assert status == 0, err
    assert "machine.granularity" not in err


def test_a_log_in_swf_takes_no_map(capsys) -> None:
    said = "a column map is for CSV and Parquet tables, not for swf"
    assert said in refused(capsys, "simulate", WEEK, "--map", "eagle")


def commands(group: click.Group) -> Iterator[click.Command]:
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        yield found
        if isinstance(found, click.Group):
            yield from commands(found)


def test_what_needs_name_are_parameters_of_the_same_command() -> None:
    seen = 0
    for command in commands(cli):
        names = {parameter.name for parameter in command.params}
        for option in command.params:
            for need in getattr(option, "needs", ()):
                seen += 1
                assert names.issuperset(need.names), (command.name, option.name)
    assert seen > 100


BELOW = ("--rack-nodes", "--table", "--shape", "--nodes-valid")
"""Options of `procure`, whose function asks the same of Python."""


def test_help_that_begins_with_an_option_declares_the_need() -> None:
    found = 0
    for command in commands(cli):
        for option in command.params:
            named = re.match(r"With (--[a-z-]+)", getattr(option, "help", "") or "")
            if named is None or option.opts[0] in BELOW:
                continue
            assert isinstance(option, Option), (command.name, option.name)
            partners = {name for need in option.needs for name in need.names}
            assert any(named[1] in each.opts and each.name in partners for each in command.params)
            found += 1
    assert found > 20
