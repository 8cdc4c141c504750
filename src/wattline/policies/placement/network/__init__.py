"""Choosing nodes by where they stand in the network: pure kernels over arrays.

Each takes the map of the network, which nodes are free, how many are wanted, and room to work
in; it leaves the nodes in `room.chosen`, in the order in which tasks fill them. Each is linear in
the nodes or better, and asks nothing of the caller but that enough nodes are free. Map and room are
anything with the arrays of `Layout` and `Room`, such as one `Fabric`.
"""
