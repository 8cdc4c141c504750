"""`twin make` and `twin check`: figures by hand, bad input in one line, the same in JSON."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tests.support.twin_sites import CONF, sacct, submit

import wattline as wl
from wattline.cli.main import cli
from wattline.twin.figures import moving_average_error, relative, series_of

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")


def _made(folder: Path) -> Path:
    files = sacct(folder)
    out = folder / "twin.toml"
    wl.make_twin(files["slurm.conf"], sacct=files["sacct.txt"], assoc=files["assoc"], out=out)
    return out


def test_the_check_holds_simulated_against_logged_waits(tmp_path: Path) -> None:
    found = wl.check_twin(_made(tmp_path), phases=2)
    # Job k is submitted at 30 k s and logged as started at 60 k + 5 s.
    assert found.mean_wait_s["logged"] == pytest.approx(5 + 30 * 5.5)
    assert found.error == pytest.approx(
        found.mean_wait_s["simulated"] / found.mean_wait_s["logged"] - 1)
    assert set(found.by) == {"account", "user", "partition", "qos", "size"}
    assert found.by["qos"]["high"]["logged"] == pytest.approx(5 + 30 * 6)
    assert found.by["qos"]["normal"]["jobs"] == 6
    assert found.window_s == pytest.approx(33.0)
    assert len(found.phases["mean_wait_s"]) == 2
    assert found.filled["share"] == 1.0
    assert found.start_error_s is not None
    assert 0 < found.utilisation["logged"] < 1
    assert "logged one of 170.0 s" in found.verdict
    assert f"the waits are {found.moving_average_error:.0%} apart" in found.verdict


@pytest.mark.parametrize(("more", "named"), [
    ('[power]\ncap = 900\n', "Simulated with power.cap: unless"),
    ('[twin.settings]\nPriorityWeightAge = 0\n', "Simulated with twin.settings: unless"),
    ("", "The simulated mean wait")])
def test_the_verdict_names_what_ifs_first(tmp_path: Path, more: str, named: str) -> None:
    out = _made(tmp_path)
    out.write_text(f"{out.read_text()}\n{more}")
    assert wl.check_twin(out, phases=1).verdict.startswith(named)


def test_the_verdict_names_policies_first(tmp_path: Path) -> None:
    out = _made(tmp_path)
    conf = tmp_path / "slurm.conf"
    conf.write_text(f"{conf.read_text()}PriorityWeightFairshare=1000\n")
    out.write_text(out.read_text().replace(
        "[policy]\n", '[policy]\norder = "energy-share"\n'
        'power = { name = "budget", energy = "50kWh", period = "1d" }\n'))
    assert wl.check_twin(out, phases=1).verdict.startswith(
        "Simulated with policy.power = budget, policy.order = energy-share: unless")


def test_a_log_without_starts_says_that_nothing_is_known(tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "log.events").write_text(submit("-n 8 -t 10") + submit("-n 8 -t 10", 5))
    twin = wl.make_twin(tmp_path / "slurm.conf", events=tmp_path / "log.events")
    found = wl.check_twin(twin, phases=1)
    assert found.mean_wait_s["logged"] is None
    assert found.error is None
    assert found.moving_average_error is None
    assert "The log has no starts" in found.verdict


def test_the_moving_average_is_over_a_tenth_of_the_log_or_two_weeks() -> None:
    submit_s = np.arange(0.0, 1000.0)
    series = series_of(submit_s, np.full(1000, 30.0), np.full(1000, 20.0))
    assert series.window_s == pytest.approx(99.9)
    assert moving_average_error(series) == pytest.approx(0.5)
    long_s = series_of(submit_s * 86400, submit_s, submit_s)
    assert long_s.window_s == 14 * 86400
    assert moving_average_error(long_s) == 0.0
    assert relative(3.0, 2.0) == 0.5
    assert relative(3.0, 0.0) is None


def test_the_commands_print_what_others_build_on(tmp_path: Path) -> None:
    files = sacct(tmp_path)
    out = tmp_path / "t.toml"
    made = CliRunner().invoke(cli, [
        "twin", "make", "--slurm-conf", str(files["slurm.conf"]), "--assoc", str(files["assoc"]),
        "--sacct", str(files["sacct.txt"]), "--cpu-w", "5W", "-o", str(out), "--json"])
    assert made.exit_code == 0, made.output
    said = json.loads(made.stdout)
    assert said["jobs"] == 12
    assert said["scenario"] == str(out)
    assert "Wibble=7" in said["unknown"][0]
    assert any(line.startswith("idle_w = 90 W") for line in said["assumed"])
    assert not any(line.startswith("cpu_w") for line in said["assumed"])
    text = out.read_text()
    assert "Wibble=7" in text
    assert "not_modelled = [" in text
    picture = tmp_path / "check.svg"
    checked = CliRunner().invoke(cli, ["twin", "check", str(out), "--phases", "1", "--plot",
                                       str(picture), "--json"])
    assert checked.exit_code == 0, checked.output
    found = json.loads(checked.stdout)
    assert {"jobs", "mean_wait_s", "by", "error", "moving_average_error",
            "not_modelled"} <= set(found)
    assert set(found["mean_wait_s"]) == {"simulated", "logged"}
    assert {"account", "user", "partition", "qos"} <= set(found["by"])
    assert picture.stat().st_size > 1000
    words = CliRunner().invoke(cli, ["twin", "check", str(out), "--phases", "1"])
    assert f"note: not modelled: {files['slurm.conf']}:6: Prolog=" in words.output


@pytest.mark.parametrize(("change", "message"), [
    ({"slurm.conf": ""}, "no NodeName"), ({"slurm.conf": "{}"}, "not Key=Value"),
    ({"sacct.txt": ""}, "is empty"), ({"sacct.txt": "a|b|c\n1|2|3\n"}, "lacks the column"),
    ({"assoc": ""}, "is empty"), ({"assoc": "hello\n"}, "no account or user"),
    ({"slurm.conf": CONF + "NodeName=n1\n"}, "n1' is defined a second time"),
])
def test_bad_files_are_mistakes_of_the_user(
    tmp_path: Path, change: dict[str, str], message: str
) -> None:
    files = sacct(tmp_path)
    for name, text in change.items():
        files[name].write_text(text)
    with pytest.raises(wl.InputError, match=message):
        wl.make_twin(files["slurm.conf"], sacct=files["sacct.txt"], assoc=files["assoc"])


def test_jobs_are_given_once(tmp_path: Path) -> None:
    files = sacct(tmp_path)
    with pytest.raises(wl.InputError, match="give the jobs once"):
        wl.make_twin(files["slurm.conf"])
    with pytest.raises(wl.InputError, match="there is no such file"):
        wl.make_twin(files["slurm.conf"], sacct=tmp_path / "nowhere")


def test_a_scenario_without_a_twin_cannot_be_checked(tmp_path: Path) -> None:
    path = tmp_path / "other.toml"
    path.write_text('[trace]\ngenerate = "lublin"\n')
    with pytest.raises(wl.InputError, match=r"has no \[twin\]"):
        wl.check_twin(path)
    with pytest.raises(wl.InputError, match="must be from 1 to 1000"):
        wl.check_twin(_made(tmp_path), phases=0)


def test_the_example_is_a_twin_of_its_files() -> None:
    folder = Path(__file__).parents[3] / "examples" / "twin"
    run = wl.simulate(folder / "twin.toml")
    assert run.ran.all()
    assert wl.verify(run).sentences == []
