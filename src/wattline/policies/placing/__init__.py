"""Choosing nodes by where they stand in the network: pure kernels over arrays.

Each takes the map of the network, which nodes are free and how many are wanted, and returns the
nodes in the order in which tasks fill them; each is linear in the nodes or better. They ask
nothing of the caller but that enough nodes are free.
"""
