"""Load of running beside a machine: a cycle with 7,000 jobs, 10,000 agents at 1 Hz, one agent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def measure(progress: Callable[[float], None]) -> dict[str, Any]:
    """Processor time per process, memory and latency, beside what is asked of them."""
    from wattline.benchmarks._live_agents import measure_agents
    from wattline.benchmarks._live_cycle import measure_cycle

    cycle = measure_cycle(lambda part: progress(0.3 * part))
    return {"cycle": cycle, "agents": measure_agents(lambda part: progress(0.3 + 0.7 * part))}
