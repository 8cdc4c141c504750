"""Beside a running machine: what is measured and, later, steered there."""
