"""Everything after a run: metrics, the run folder, the checker, series, plots and the report."""
