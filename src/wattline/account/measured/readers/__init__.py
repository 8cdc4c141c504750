"""Readers of power series, one file each: from what a site has to what the ledger takes."""
