"""Finished runs: their verification."""
