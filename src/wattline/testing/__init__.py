"""Tests to run against one's own policies; see `policy_contract`."""

from wattline.testing.policy_contract import PolicyContract

__all__ = ["PolicyContract"]
