"""The figures that were published, to print beside ours."""

from __future__ import annotations

RANDOM_SMALL_FIRST = {"strictly_better": 0.59, "strictly_worse": 0.03, "mean_reduction": 0.16,
                      "max_reduction": 0.71}
"""Level-Spread against the seven baselines over 1,000 random workloads, small jobs first."""

JOKANOVIC_SMALL_FIRST = {"strictly_better": 0.64, "strictly_worse": 0.0}
"""Level-Spread against the adapted policy of Jokanovic et al., the same workloads."""

SINGLE_PATTERN_WORSE = {"all-to-all": 0.01, "halo3d": 0.01, "halo3d26": 0.03, "halo2d": 0.04,
                        "broadcast": 0.08}
"""Cases in which a baseline is strictly better when all jobs have one pattern."""

SIXTEEN_NODES = (0.15, 0.89)
"""Reductions of grouping placements against spreading ones, 16-node jobs, all bandwidths."""

SIXTY_FOUR_NODES = (0.22, 0.54)
"""Reductions of Level-Spread against simple, 64-node jobs, equal bandwidths."""

LARGEST_MACHINE = (0.32, 0.64)
"""Reductions for 16-node jobs of the mixed workload on 1,056 nodes, by pattern."""

CONGESTOR = {"random": 0.30, "low-stall-router": 0.29, "fewer-router": 0.07}
"""How much better low-traffic-router was than each of these for miniMD."""

CONGESTOR_STRETCH = 5.0
"""Execution time of miniMD placed at random beside the congestor, against none."""

FIGURES = {
    "random": RANDOM_SMALL_FIRST,
    "jokanovic": JOKANOVIC_SMALL_FIRST,
    "strictly_worse_by_pattern": SINGLE_PATTERN_WORSE,
    "sixteen_nodes": SIXTEEN_NODES,
    "sixty_four_nodes": SIXTY_FOUR_NODES,
    "congestor_minimd_better": CONGESTOR,
    "congestor_stretch": CONGESTOR_STRETCH,
}
"""All of them, as `--json` prints them."""

LARGEST_NODES = 1056
"""Nodes of the largest simulated machine."""
