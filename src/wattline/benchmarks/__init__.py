"""Benchmarks: each module measures one part with `measure(progress) -> dict`."""
