"""Units and quantities of measured tables, and columns of text that keep configurations apart."""

import numpy as np
import pytest
from click.testing import CliRunner

import wattline as wl
from wattline.cli.main import cli
from wattline.model.errors import InputError
from wattline.model.units import unit_in_name
from wattline.physics.measurements import read_measurements

NODES, GPUS, CAPS = (1, 2, 4, 8), (1, 2, 4), (200, 400, 600)


def runs():
    """Nodes, GPUs, cap, seconds and watts of the whole job of a made-up application."""
    for nodes in NODES:
        for gpus in GPUS:
            for cap_w in CAPS:
                yield (nodes, gpus, cap_w, 4000.0 / (nodes * gpus) ** 0.9 * (600 / cap_w) ** 0.4,
                       nodes * (300.0 + gpus * cap_w))


def write(path, head, row, rows=None):
    lines = [",".join(map(str, row(*one))) for one in (rows or runs())]
    path.write_text("\n".join([head, *lines]) + "\n")
    return path


@pytest.fixture
def known(tmp_path):
    path = write(tmp_path / "known.csv", "nodes,gpus,gpu_cap_w,time_s,power_w", lambda *one: one)
    return read_measurements(path, "sim")["sim"]


def same(table, known):
    return all(np.allclose(one, other, rtol=1e-12) for one, other in (
        (table.points(), known.points()), (table.time_s, known.time_s),
        (table.power_w, known.power_w)))


def ask(*args):
    return CliRunner().invoke(cli, [str(each) for each in args])


def refused(*args):
    """Return what a command answers that refuses a table."""
    found = ask(*args).exception
    assert isinstance(found, InputError)
    return str(found)


UNITS = ("nodes,gpus,PowerLimit_kW,Elapsed_ms,Power_kW",
         lambda n, g, cap, time_s, power_w: (n, g, cap / 1e3, time_s * 1e3, power_w / 1e3))


def test_a_map_states_units(tmp_path, known):
    path = write(tmp_path / "t.csv", *UNITS)
    stated = "gpu_cap_w=PowerLimit_kW:kW,time_s=Elapsed_ms:ms,power_w=Power_kW:kW"
    assert same(read_measurements(path, "sim", stated)["sim"], known)
    (tmp_path / "map.toml").write_text(
        '[columns]\ngpu_cap_w = "PowerLimit_kW:kW"\ntime_s = "Elapsed_ms:ms"\n'
        'power_w = "Power_kW:kW"\n')
    assert same(read_measurements(path, "sim", tmp_path / "map.toml")["sim"], known)


@pytest.mark.parametrize(("left", "message"), [
    ("gpu_cap_w=PowerLimit_kW", "'PowerLimit_kW' seems to be in kW, and gpu_cap_w is in W; say "
                                "which it is, gpu_cap_w=PowerLimit_kW:kW or gpu_cap_w="),
    ("time_s=Elapsed_ms", "'Elapsed_ms' seems to be in ms, and time_s is in s"),
    ("power_w=Power_kW", "power_w=Power_kW:kW or power_w=Power_kW:W"),
    ("power_w=Power_kW:parsec", "'parsec' is no unit of power; known are W, mW, kW, MW"),
    ("power_w=Elapsed_ms", "'Elapsed_ms' seems to be a time in ms, and power_w is a power"),
    ("gpus=gpus:W", "gpus has no unit"),
])
def test_a_name_that_speaks_of_another_unit_is_asked_about(tmp_path, left, message):
    path = write(tmp_path / "t.csv", *UNITS)
    stated = {"gpu_cap_w": "PowerLimit_kW:kW", "time_s": "Elapsed_ms:ms", "power_w": "Power_kW:kW"}
    name, column = left.split("=")
    with pytest.raises(InputError) as error:
        read_measurements(path, "sim", {**stated, name: column})
    assert message in str(error.value)
    assert message in refused(
        "configure", "sim", "--power", "9kW", "--table", path,
        *(f"--map={each}={text}" for each, text in {**stated, name: column}.items()))


