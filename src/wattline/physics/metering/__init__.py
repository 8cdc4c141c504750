"""From what meters say to joules: sampled watts, energy counters, and what is missing of them."""
