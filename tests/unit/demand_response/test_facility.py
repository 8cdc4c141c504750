"""PUE, a meter that errs, and a control that is late."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import wattline as wl
from wattline.cli.regulate import command
from wattline.demand_response.api import ContractResult
from wattline.demand_response.beginning import late
from wattline.model.signal import Signal

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
TYPE = {"name": "one", "nodes": 1, "time_s_min": 30, "time_s_max": 45, "power_w_max": 250,
        "power_w_min": 200, "threshold": 5}
SHORT = {"types": [TYPE], "servers": 10, "power_w_idle": 100, "duration": "4m", "warmup": "60s",
         "check": 0, "standby": True, "seed": 2}


def run(scale: float = 1.0, **more: Any) -> ContractResult:
    return wl.regulate(**SHORT, bid=(1600 * scale, 300 * scale), **more)


def test_with_a_pue_bids_and_bills_are_the_facility_s() -> None:
    plain, whole = run().figures, run(1.25, pue=1.25).figures
    assert whole["cost"] == pytest.approx(1.25 * plain["cost"])
    assert whole["cost_uncontrolled"] == pytest.approx(1.25 * plain["cost_uncontrolled"])
    assert whole["tracking"]["mean"] == pytest.approx(plain["tracking"]["mean"])
    assert (plain["facility"]["pue"], whole["facility"]["pue"]) == (1.0, 1.25)


def test_a_late_control_follows_the_signal_as_it_was() -> None:
    signal = Signal(np.array([0.0, 10.0]), np.array([0.5, -0.5]))
    seen = late(signal, 4.0)
    assert seen.sample(np.array([0.0, 4.0, 13.0, 14.0])).tolist() == [0.0, 0.5, 0.5, -0.5]
    assert late(signal, 0.0) is signal
    assert run(latency="30s").figures["tracking"]["mean"] > 1.5 * run().figures["tracking"]["mean"]


def test_a_meter_that_errs_adds_error_and_leaves_the_machine_alone() -> None:
    plain, noisy = run(), run(meter_noise=0.05)
    assert noisy.figures["tracking"]["mean"] > plain.figures["tracking"]["mean"]
    assert noisy.run.run.schedule.end_s == pytest.approx(plain.run.run.schedule.end_s, nan_ok=True)
    again = run(meter_noise=0.05)
    assert again.figures["cost"] == noisy.figures["cost"]
    read, true = (each.run.actual_w.integral(60.0, 300.0) for each in (noisy, plain))
    assert read == pytest.approx(true, rel=0.02)
    assert read != true


def test_the_answer_says_what_lies_between_servers_and_meter() -> None:
    asked = ["--workload", "W4", "--servers", "20", "--duration", "2min", "--warmup",
             "0s", "--bid", "5500,500", "--check", "0", "--pue", "1.2", "--latency", "2s",
             "--meter-noise", "0.01"]
    said = CliRunner().invoke(command, asked).output
    assert "all powers are the facility's, 1.2 times the servers'" in said
    assert "the meter errs by 1.00%" in said
    assert "the control is 2 s behind the signal" in said


def test_a_pue_below_one_is_refused() -> None:
    with pytest.raises(wl.InputError, match="pue"):
        run(pue=0.9)
