"""Load of the dashboard: 200 viewers at 1 Hz, first answers, a warm what-if, size of the pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def measure(progress: Callable[[float], None]) -> dict[str, Any]:
    """Beats missed and processor time of the server, times of answers, bytes of JavaScript."""
    from wattline.benchmarks._web_load import first_answers, javascript, viewers, whatif

    found: dict[str, Any] = {"viewers": viewers()}
    progress(0.5)
    found["first_answers_5000_nodes"] = first_answers()
    progress(0.7)
    found["whatif"] = whatif()
    progress(0.95)
    return found | {"javascript": javascript()}