@pytest.mark.parametrize(("column", "row", "mapped"), [
    ("node_power_w", lambda n, time_s, power_w: power_w / n, ()),
    ("avg_node_power_W", lambda n, time_s, power_w: power_w / n, "node_power_w=avg_node_power_W"),
    ("energy_j", lambda n, time_s, power_w: power_w * time_s, ()),
    ("Energy_kWh", lambda n, time_s, power_w: power_w * time_s / 3.6e6, "energy_j=Energy_kWh:kWh"),
])
def test_power_comes_from_that_of_a_node_or_from_the_energy(tmp_path, known, column, row, mapped):
    path = write(tmp_path / "t.csv", f"nodes,gpus,gpu_cap_w,time_s,{column}",
                 lambda n, g, cap, time_s, power_w: (n, g, cap, time_s, row(n, time_s, power_w)))
    assert same(read_measurements(path, "sim", mapped)["sim"], known)


def test_quantities_that_contradict_each_other_are_said(tmp_path, known):
    path = write(tmp_path / "t.csv", "nodes,gpus,gpu_cap_w,time_s,power_w,energy_j",
                 lambda *one: (*one, one[3] * one[4] * 1.5))
    table = read_measurements(path, "sim")["sim"]
    assert same(table, known)
    assert ("in 36 of 36 measured runs the power of all nodes is not the energy over the time "
            "(0.67 to 0.67 times)") in table.note
    agreeing = write(tmp_path / "u.csv", "nodes,gpus,gpu_cap_w,time_s,power_w,energy_j",
                     lambda *one: (*one, one[3] * one[4] * 1.02))
    assert read_measurements(agreeing, "sim")["sim"].note == ""


@pytest.mark.parametrize(("factor", "asked"), [
    (1e-3, True), (1e3, True), (0.2, False), (5.0, False)])
def test_watts_that_no_node_draws_are_asked_about_and_taken_when_stated(tmp_path, known, factor,
                                                                       asked):
    path = write(tmp_path / "t.csv", "nodes,gpus,gpu_cap_w,time_s,P",
                 lambda n, g, cap, time_s, power_w: (n, g, cap, time_s, power_w * factor))
    if asked:
        with pytest.raises(InputError, match=r"W per node; state the unit with a map, like "
                                             r"power_w=P:kW, or power_w=P:W if it is right"):
            read_measurements(path, "sim", "power_w=P")
    table = read_measurements(path, "sim", "power_w=P:W")["sim"]
    assert np.allclose(table.power_w, known.power_w * factor)


def test_the_watts_of_a_node_are_not_taken_for_those_of_the_job(tmp_path, known):
    path = write(tmp_path / "t.csv", "nodes,gpus,gpu_cap_w,time_s,Watts",
                 lambda n, g, cap, time_s, power_w: (n, g, cap, time_s, power_w / n))
    said = refused("configure", "sim", "--power", "10kW", "--table", path, "--map", "power_w=Watts")
    assert "does not grow with its nodes" in said
    assert "node_power_w=Watts" in said
    done = ask("configure", "sim", "--power", "10kW", "--table", path, "--map",
               "node_power_w=Watts", "--json")
    assert done.exit_code == 0
    best = wl.configure("sim", "10kW", table=path, columns="node_power_w=Watts").best
    assert best.power_w == pytest.approx(best.nodes * (300 + best.settings["gpus"]
                                                       * best.settings["gpu_cap_w"]))
    assert len(read_measurements(path, "sim", "power_w=Watts:W")["sim"]) == len(known)


def test_caps_in_kilowatts_are_asked_about(tmp_path):
    path = write(tmp_path / "t.csv", "nodes,gpus,gpu_cap_w,time_s,power_w",
                 lambda n, g, cap, time_s, power_w: (n, g, cap / 1e3, time_s, power_w))
    with pytest.raises(InputError, match=r"gpu_cap_w of 0\.4 W for each gpu; state the unit"):
        read_measurements(path, "sim")


