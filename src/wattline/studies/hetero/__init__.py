"""Energy claims on a cluster of x86 and ARM nodes, beside the published figures."""
