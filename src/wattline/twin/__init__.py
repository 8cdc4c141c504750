"""A site's own Slurm as a scenario, and how close it comes to what that Slurm did."""
