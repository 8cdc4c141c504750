"""Thousands of futures: a scenario over axes of values, on this machine, a cluster or Dask."""
