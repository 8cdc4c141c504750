"""Processor time, which other work on the machine leaves as it is."""

from __future__ import annotations

import subprocess
import sys
import time

from wattline.benchmarks._measuring import cpu_seconds


def test_waiting_costs_no_processor_time_and_work_in_another_process_does() -> None:
    assert cpu_seconds(lambda: time.sleep(0.2)) < 0.15
    busy = "import time\nwhile time.process_time() < 0.3: pass"
    used_s = cpu_seconds(lambda: subprocess.run([sys.executable, "-c", busy], check=True))
    assert 0.25 < used_s < 5.0
