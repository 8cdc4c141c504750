"""Placement on dragonflies: the published evaluation of Level-Spread and NeDD, beside ours."""
