"""Frequencies that logged jobs allowed."""

import numpy as np
import pytest

from wattline.model.errors import InputError
from wattline.traces import read
from wattline.traces.frequencies import frequencies

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
