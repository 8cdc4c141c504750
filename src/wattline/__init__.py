"""Wattline plans, runs and accounts for an HPC cluster under a power limit."""
