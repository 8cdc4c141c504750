"""Rules of jobs that wait: who stands first, whose reservation holds, who could have started."""
