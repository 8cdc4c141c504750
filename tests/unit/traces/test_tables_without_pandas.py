"""Logs are read and laid out for workers without pandas, which takes longer to import than both."""

import subprocess
import sys

READ = """
import sys
from pathlib import Path
import wattline as wl
from wattline.sweeps.shelf import map_trace, write_trace

for log in sys.argv[2:]:
    trace = wl.read(log)
    write_trace(trace, Path(sys.argv[1]))
    assert map_trace(Path(sys.argv[1])).jobs.run_s.tolist() == trace.jobs.run_s.tolist()
    print(len(trace), "pandas" in sys.modules)
"""


def test_reading_and_laying_out_a_log_imports_no_pandas(tmp_path):
    import wattline as wl

    trace = wl.generate("lublin", seed=1, jobs=20, nodes=32)
    logs = [str(tmp_path / name) for name in ("log.csv", "log.swf")]
    for log in logs:
        wl.write(trace, log)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", READ, str(tmp_path / "log.arrow"), *logs],
        capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["20", "False", "20", "False"]
