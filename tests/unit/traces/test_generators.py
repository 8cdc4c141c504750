"""The generators: same seed, same trace; and the figures that each model states."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tests.shared_data import shared

from wattline.cli.main import cli
from wattline.model.errors import InputError
from wattline.model.jobs import COLUMNS
from wattline.traces import MODELS, generate, read
from wattline.traces.generators import esp2, leadership, lublin
from wattline.traces.generators.common import gamma_cdf
from wattline.traces.generators.poisson import JobType
from wattline.traces.summary import describe_trace

SMALL = {"leadership": 400, "lublin": 400, "poisson": 400, "esp2": None}


@pytest.mark.parametrize("name", MODELS)
def test_same_seed_same_trace_and_sound_jobs(name: str) -> None:
    first, again, other = (generate(name, seed=seed, jobs=SMALL[name]) for seed in (3, 3, 4))
    for column in COLUMNS:
        assert getattr(first.jobs, column).tobytes() == getattr(again.jobs, column).tobytes()
    assert not np.array_equal(first.jobs.run_s, other.jobs.run_s)
    jobs = first.jobs
    assert len(jobs) == (SMALL[name] or 230)
    assert (jobs.run_s >= 1).all()
    assert (jobs.requested_s >= jobs.run_s).all()
    assert (jobs.procs >= 1).all()
    assert jobs.procs.max() <= first.machine_procs()
    assert (jobs.submit_s == np.floor(jobs.submit_s)).all()


def test_more_jobs_of_a_poisson_mix_begin_with_the_same_arrivals() -> None:
    few, many = (generate("poisson", seed=1, jobs=n).jobs for n in (50, 100))
    assert few.submit_s.tolist() == many.submit_s[:50].tolist()


def test_mistakes_are_named() -> None:
    with pytest.raises(InputError, match="no generator 'nothing'; there are leadership, lublin"):
        generate("nothing")
    with pytest.raises(InputError, match="jobs is 0"):
        generate("lublin", jobs=0)
    with pytest.raises(InputError, match="has no option 'days'"):
        generate("lublin", days=3)
    with pytest.raises(InputError, match="always has 230"):
        generate("esp2", jobs=10)
    with pytest.raises(InputError, match="more than the 8 nodes"):
        generate("poisson", nodes=8)


def test_leadership_months() -> None:
    jobs = generate("leadership", seed=1).jobs
    assert len(jobs) == 16_044
    edges = 86400.0 * np.array([0, 31, 59, 90, 120])
    month = np.searchsorted(edges, jobs.submit_s, "right") - 1
    counts = np.bincount(month, minlength=4)
    work = np.bincount(month, jobs.procs * jobs.run_s, minlength=4)
    load = work / (49_152 * np.diff(edges))
    assert load == pytest.approx([0.60, 0.60, 0.81, 0.81], abs=0.002)
    quiet, busy = work[:2].sum() / 59, work[2:].sum() / 61
    assert busy / quiet == pytest.approx(1.35, abs=0.01)
    assert counts.argmin() == 1
    assert max(counts[[0, 2, 3]]) < 1.05 * min(counts[[0, 2, 3]])
    small = [(jobs.procs[month == m] < 8192).mean() for m in range(4)]
    assert small[0] == max(small)
    assert small[0] > 0.9
    assert set(np.unique(jobs.procs)) == set((leadership.SIZES * 49_152).astype(int).tolist())
    assert (jobs.requested_s % 300 == 0).all()
    assert (jobs.requested_s[jobs.requested_s > 4 * 3600] % 1800 == 0).all()
    per_node = jobs.power_w / jobs.procs
    assert per_node.min() >= 42
    assert per_node.max() <= 85
    assert per_node.mean() == pytest.approx(62, abs=6)


def test_leadership_keeps_its_load_at_another_size() -> None:
    trace = generate("leadership", seed=2, jobs=1000, nodes=1024)
    jobs = trace.jobs
    span_s = 120 * 86400 * 1000 / 16_044
    assert jobs.submit_s.max() <= span_s
    offered = (jobs.procs * jobs.run_s).sum() / (1024 * span_s)
    assert offered == pytest.approx((0.6 * 59 + 0.81 * 61) / 120, abs=0.01)
    assert jobs.procs.min() == 11  # 1/96 of the machine
    assert jobs.procs.max() <= 1024


def test_lublin_has_the_shares_and_means_of_the_model() -> None:
    jobs = generate("lublin", seed=1, jobs=40_000, nodes=128).jobs
    assert (jobs.procs == 1).mean() == pytest.approx(0.244, abs=0.01)
    power_of_two = (jobs.procs & (jobs.procs - 1)) == 0
    assert (power_of_two & (jobs.procs > 1)).mean() > 0.576
    assert jobs.run_s.max() <= np.exp(12)
    # Serial jobs: a mixture of gamma(4.2, 0.94) and gamma(312, 0.03) in the logarithm.
    share = -0.0054 + 0.78
    expected = share * 4.2 * 0.94 + (1 - share) * 312 * 0.03
    serial = np.log(jobs.run_s[jobs.procs == 1])
    assert serial.mean() == pytest.approx(expected, abs=0.15)
    hour = (jobs.submit_s // 3600 % 24).astype(int)
    by_hour = np.bincount(hour, minlength=24)
    assert by_hour[10:18].sum() > 2.5 * by_hour[[23, 0, 1, 2, 3, 4, 5, 6]].sum()


def test_lublin_day_weights_are_a_day() -> None:
    weights = lublin.day_weights(lublin.COMBINED)
    assert weights.sum() == pytest.approx(48)
    assert 20 <= int(weights.argmax()) <= 32
    assert gamma_cdf(4.0, 1.0, 2.0) == pytest.approx(1 - np.exp(-2.0))
    assert gamma_cdf(0.0, 1.0, 2.0) == 0


def test_lublin_is_close_to_the_output_of_the_published_program() -> None:
    published = read(shared("swf/lublin_256.swf.xz")).jobs
    ours = generate("lublin", seed=7, jobs=10_000, nodes=256).jobs
    assert (ours.procs == 1).mean() == pytest.approx((published.procs == 1).mean(), abs=0.03)
    assert ours.procs.mean() == pytest.approx(published.procs.mean(), rel=0.08)
    for q in (25, 50, 75, 95):
        assert np.percentile(np.log(ours.run_s), q) == pytest.approx(
            np.percentile(np.log(published.run_s), q), abs=0.25)
        assert np.percentile(np.log1p(np.diff(ours.submit_s)), q) == pytest.approx(
            np.percentile(np.log1p(np.diff(published.submit_s)), q), abs=0.25)


def test_lublin_options() -> None:
    loaded = generate("lublin", seed=1, jobs=2000, nodes=64, load=0.5, estimates=True,
                      separate=True)
    jobs = loaded.jobs
    offered = (jobs.procs * jobs.run_s).sum() / (64 * jobs.submit_s[-1])
    assert offered == pytest.approx(0.5, abs=0.01)
    assert set(jobs.queue.tolist()) == {0, 1}
    assert loaded.jobs.names["queue"] == ("interactive", "batch")
    assert (jobs.requested_s % 60 == 0).all()
    assert (jobs.run_s / jobs.requested_s).mean() < 0.6


def test_poisson_follows_its_types(tmp_path: Path) -> None:
    kinds = (JobType("a", 2, 100.0, 3.0, "constant", request_factor=2.0, power_w_per_node=50.0),
             JobType("b", (1, 4), 400.0, 1.0))
    jobs = generate("poisson", seed=1, jobs=20_000, nodes=16, types=kinds, load=0.7).jobs
    a = jobs.application == 0
    assert a.mean() == pytest.approx(0.75, abs=0.01)
    assert (jobs.run_s[a] == 100).all()
    assert (jobs.requested_s[a] == 200).all()
    assert (jobs.power_w[a] == 100).all()
    assert np.isnan(jobs.power_w[~a]).all()
    assert jobs.run_s[~a].mean() == pytest.approx(400, rel=0.03)
    assert jobs.procs[~a].mean() == pytest.approx(2.5, abs=0.05)
    offered = (jobs.procs * jobs.run_s).sum() / (16 * jobs.submit_s[-1])
    assert offered == pytest.approx(0.7, abs=0.02)
    mix = tmp_path / "mix.toml"
    mix.write_text('rate_per_hour = 60\n[[type]]\nname = "a"\nprocs = [1, 2]\nrun_s = 60\n')
    from_file = generate("poisson", seed=1, jobs=5000, types=mix).jobs
    assert np.diff(from_file.submit_s).mean() == pytest.approx(60, rel=0.05)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("load = 1", "needs at least one table"),
        ("speed = 1", "unknown key 'speed'"),
        ('[[type]]\nname = "a"\nprocs = 1', "lacks run_s"),
        ('[[type]]\nname = "a"\nprocs = 0\nrun_s = 1', "procs must be at least 1"),
        ('[[type]]\nname = "a"\nprocs = "x"\nrun_s = 1', "whole number"),
        ('[[type]]\nname = "a"\nprocs = 1\nrun_s = "x"', "run_s must be a number"),
        ('[[type]]\nname = "a"\nprocs = 1\nrun_s = 1\nrun = "x"', "must be one of constant"),
        ("[[type", "not a TOML file"),
    ],
)
def test_mistakes_in_a_mix_are_named(tmp_path: Path, text: str, message: str) -> None:
    mix = tmp_path / "mix.toml"
    mix.write_text(text)
    with pytest.raises(InputError, match=message):
        generate("poisson", types=mix)


def test_esp2() -> None:
    trace = generate("esp2", seed=9, nodes=1024)
    jobs = trace.jobs
    letters = [jobs.name_of("application", code) for code in jobs.application]
    assert {kind: letters.count(kind) for kind, *_ in esp2.TYPES} == {
        kind: count for kind, _, count, _ in esp2.TYPES}
    assert (jobs.submit_s == 0).sum() == 50
    full = np.array(letters) == "Z"
    assert jobs.submit_s[full].tolist() == [2400, 7200]
    assert (jobs.procs[full] == 1024).all()
    assert jobs.submit_s[~full].max() == 178 * 30
    assert set(np.diff(jobs.submit_s[~full][50:])) == {30.0}
    assert jobs.procs[np.array(letters) == "H"][0] == 162  # 0.1582 of 1,024
    # Fraction x number x time, summed over the types by hand: 11,003 s of the whole machine.
    assert (jobs.procs * jobs.run_s).sum() / 1024 == pytest.approx(11_003, abs=1)


@pytest.mark.parametrize("name", ["lublin", "poisson"])
@pytest.mark.parametrize(("asked", "jobs"), [(0.7, 5), (0.7, 3000), (1e5, 400), (0.01, 40)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_load_that_is_missed_is_said_with_what_was_reached(name, asked, jobs, seed):
    trace = generate(name, seed=seed, jobs=jobs, nodes=64, load=asked)
    reached = describe_trace(trace)["offered_load"]
    if reached is None:
        assert "all its jobs are submitted in one second" in trace.remarks[0]
    elif abs(reached / asked - 1) > 0.1:
        assert f"a load of {asked:g} was asked for, and the log has {reached:.3g}" in (
            trace.remarks[0])
    else:
        assert trace.remarks == ()


def test_few_jobs_miss_a_load_and_many_reach_it():
    assert generate("lublin", seed=0, jobs=5, nodes=256, load=1.0).remarks
    assert not generate("lublin", seed=0, jobs=1000, nodes=256, load=1.0).remarks
    assert not generate("poisson", seed=0, jobs=5).remarks  # none was asked for


def test_a_load_that_is_asked_for_goes_before_that_of_a_mix(tmp_path):
    mix = tmp_path / "mix.toml"
    kind = '[[type]]\nname = "a"\nprocs = 2\nrun_s = 600\nrun = "constant"\n'
    for said in ("load = 0.2", "rate_per_hour = 1"):
        mix.write_text(f"{said}\n{kind}")
        trace = generate("poisson", seed=1, jobs=4000, nodes=16, types=mix, load=0.6)
        assert describe_trace(trace)["offered_load"] == pytest.approx(0.6, rel=0.05)
    mix.write_text(f"load = 0.2\nrate_per_hour = 1\n{kind}")
    with pytest.raises(InputError, match="rate_per_hour and load both"):
        generate("poisson", types=mix)
    with pytest.raises(InputError, match="rate_per_hour and load both"):
        generate("poisson", load=0.5, rate_per_hour=3.0)


def test_the_command_says_that_a_load_is_missed(tmp_path):
    asked = ["trace", "generate", "lublin", "--load", "1", "--jobs", "5", "-o",
             str(tmp_path / "log.swf")]
    assert "a load of 1 was asked for" in CliRunner().invoke(cli, asked).stderr
    told = json.loads(CliRunner().invoke(cli, [*asked, "--json"]).stdout)
    assert "a load of 1 was asked for" in told["remarks"][0]
