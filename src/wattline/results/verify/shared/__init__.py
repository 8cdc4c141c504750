"""Rules for runs on shared nodes, where jobs start as Slurm has it."""
