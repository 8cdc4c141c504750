"""Management controllers of emulated nodes: real protocols in front of a node's files."""
