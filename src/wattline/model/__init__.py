"""What things are."""

PLUGINS = "wattline.policies"
"""Entry points of this group name policies of other packages."""
