"""Machines whose nodes are shared by jobs (cores, memory, GPUs), scheduled in Slurm's way."""
