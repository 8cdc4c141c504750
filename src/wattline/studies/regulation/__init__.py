"""The evaluation of demand response, beside its published tables."""
