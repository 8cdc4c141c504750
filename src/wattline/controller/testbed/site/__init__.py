"""The machine of a site's own slurm.conf, run by a real Slurm on one machine."""
