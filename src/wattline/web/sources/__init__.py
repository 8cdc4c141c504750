"""Where the pages' figures come from: a simulated machine, a run folder, a live machine."""
