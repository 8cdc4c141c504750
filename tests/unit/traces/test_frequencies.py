"""Frequencies that logged jobs allowed."""

import numpy as np
import pytest

from wattline.engine.simulate import knowing
from wattline.model.errors import InputError
from wattline.scenario.build import plan
from wattline.scenario.model import Scenario
from wattline.traces import generate, read, write
from wattline.traces.frequencies import HIGHEST_HZ, LOWEST_HZ, _option, frequencies

LOG = """JobID|Submit|Start|End|State|NNodes|Timelimit|SubmitLine|ReqCPUFreqMin|ReqCPUFreqMax
1|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T01:00:00|COMPLETED|1|02:00:00|sbatch --cpu-freq=1200000-2400000:ondemand a.sh|Unknown|Unknown
2|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T01:00:00|COMPLETED|1|02:00:00|sbatch b.sh|1.40G|2200000
3|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T01:00:00|COMPLETED|1|02:00:00|sbatch --cpu-freq=warp c.sh|0|Unknown
"""  # noqa: E501


def test_a_log_of_sacct(tmp_path):
    path = tmp_path / "log.txt"
    path.write_text(LOG)
    trace = read(path)
    np.testing.assert_array_equal(trace.logged["frequency_hz_min"], [1.2e9, 1.4e9, np.nan])
    np.testing.assert_array_equal(trace.logged["frequency_hz_max"], [2.4e9, 2.2e9, np.nan])


def test_a_frequency_that_cannot_be_understood_is_counted_and_refused_when_strict(tmp_path):
    path = tmp_path / "log.txt"
    path.write_text(LOG.replace("NNodes", "ReqNodes"))
    (rule,) = read(path).cleaning.touched
    assert (rule.name, rule.jobs, rule.first_line) == ("unclear_frequency", 1, 4)
    with pytest.raises(InputError, match=r"log.txt:4: unclear_frequency: A --cpu-freq that"):
        read(path, strict=True)


def test_nothing_said():
    assert frequencies({}, 3) == {}
    assert frequencies({"SubmitLine": ["sbatch x", None]}, 2) == {}


TABLE = """submit_s,run_s,requested_s,procs,cpu_freq
0,60,90,1,1200000-2400000:ondemand
1,60,90,1,2400000
2,60,90,1,High
3,60,90,1,
4,60,90,1,powersave
5,60,90,1,warp
"""
LOW = [1.2e9, 2.4e9, HIGHEST_HZ, np.nan, LOWEST_HZ, np.nan]
HIGH = [2.4e9, 2.4e9, HIGHEST_HZ, np.nan, LOWEST_HZ, np.nan]


def test_a_column_of_a_table_holds_what_sbatch_takes(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text(TABLE)
    trace = read(path)
    np.testing.assert_array_equal(trace.logged["frequency_hz_min"], LOW)
    np.testing.assert_array_equal(trace.logged["frequency_hz_max"], HIGH)
    (rule,) = [rule for rule in trace.cleaning.rules if rule.jobs]
    assert (rule.name, rule.first_line) == ("unclear_frequency", 7)
    path.write_text("submit_s,run_s,requested_s,procs,cpu_freq\n0,60,90,1,2400000\n")
    assert read(path).logged["frequency_hz_max"].tolist() == [2.4e9]


@pytest.mark.parametrize("suffix", ["csv", "swf", "parquet"])
def test_frequencies_are_written_and_read_back(tmp_path, suffix):
    path = tmp_path / "jobs.csv"
    path.write_text(TABLE)
    write(read(path), tmp_path / f"again.{suffix}")
    again = read(tmp_path / f"again.{suffix}")
    np.testing.assert_array_equal(again.logged["frequency_hz_min"], LOW)
    np.testing.assert_array_equal(again.logged["frequency_hz_max"], HIGH)


def test_job_types_of_a_mix_name_frequencies(tmp_path):
    path = tmp_path / "mix.toml"
    path.write_text('[[type]]\nname = "a"\nprocs = 1\nrun_s = 60\ncpu_freq = "1200000-1800000"\n'
                    '[[type]]\nname = "b"\nprocs = 1\nrun_s = 60\n')
    trace = generate("poisson", seed=1, jobs=50, nodes=8, types=path)
    of_a = trace.jobs.application == 0
    assert 0 < of_a.sum() < 50
    np.testing.assert_array_equal(trace.logged["frequency_hz_max"], np.where(of_a, 1.8e9, np.nan))
    path.write_text(path.read_text().replace("1200000-1800000", "fast"))
    with pytest.raises(InputError, match="job type 'a': --cpu-freq=fast: 'fast' is no frequency"):
        generate("poisson", seed=1, jobs=50, nodes=8, types=path)


def test_words_of_a_log_mean_the_cores_of_the_scenario(tmp_path):
    """`high` is the highest that these cores have, whatever the log's cores had."""
    path = tmp_path / "jobs.csv"
    path.write_text(TABLE)
    scenario = Scenario.model_validate({
        "trace": {"file": str(path)}, "machine": {"nodes": 4},
        "policy": {"power": {"name": "adaptive", "frequency_ghz": [1.0, 2.0, 3.0, 4.0],
                             "core_w": [2.0, 3.0, 4.0, 5.0]}}})
    made = plan(scenario)
    memory = knowing(made.policy, made.jobs, made.rules.logged).admission.memory
    assert memory.low.tolist() == [1, 1, 3, 0, 0, 0]
    assert memory.high.tolist() == [1, 1, 3, 3, 0, 3]


@pytest.mark.parametrize(("line", "given"), [
    ("sbatch a.sh --cpu-freq=low", None),
    ("sbatch -N 4 a.sh --cpu-freq=low", None),
    ("sbatch -N4 --hold a.sh --cpu-freq low", None),
    ("sbatch --wrap='run --cpu-freq=low'", None),
    ("sbatch --cpu-freq=high a.sh --cpu-freq=low", "high"),
    ("/usr/bin/sbatch -N 4 -W -p long --cpu-freq 1200000 a.sh", "1200000"),
    ("srun -vl -n 8 --exclusive --mem=4G --cpu-freq=low ./a", "low"),
    ("srun --wait 5 --cpu-freq=low ./a", "low"),
    ("--cpu-freq=low --cpu-freq=high", "high"),
    ("sbatch --comment='it is' --cpu-freq=low 'a b.sh'", "low"),
])
def test_what_follows_the_script_is_the_scripts(line, given):
    assert _option(line) == given
