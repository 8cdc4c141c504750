"""A real Slurm with emulated power on one machine: for trying everything out, and for tests."""
