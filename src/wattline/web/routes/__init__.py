"""The addresses under /api, a module per subject."""