@pytest.mark.parametrize(("name", "unit"), [
    ("Power_kW", ("kW", "power")), ("power_KW", ("kW", "power")), ("P (mW)", ("mW", "power")),
    ("power_mw", ("mw", "power")), ("runtime_hours", ("h", "time")), ("t [us]", ("us", "time")),
    ("clock-MHz", ("MHz", "frequency")), ("kW", ("", "")), ("nodes", ("", "")),
    ("runtime", ("", "")), ("energy_Wh", ("Wh", "energy"))])
def test_units_in_names(name, unit):
    assert unit_in_name(name) == unit


TEXT = "code,nodes,gpus,gpu_cap_w,time_s,power_w,partition,compiler"


@pytest.fixture
def two_machines(tmp_path):
    rows = [(*one, machine) for machine in ("h200", "a100") for one in runs()]
    return write(tmp_path / "two.csv", TEXT, lambda n, g, cap, time_s, power_w, machine: (
        "sim", n, g, cap, time_s * (1 + (machine == "a100")), power_w, machine, "gcc"), rows)


def test_text_that_differs_between_runs_of_a_configuration_is_refused(two_machines):
    said = refused("configure", "sim", "--power", "9kW", "--table", two_machines, "--map",
                   "application=code")
    assert ("differ in the column 'partition' ('h200' and 'a100'); choose one (--where "
            "partition='h200'), or name each apart (--map application=code+partition); if it only "
            "tells runs apart, say so (--map run=partition)") in said


@pytest.mark.parametrize(("machine", "factor"), [("h200", 1.0), ("A100", 2.0)])
def test_rows_are_chosen_and_nothing_is_averaged(two_machines, known, machine, factor):
    done = ask("configure", "sim", "--power", "9kW", "--table", two_machines, "--map",
               "application=code", "--where", f"partition={machine}", "--json")
    assert done.exit_code == 0
    table = wl.configure("sim", "9kW", table=two_machines,
                         columns=("application=code", f"partition=={machine}")).table
    assert np.allclose(table.time_s, known.time_s * factor)
    assert table.runs.count.tolist() == [1] * len(known)
    with pytest.raises(InputError, match="no row has partition=x; partition is one of a100, h200"):
        read_measurements(two_machines, columns=("application=code", "partition==x"))


def test_text_may_be_part_of_the_name(two_machines, known):
    found = read_measurements(two_machines, columns="application=code+partition")
    assert list(found) == ["sim/h200", "sim/a100"]
    assert np.allclose(found["sim/a100"].time_s, 2.0 * known.time_s)


def test_a_column_that_only_tells_runs_apart_is_said_to(two_machines, known):
    table = read_measurements(two_machines, columns=("application=code", "run=partition"))["sim"]
    assert np.allclose(table.time_s, 1.5 * known.time_s)
    assert "more than 20%" in table.note


def test_text_that_follows_a_setting_is_not_used_and_said(tmp_path):
    path = write(tmp_path / "t.csv", TEXT, lambda n, g, cap, time_s, power_w: (
        "sim", n, g, cap, time_s, power_w, "a100" if n < 4 else "h200", "gcc"))
    note = read_measurements(path, columns="application=code")["sim"].note
    assert note == "the column partition is not used; rows are chosen with --where partition=a100"
    for command in (("fit", path, "--train", "50%"),
                    ("configure", "sim", "--power", "9kW", "--table", path)):
        assert "the column partition is not used" in ask(
            *command, "--map", "application=code").stderr


@pytest.mark.parametrize("command", [
    ("fit", "{}", "--train", "50%"),
    ("configure", "sim", "--power", "9kW", "--table", "{}"),
    ("procure", "--budget-power", "20kW", "--node-power-max", "3kW", "--node-power-min", "2500W",
     "--base-power", "2kW", "--power-scope", "devices",
     "--cost-ratio", "1.6", "--speed-ratio", "20%", "--app", "sim", "--table", "{}")])
def test_every_command_that_reads_tables_refuses_and_chooses(two_machines, command):
    asked = [part.format(two_machines) for part in command] + ["--map", "application=code"]
    assert "differ in the column 'partition'" in refused(*asked)
    assert ask(*asked, "--where", "partition=h200").exit_code == 0
