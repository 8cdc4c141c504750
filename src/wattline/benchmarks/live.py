"""Load of running beside a machine: 10,000 agents at 1 Hz, broker, fleet, and one agent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def measure(progress: Callable[[float], None]) -> dict[str, Any]:
    """Processor time per process, memory and latency, beside what is asked of them."""
    from wattline.benchmarks._live_agents import measure_agents

    return {"agents": measure_agents(progress)}
