"""Power-aware scheduling with overprovisioning: the published evaluation of RMAP."""
