"""Mistakes in what describes power: one line that names the field and what is allowed."""

from __future__ import annotations

import pytest

from wattline.cli.main import main

LOG = "submit_s,run_s,requested_s,procs,power_w\n0,100,200,2,{first}\n1,100,200,2,150\n"


@pytest.fixture
def refusal(tmp_path, capsys):
    """Simulates with these options and gives the one line that is said about them."""

    def simulate(*options: str, first: float = 150) -> str:
        log = tmp_path / "log.csv"
        log.write_text(LOG.format(first=first))
        with pytest.raises(SystemExit) as stopped:
            main(["simulate", "--trace", str(log), "--nodes", "8", "--node-active-w", "100",
                  "--no-folder", *options])
        assert stopped.value.code == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        return said

    return simulate


@pytest.mark.parametrize(("options", "said"), [
    (["--cap", "239"], "power.cap: 239 W is below the idle power of the machine (240 W)"),
    (["--cap", "120%"], "power.cap: 120% must be above 0 % and at most 100 %"),
    (["--cap", "-5"], "power.cap: -5 must be a positive number"),
    (["--alpha", "0.5"], "power.alpha: must be at least 1 and at most 3 (it is 0.5)"),
    (["--beta", "nan"], "Invalid value for '--beta': nan is not a finite number"),
    (["--idle-fraction", "1.5"], "power.idle_fraction: must be at least 0 and at most 1"),
    (["--set", "power.levels=[]"], "power.levels: must be a list of relative frequencies that"),
    (["--set", "power.levels=[1.0, 0.5]"], "rise, from 0.01 on up to 1 (it is [1.0, 0.5])"),
    (["--set", "power.levels=0.5"], "power.levels: this is a list"),
    (["--set", "power.cap={reservations=[{start=-5, duration=5, watts=5}]}"],
     "power.cap.reservations.0.start: this is in the past: seconds count from the first "
     "submission"),
    (["--set", "power.cap={changes=[{at=-1, watts=5}]}"], "changes.0.at: this is in the past"),
    (["--set", "reservations=[{start_s=-5, duration_s=5, nodes=1}]"],
     "reservations.0.start_s: this is in the past: seconds count from the first submission "
     "(it is -5)"),
    (["--set", "reservations=[{start_s=inf, duration_s=5, nodes=1}]"],
     "reservations.0.start_s: must be at most 1e+12 (it is inf)"),
    (["--set", "reservations=[{start_s=5, duration_s=5, nodes=9}]"],
     "reservations.0.nodes: 9 are reserved, the machine has 8"),
    (["--set", "power.cap={watts=-1}"],
     "power.cap.watts: must be above 0 and at most 1e+12 (it is -1)"),
    (["--set", "power.cap={}"], "power.cap: the table is empty and caps nothing; give watts"),
    (["--set", "power.cap={wats=1}"], "power.cap.wats: there is no such field"),
    (["--set", "power.cap=[{time_s=0}]"], "power.cap.0.watts: this is needed and not there"),
    (["--set", "power.latency_s=-1"],
     "power.latency_s: must be at least 0 and at most 1e+12 (it is -1)"),
    (["--set", 'policy.power={name="wait", slots=-1}'], "'wait': slots: must be at least 0"),
    (["--set", 'policy.power={name="wait", wait_s="x"}'], "'wait': wait_s: 'x' is not a time"),
    (["--set", 'policy.power={name="dvfs", latency_s=-1}'], "'dvfs': latency_s: must be at least"),
])
def test_one_line_names_the_field_and_the_range(refusal, options, said):
    usual = {"policy.power": ("--power-policy", "dvfs"), "power.cap": ("--cap", "500")}
    set_otherwise = [each.partition("=")[0] for each in options]
    base = [word for field, words in usual.items() if field not in set_otherwise for word in words]
    assert said in refusal(*base, *options)


def test_a_negative_power_in_a_log_is_refused_where_it_stands(refusal):
    said = refusal("--power-policy", "block", "--cap", "500", first=-150)
    assert "log.csv:2: power_w is -150 W, must be at least 0" in said
