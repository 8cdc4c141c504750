"""A server's power from that of its parts: fitted, kept, read; refused where data cannot tell."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner
from tests.support.bmcs import Played
from tests.support.printed import columns

from wattline.cli.main import main
from wattline.cli.sensors import command
from wattline.live.comparing import compare_sensors
from wattline.live.fitting import fit_server_power
from wattline.live.found import open_sensor
from wattline.live.sensor import Quality
from wattline.live.sensors.model import Modelled
from wattline.model.errors import InputError
from wattline.physics.metering.parts import fit_server
from wattline.testing import SensorContract


def loads(rows=200, seed=1):
    random = np.random.default_rng(seed)
    return random.uniform(40, 200, rows), random.uniform(60, 700, rows), random


def test_what_was_put_in_is_found():
    package_w, card_w, random = loads()
    server_w = 85.0 + 1.12 * package_w + 1.06 * card_w + random.normal(0, 4, 200)
    model = fit_server({"package": package_w, "card": card_w}, server_w)
    assert model.base_w == pytest.approx(85.0, abs=3.0)
    assert model.parts["package"].weight == pytest.approx(1.12, abs=0.03)
    assert model.parts["card"].weight == pytest.approx(1.06, abs=0.01)
    assert model.error_w == pytest.approx(4.0, rel=0.2)
    assert model.r2 > 0.99
    assert model.power_w({"package": 100.0, "card": 300.0}) == pytest.approx(515.0, abs=3.0)


def test_nothing_is_said_beyond_what_was_seen():
    package_w, card_w, _ = loads()
    model = fit_server({"package": package_w, "card": card_w}, package_w + card_w + 50.0)
    assert np.isnan(model.power_w({"package": 400.0, "card": 300.0}))


@pytest.mark.parametrize(("change", "message"), [
    (lambda p, c, s: ({"p": p[:20], "c": c[:20]}, s[:20]), "needs 30 rows"),
    (lambda p, c, s: ({"p": p, "c": 0 * c + 70.0}, s), "c hardly changes"),
    (lambda p, c, s: ({"p": p, "c": 2 * p + 0.1 * np.sin(c)}, s), "rises and falls with"),
    (lambda p, c, s: ({"p": p}, s), "of the server's changes only"),
    (lambda p, c, s: ({"p": p, "c": 900.0 - c}, s), "c would take power away"),
    (lambda p, c, s: ({"p": p, "c": c}, 0 * s + 400.0), "the server's power hardly changes"),
    (lambda p, c, s: ({}, s), "at least one part"),
])
def test_data_that_cannot_tell_is_refused(change, message):
    package_w, card_w, random = loads()
    server_w = 85.0 + 1.1 * package_w + 1.06 * card_w + random.normal(0, 4, 200)
    with pytest.raises(InputError, match=message):
        fit_server(*change(package_w, card_w, server_w))


def written(path, columns):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def test_a_table_with_gaps_is_fitted_and_the_gaps_are_said(tmp_path):
    package_w, card_w, _ = loads()
    cells = [f"{watts:.3f}" for watts in package_w]
    cells[3] = cells[90] = ""
    table = written(tmp_path / "t.csv", {"time_s": range(200), "cpu": cells, "gpu": card_w,
                                         "wall": 50.0 + package_w + card_w})
    found = fit_server_power(table, server="wall")
    assert found.remarks == ("2 rows were left out: a value is missing there",)
    assert set(found.model.parts) == {"cpu", "gpu"}
    assert found.model.rows == 198


@pytest.fixture
def model(tmp_path):
    """A node of 40 W and 1.1 for each watt of its zone, whose job changes between 100 and 350 W."""
    played = Played(tmp_path / "bed")
    zone = f"powercap={played.folder / 'powercap'}"
    zone_w = np.linspace(100.0, 350.0, 60)
    table = written(tmp_path / "t.csv", {f"{zone} psys@0": zone_w, "wall": 40.0 + 1.1 * zone_w})
    fit_server_power(table, server="wall", out=tmp_path / "model.json")
    return tmp_path / "model.json", played


class TestContract(SensorContract):
    @pytest.fixture(autouse=True)
    def _model(self, model):
        self.file, _ = model

    def make_sensor(self):
        return open_sensor("model", self.file)


def test_a_node_without_a_meter_is_read_by_its_model(model):
    file, played = model
    now = [1000.0]
    zone = open_sensor("powercap", played.folder / "powercap")
    zone._clock = lambda: now[0]
    sensor = Modelled(file, lambda: now[0],
                      sensors={f"powercap={played.folder / 'powercap'}": zone})
    assert "two readings" in sensor.read()[0].reason
    played.tick(10.0)
    now[0] += 10.0
    assert sensor.read()[0].value == pytest.approx(40.0 + 1.1 * 350.0, rel=0.001)
    (played.node.zone / "energy_uj").write_text("rubbish\n")
    assert sensor.read()[0].quality is Quality.MISSING


def test_a_comparison_writes_the_table_that_a_fit_takes(tmp_path):
    folder = Played(tmp_path).folder
    meters = [f"powercap={folder / 'powercap'}", f"pm_counters={folder / 'pm_counters'}"]
    found = compare_sensors(*meters, seconds=0.3, every=0.05, csv=tmp_path / "t.csv")
    with (tmp_path / "t.csv").open() as file:
        header, *rows = csv.reader(file)
    assert header == ["time_s", *(f"{row.sensor} {row.channel}" for row in found.rows)]
    assert len(rows) >= 2
    with pytest.raises(InputError, match="rows with all of them"):
        fit_server_power(tmp_path / "t.csv", server=header[1])


def test_the_command_prints_fit_and_error(tmp_path):
    package_w, card_w, _ = loads()
    table = written(tmp_path / "t.csv", {"cpu": package_w, "gpu": card_w,
                                         "wall": 50.0 + package_w + card_w})
    arguments = ["fit", str(table), "--server", "wall"]
    said = CliRunner().invoke(command, arguments, catch_exceptions=False).stdout
    assert "R2 1.0000" in said
    assert columns(said, "part", "watts for each", "seen") == [
        ("base", "50.0 W", "-"), ("cpu", "1.000", "41 to 200 W"), ("gpu", "1.000", "62 to 692 W")]
    found = json.loads(CliRunner().invoke(command, [*arguments, "--json"]).stdout)
    assert found["parts"]["gpu"]["weight"] == pytest.approx(1.0)


@pytest.mark.parametrize(("arguments", "message"), [
    (["no.csv", "--server", "wall"], "cannot be read"),
    (["t.csv", "--server", "mains"], "it has: cpu, wall"),
    (["t.csv", "--server", "wall", "--part", "wall"], "cannot be the server and a part"),
    (["words.csv", "--server", "b"], "'x' is no number"),
])
def test_mistakes_get_one_line(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "t.csv", {"cpu": [1, 2], "wall": [3, 4]})
    (tmp_path / "words.csv").write_text("a,b\n1,x\n")
    with pytest.raises(SystemExit) as stop:
        main(["sensors", "fit", *arguments])
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.strip().splitlines()) == 1


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"parts": {"x": 3}}'])
def test_a_file_that_holds_no_model_is_refused(tmp_path, text):
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(InputError, match="holds no fitted server"):
        open_sensor("model", tmp_path / "m.json")
