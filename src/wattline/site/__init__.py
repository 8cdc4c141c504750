"""What a site already has in files: Slurm's configuration and accounts, chassis, lists of parents.

Each reader takes a path and returns frozen objects with the names as the site writes them. What
nobody here knows is kept beside the rest; what had to be left out stands in `remarks`. A mistake is
one line with the file and the line.
"""
