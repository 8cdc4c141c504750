"""Joules of jobs on the live machine: what nodes read and mark, entered into the ledger."""
