"""Logs are read and laid out for workers without pandas, which takes longer to import than both."""

import subprocess
import sys

import pytest

READ = """
import sys
from pathlib import Path
import wattline as wl
from wattline.sweeps.shelf import map_trace, write_trace

trace = wl.read(sys.argv[1])
write_trace(trace, Path(sys.argv[2]))
assert map_trace(Path(sys.argv[2])).jobs.run_s.tolist() == trace.jobs.run_s.tolist()
print(len(trace), "pandas" in sys.modules)
"""


@pytest.mark.parametrize("name", ["log.csv", "log.swf"])
def test_reading_and_laying_out_a_log_imports_no_pandas(tmp_path, name):
    import wattline as wl

    trace = wl.generate("lublin", seed=1, jobs=20, nodes=32)
    wl.write(trace, tmp_path / name)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", READ, str(tmp_path / name),
         str(tmp_path / "log.arrow")], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["20", "False"]
