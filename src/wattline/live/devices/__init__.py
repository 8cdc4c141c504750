"""How devices are spoken to, for whoever reads or sets them."""
