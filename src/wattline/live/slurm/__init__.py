"""Slurm beside us: what it says, and what it can be told, by its own commands."""
