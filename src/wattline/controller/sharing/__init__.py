"""Machines whose nodes several jobs share: what each job draws of a node, and who may start."""
